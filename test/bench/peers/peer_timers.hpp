// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_PEERS_PEER_TIMERS_HPP
#define REACTOR_TEST_BENCH_PEERS_PEER_TIMERS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include <test/bench/peers/peer_program.hpp>
#include <test/bench/peers/stepped_time.hpp>
#include <test/bench/timer_workloads.hpp>

/// The workloads of timers for other libraries. Where the caller owns the memory of a timer it is
/// made once, before anything is measured, as a program does that arms its timers again and again.
namespace bench {

/// What all that is measured has: the deadlines and a count. `Loop::turn()` runs the library's loop
/// once without waiting.
template <class Loop>
class PeerTimers {
public:
    explicit PeerTimers(std::size_t count) : deadlines(random_deadlines(count)) {
        stepped_now() = start;
    }
    PeerTimers(const PeerTimers&) = delete;
    PeerTimers& operator=(const PeerTimers&) = delete;

    void forget() {}
    void run(std::int64_t length) {
        for (std::int64_t passed = 0; passed < length; passed += step) {
            stepped_now() += step;
            static_cast<Loop*>(this)->turn();
        }
    }

    std::vector<std::int64_t> deadlines;
    std::uint64_t fired = 0;
};

/// `Timers` and `Periodic` are what the workloads ask for.
template <class Timers, class Periodic>
std::vector<PeerWorkload> timer_workloads(const char* implementation) {
    const char* const me = implementation;
    return {
        {"timer-add-100k", me, 3000000, many, add<Timers, many>, few},
        {"timer-add-1M", me, 2000000, 0, add<Timers, million>, few},
        {"timer-cancel-100k", me, 3000000, many, cancel<Timers, many>, few},
        {"timer-cancel-1M", me, 2000000, 0, cancel<Timers, million>, few},
        {"timer-push-back-100k", me, 5000000, many, push_back<Timers, many>, few},
        {"timer-push-back-1M", me, 5000000, 0, push_back<Timers, million>, few},
        {"timer-fire-100k", me, 1000000, many, fire<Timers, many>, few},
        {"timer-fire-1M", me, 1000000, 0, fire<Timers, million>, few},
        {"timer-rearm-100k", me, 1000000, many, rearm<Timers, Periodic, many>, few},
        {"timer-rearm-1M", me, 1000000, 0, rearm<Timers, Periodic, million>, few},
    };
}

}  // namespace bench

#endif
