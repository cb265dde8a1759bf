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
               const std::function<Tried(std::uint64_t)>& run) {
    std::uint64_t operations = std::max<std::uint64_t>(1, most / first_part);
    Tried tried = run(operations);
    for (int i = 1; i < tries; ++i) {
        const double took = tried.seconds;
        if (took <= seconds && (took >= enough * seconds || operations == most)) break;
        // It cannot do less.
        if (took > seconds && tried.operations > operations) break;
        const double factor = took <= 0 ? most_growth : std::min(aim * seconds / took, most_growth);
        const double wanted = std::max(1.0, static_cast<double>(tried.operations) * factor);
        const std::uint64_t next =
            wanted < static_cast<double>(most) ? static_cast<std::uint64_t>(wanted) : most;
        if (next == operations) break;
        // What it did already, and it was not too long: one more of its steps may be.
        if (next <= tried.operations && took <= seconds) break;
        const bool less = next < operations;
        operations = next;
        tried = run(operations);
        if (less && tried.seconds > aim * took) break;
    }
    const double took = tried.seconds;
    const double all = 2 * seconds * rounds;
    return {operations, took, std::max(1u, std::min(rounds, affordable(all, took)))};
}

}  // namespace bench
