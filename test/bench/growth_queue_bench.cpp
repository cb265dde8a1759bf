// SPDX-License-Identifier: BSL-1.0
//
// What a callback costs while so many others are queued: by call_soon(), cancelled again, posted
// from outside of the loop, tied to a Scope.
#include <reactor/event_loop.hpp>
#include <reactor/scope.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <test/bench/growth.hpp>

namespace {

using bench::Measurement;
using reactor::Duration;

constexpr std::size_t few = 1000;  // operations on top of those that are there

/// All of them, queued and run.
std::uint64_t call_soon(std::size_t size, std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    std::uint64_t ran = 0;
    const auto round = [&] {
        for (std::size_t i = 0; i < size; ++i) loop.call_soon([&ran] { ++ran; });
        loop.run_once(Duration::zero());
    };
    round();
    std::uint64_t done = 0;
    measured([&] { done = bench::in_rounds(operations, size, round); });
    return done;
}

/// Calls `one()` with so many callbacks in front of what it queues.
template <class One>
std::uint64_t behind(reactor::EventLoop& loop, std::size_t size, std::uint64_t operations,
                     Measurement& measured, One one) {
    std::uint64_t ran = 0;
    const auto round = [&](bool counts) {
        for (std::size_t i = 0; i < size; ++i) loop.call_soon([&ran] { ++ran; });
        const auto some = [&] { bench::in_rounds(few, 1, one); };
        if (counts) {
            measured(some);
        } else {
            some();
        }
        loop.run_once(Duration::zero());
    };
    round(false);
    return bench::in_rounds(operations, few, [&round] { round(true); });
}

std::uint64_t cancel(std::size_t size, std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    std::uint64_t ran = 0;
    return behind(loop, size, operations, measured,
                  [&] { loop.call_soon([&ran] { ++ran; }).cancel(); });
}

/// Of a scope that has all of them; the cancelled one takes itself out.
std::uint64_t scoped(std::size_t size, std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    reactor::Scope scope(loop);
    std::vector<reactor::Handle> others;
    for (std::size_t i = 0; i < size; ++i)
        others.push_back(scope.call_later(std::chrono::hours(1), [] {}));
    std::uint64_t done = 0;
    measured([&] {
        done = bench::in_rounds(operations, few, [&] {
            for (std::size_t i = 0; i < few; ++i) scope.call_soon([] {}).cancel();
            loop.run_once(Duration::zero());
        });
    });
    return done;
}

/// Posted and run, all of them.
std::uint64_t post(std::size_t size, std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    std::uint64_t ran = 0;
    const auto round = [&] {
        // The loop does not run: it is as on another thread.
        for (std::size_t i = 0; i < size; ++i) loop.call_soon_threadsafe([&ran] { ++ran; });
        loop.run_once(Duration::zero());
    };
    round();
    round();  // there are two buffers
    std::uint64_t done = 0;
    measured([&] { done = bench::in_rounds(operations, size, round); });
    return done;
}

/// On top of those that are pending.
std::uint64_t post_on_top(std::size_t size, std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    std::uint64_t ran = 0;
    const auto posts = [&](std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) loop.call_soon_threadsafe([&ran] { ++ran; });
    };
    for (int buffer = 0; buffer < 2; ++buffer) {
        posts(size + few);
        loop.run_once(Duration::zero());
    }
    return bench::in_rounds(operations, few, [&] {
        posts(size);
        measured([&] { posts(few); });
        loop.run_once(Duration::zero());
    });
}

}  // namespace

int main(int argc, char** argv) {
    constexpr std::size_t million = 1000000;
    return bench::run(
        std::vector<bench::Growth>{
            {"call_soon", "flat", million, 5000000, 100000, call_soon},
            {"call_soon-cancel", "flat", million, 20000, 2000, cancel},
            {"scope", "flat", million, 2000000, 100000, scoped},
            {"post", "flat", million, 2000000, 100000, post},
            {"post-on-top", "flat", million, 20000, 2000, post_on_top},
        },
        argc, argv);
}
