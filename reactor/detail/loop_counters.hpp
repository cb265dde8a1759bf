// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_LOOP_COUNTERS_HPP
#define REACTOR_DETAIL_LOOP_COUNTERS_HPP

#include <reactor/clock.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace reactor {
namespace detail {

/// Bucket i counts what took at most 2^i microseconds and is in no bucket before it; the last one,
/// of more than eighteen minutes, everything else.
using LagBuckets = std::array<std::uint64_t, 32>;

/// What a loop counts. The first part always, once an iteration; the second part while timing is
/// on, by the observer of reactor/stats.cpp. Outlives close().
struct LoopCounters {
    std::uint64_t iterations = 0;
    std::uint64_t taken = 0;        // from the ready queue
    std::uint64_t passed_over = 0;  // of these: cancelled, or timers that were moved
    std::uint64_t posts = 0;
    std::size_t longest_batch = 0;

    bool timed = false;
    Duration polling{0};
    Duration running{0};
    Duration longest{0};                 // of one callback
    const char* longest_name = nullptr;  // its label, or its type as the compiler prints it
    LagBuckets lag{};
};

}  // namespace detail
}  // namespace reactor

#endif
