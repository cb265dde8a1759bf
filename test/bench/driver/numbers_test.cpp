// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/numbers.hpp>
#include <test/bench/driver/statistics.hpp>

#include <boost/test/unit_test.hpp>

using namespace bench;

BOOST_AUTO_TEST_CASE(short_numbers_have_three_digits_that_count) {
    BOOST_TEST(short_number(2.154) == "2.15");
    BOOST_TEST(short_number(9.999) == "10.0");
    BOOST_TEST(short_number(21.54) == "21.5");
    BOOST_TEST(short_number(99.97) == "100");
    BOOST_TEST(short_number(2154.4) == "2154");
    BOOST_TEST(short_number(no_number) == "-");
}

BOOST_AUTO_TEST_CASE(durations_have_the_unit_that_fits) {
    BOOST_TEST(duration(3.2) == "3.20 ns");
    BOOST_TEST(duration(999.4) == "999 ns");
    BOOST_TEST(duration(999.6) == "1.00 µs");
    BOOST_TEST(duration(12500) == "12.5 µs");
    BOOST_TEST(duration(2.5e6) == "2.50 ms");
    BOOST_TEST(duration(2.5e9) == "2.50 s");
    BOOST_TEST(duration(no_number) == "-");
}

BOOST_AUTO_TEST_CASE(sizes_are_powers_of_ten_where_they_are) {
    BOOST_TEST(size(100) == "10²");
    BOOST_TEST(size(1000000) == "10⁶");
    BOOST_TEST(size(10) == "10");
    BOOST_TEST(size(64) == "64");
    BOOST_TEST(size(5000) == "5000");
    BOOST_TEST(size(0) == "0");
}

BOOST_AUTO_TEST_CASE(figures_names_are_words) { BOOST_TEST(words("peak_kib") == "peak kib"); }
