// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_TIMER_WORKLOADS_HPP
#define REACTOR_TEST_BENCH_TIMER_WORKLOADS_HPP

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <test/bench/measure.hpp>

namespace bench {

constexpr std::int64_t start = 1000000000;  // of the clock, in nanoseconds
constexpr std::int64_t spread = 100000000;  // the deadlines' range
constexpr std::int64_t step = 100000;

inline std::vector<std::int64_t> random_deadlines(std::size_t count) {
    std::mt19937_64 random(count);  // the same ones in every run
    std::uniform_int_distribution<std::int64_t> range(0, spread - 1);
    std::vector<std::int64_t> deadlines(count);
    for (std::int64_t& deadline : deadlines) deadline = start + range(random);
    return deadlines;
}

inline std::uint64_t rounds_for(std::uint64_t operations, std::size_t count) {
    return (operations + count - 1) / count;
}

/// What is measured of any implementation's `Timers`. That is constructed for a number of timers
/// and has `deadlines` for them, in nanoseconds of its clock, and `fired`, which counts; add() arms
/// them all, cancel() cancels them all, push_back(by) moves each to its deadline and so much more,
/// forget() is called when all that were added are left to fire, and run(length) goes through so
/// much of the clock's time in steps, with a turn of the loop in each.
template <class Timers, std::size_t count>
std::uint64_t add(std::uint64_t operations, Measurement& measured) {
    Timers timers(count);
    const std::uint64_t rounds = rounds_for(operations, count);
    for (std::uint64_t i = 0; i < rounds; ++i) {
        measured([&] { timers.add(); });
        timers.cancel();
    }
    return rounds * count;
}

template <class Timers, std::size_t count>
std::uint64_t cancel(std::uint64_t operations, Measurement& measured) {
    Timers timers(count);
    const std::uint64_t rounds = rounds_for(operations, count);
    for (std::uint64_t i = 0; i < rounds; ++i) {
        timers.add();
        measured([&] { timers.cancel(); });
    }
    return rounds * count;
}

template <class Timers, std::size_t count>
std::uint64_t push_back(std::uint64_t operations, Measurement& measured) {
    Timers timers(count);
    timers.add();
    const std::uint64_t rounds = rounds_for(operations, count);
    measured([&] {
        for (std::uint64_t i = 1; i <= rounds; ++i) {
            timers.push_back(spread * static_cast<std::int64_t>(i));
        }
    });
    timers.cancel();
    return rounds * count;
}

template <class Timers, std::size_t count>
std::uint64_t fire(std::uint64_t operations, Measurement& measured) {
    Timers timers(count);
    const std::uint64_t rounds = rounds_for(operations, count);
    for (std::uint64_t i = 0; i < rounds; ++i) {
        timers.add();
        timers.forget();
        measured([&] { timers.run(spread); });
        for (std::int64_t& deadline : timers.deadlines) deadline += spread;
    }
    return timers.fired;
}

/// A `Timer` is constructed with its `Timers` and a deadline; arm() arms it, and then it arms
/// itself for `spread` later whenever it fires.
template <class Timers, class Timer, std::size_t count>
std::uint64_t rearm(std::uint64_t operations, Measurement& measured) {
    std::vector<Timer> periodic;  // outlives the loop that has them
    periodic.reserve(count);
    Timers timers(count);
    for (const std::int64_t deadline : timers.deadlines) {
        periodic.push_back(Timer{&timers, deadline});
        periodic.back().arm();
    }
    const std::uint64_t rounds = rounds_for(operations, count);
    measured([&] { timers.run(spread * static_cast<std::int64_t>(rounds)); });
    return timers.fired;
}

constexpr std::size_t many = 100000;
constexpr std::size_t million = 1000000;

}  // namespace bench

#endif
