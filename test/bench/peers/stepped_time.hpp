// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_PEERS_STEPPED_TIME_HPP
#define REACTOR_TEST_BENCH_PEERS_STEPPED_TIME_HPP

#include <cstdint>

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <test/bench/timer_workloads.hpp>

/// The benchmark's own time in place of the monotonic clock, for libraries that read it by
/// themselves: clock_gettime() of this program is the one that their shared libraries find, too. It
/// goes in steps, so that every run, and every library, does the same. To be included by the one
/// source of a program.
namespace bench {

/// In nanoseconds.
inline std::int64_t& stepped_now() {
    static std::int64_t now = start;
    return now;
}

}  // namespace bench

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
    if (clock != CLOCK_MONOTONIC && clock != CLOCK_MONOTONIC_COARSE) {
        return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
    }
    time->tv_sec = bench::stepped_now() / 1000000000;
    time->tv_nsec = bench::stepped_now() % 1000000000;
    return 0;
}

#endif
