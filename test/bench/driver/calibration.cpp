// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/calibration.hpp>

#include <algorithm>

namespace bench {

namespace {

constexpr int tries = 5;
constexpr double aim = 0.8;              // of the time there is: the next run may be slower
constexpr double enough = 0.5;           // a run that long tells as much
constexpr double part_measured = 0.125;  // of the time, at least, where the start takes all of it
constexpr double most_growth = 30;       // from one try to the next: a short run tells little

/// As many as take `wanted` seconds, if so many take `took`.
std::uint64_t scaled(std::uint64_t operations, double wanted, double took, std::uint64_t most) {
    const double factor = took <= 0 ? most_growth : std::min(wanted / took, most_growth);
    const double more = std::max(1.0, static_cast<double>(operations) * factor);
    return more < static_cast<double>(most) ? static_cast<std::uint64_t>(more) : most;
}

unsigned affordable(double budget, double each) {
    return each <= 0 ? 1 : static_cast<unsigned>(std::min(budget / each, 1e6));
}

}  // namespace

Plan calibrate(std::uint64_t most, std::uint64_t first, double seconds, unsigned rounds,
               const std::function<Tried(std::uint64_t)>& run) {
    std::uint64_t operations = std::max<std::uint64_t>(1, first);
    Tried tried = run(operations);
    for (int i = 1; i < tries; ++i) {
        const double took = tried.seconds;
        if (took <= seconds && (took >= enough * seconds || operations == most)) break;
        // It cannot do less.
        if (took > seconds && tried.operations > operations) break;
        if (took - tried.measured > seconds) {
            // What takes long is the start. Fewer operations would be no faster, and tell less.
            const std::uint64_t more =
                scaled(tried.operations, part_measured * seconds, tried.measured, most);
            if (more > operations) {
                operations = more;
                tried = run(operations);
            }
            break;
        }
        const std::uint64_t next = scaled(tried.operations, aim * seconds, took, most);
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
