// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_DRIVER_CALIBRATION_HPP
#define REACTOR_TEST_BENCH_DRIVER_CALIBRATION_HPP

#include <cstdint>
#include <functional>

namespace bench {

/// How long a run takes, and how often a cell therefore runs.
struct Plan {
    std::uint64_t operations;
    double seconds;   // of the clock on the wall, with start-up and all
    unsigned rounds;  // of those there are
};

/// What a run did, which may be more than it was asked for, and how long it took: altogether, and
/// what is measured of it.
struct Tried {
    std::uint64_t operations;
    double seconds;
    double measured;
};

/// Finds out how many operations, at most `most`, to begin with `first` of them, take about
/// `seconds` and not more, by a few runs. What takes longer even with the fewest operations it can
/// do (a million timers are armed or they are not), or to start (ten thousand connections), runs in
/// fewer rounds: together not longer than twice what all of them may take, but at least once. `run`
/// runs so many operations; its last run is one of those that are planned.
Plan calibrate(std::uint64_t most, std::uint64_t first, double seconds, unsigned rounds,
               const std::function<Tried(std::uint64_t)>& run);

}  // namespace bench

#endif
