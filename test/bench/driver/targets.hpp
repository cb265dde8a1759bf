// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_DRIVER_TARGETS_HPP
#define REACTOR_TEST_BENCH_DRIVER_TARGETS_HPP

#include <string>
#include <vector>

#include <test/bench/driver/results.hpp>

namespace bench {

/// What ours is to reach: at most so many times what another implementation of the workload takes.
/// Or a figure of ours that is to be at most that.
struct Target {
    std::string what;
    std::string workload;
    std::string implementation;  // one of ours
    std::string measure;         // the implementation that it is compared with, or the figure
    double most;
};

/// How far it is reached; no_number where there was nothing to compare.
struct Reached {
    Target target;
    double ours;
    std::string best_peer;  // by the same measure; empty: none has this workload
    double best_peers;
};

/// Those that are aimed at.
const std::vector<Target>& targets();

/// All of `wanted` in their order.
std::vector<Reached> compare(const std::vector<Target>& wanted, const Results& results);

}  // namespace bench

#endif
