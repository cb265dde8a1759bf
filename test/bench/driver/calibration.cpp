// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/calibration.hpp>

#include <algorithm>

namespace bench {

namespace {

constexpr std::uint64_t first_part = 50;  // of the most operations: a peer may be that much slower
constexpr int tries = 5;
constexpr double aim = 0.8;         // of the time there is: the next run may be slower
constexpr double enough = 0.5;      // a run that long tells as much
constexpr double most_growth = 30;  // from one try to the next: a short run tells little

unsigned affordable(double budget, double each) {
    return each <= 0 ? 1 : static_cast<unsigned>(std::min(budget / each, 1e6));
}

}  // namespace

Plan calibrate(std::uint64_t most, double seconds, unsigned rounds,
               const std::function<double(std::uint64_t)>& run) {
    std::uint64_t operations = std::max<std::uint64_t>(1, most / first_part);
    double took = run(operations);
    for (int i = 1; i < tries; ++i) {
        if (took <= seconds && (took >= enough * seconds || operations == most)) break;
        const double factor = took <= 0 ? most_growth : std::min(aim * seconds / took, most_growth);
        const double wanted = std::max(1.0, static_cast<double>(operations) * factor);
        const std::uint64_t next =
            wanted < static_cast<double>(most) ? static_cast<std::uint64_t>(wanted) : most;
        if (next == operations) break;
        const bool less = next < operations;
        const double before = took;
        operations = next;
        took = run(operations);
        // It cannot do less.
        if (less && took > aim * before) break;
    }
    const double all = 2 * seconds * rounds;
    return {operations, took, std::max(1u, std::min(rounds, affordable(all, took)))};
}

}  // namespace bench
