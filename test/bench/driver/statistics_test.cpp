// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/statistics.hpp>

#include <cmath>

#include <boost/test/unit_test.hpp>

using bench::median;
using bench::ratio;
using bench::Sample;

BOOST_AUTO_TEST_CASE(median_is_the_middle_one_whatever_the_order) {
    BOOST_TEST(median(std::vector<double>{9, 1, 4}) == 4);
    BOOST_TEST(median(std::vector<double>{7}) == 7);
}

BOOST_AUTO_TEST_CASE(median_of_an_even_number_is_the_mean_of_the_two_in_the_middle) {
    BOOST_TEST(median(std::vector<double>{8, 1, 3, 4}) == 3.5);
}

BOOST_AUTO_TEST_CASE(median_of_nothing_is_no_number) {
    BOOST_TEST(std::isnan(median(std::vector<double>())));
    BOOST_TEST(std::isnan(median(std::vector<Sample>())));
}

BOOST_AUTO_TEST_CASE(ratio_compares_within_a_round) {
    // The second round was slow for both: neither the ratio of the medians (2) nor of the sums.
    const std::vector<Sample> ours = {{1, 30}, {2, 300}, {3, 20}};
    const std::vector<Sample> theirs = {{1, 10}, {2, 100}, {3, 10}};
    BOOST_TEST(ratio(ours, theirs) == 3);
}

BOOST_AUTO_TEST_CASE(ratio_leaves_out_rounds_that_only_one_has_run_in) {
    BOOST_TEST(ratio({{1, 50}, {3, 8}, {4, 50}}, {{2, 1}, {3, 4}}) == 2);
    BOOST_TEST(std::isnan(ratio({{1, 1}}, {{2, 1}})));
}

BOOST_AUTO_TEST_CASE(ratio_to_nothing_is_no_number) {
    BOOST_TEST(std::isnan(ratio({{1, 1}}, {{1, 0}})));
    BOOST_TEST(std::isnan(ratio({}, {})));
}
