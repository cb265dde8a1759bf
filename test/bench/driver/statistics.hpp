// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_DRIVER_STATISTICS_HPP
#define REACTOR_TEST_BENCH_DRIVER_STATISTICS_HPP

#include <cstddef>
#include <limits>
#include <vector>

namespace bench {

/// What stands for a number that there is none of.
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// What one round has measured. A slow implementation does not run in every round.
struct Sample {
    unsigned round;
    double value;
};

/// The middle one, or the mean of the two in the middle; no_number of none.
double median(std::vector<double> values);
double median(const std::vector<Sample>& samples);

/// The median of the ratios within each round that both have run in, so that what else the machine
/// did in it hits both sides; no_number if there is no such round. Both are in the rounds' order.
double ratio(const std::vector<Sample>& above, const std::vector<Sample>& below);

}  // namespace bench

#endif
