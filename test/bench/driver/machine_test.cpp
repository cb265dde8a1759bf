// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/machine.hpp>

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_CASE(the_processor_is_what_cpuinfo_calls_it) {
    BOOST_TEST(
        bench::parse_processor("processor\t: 0\nmodel\t\t: 85\nmodel name\t: A CPU @ 2 GHz\n") ==
        "A CPU @ 2 GHz");
    BOOST_TEST(bench::parse_processor("CPU part\t: 0xd0c\n") == "unknown processor");
    BOOST_TEST(bench::parse_processor("model name\t:\n") == "unknown processor");
}

BOOST_AUTO_TEST_CASE(the_machine_is_one_line) {
    BOOST_TEST(bench::machine().find('\n') == std::string::npos);
    BOOST_TEST(bench::machine().find("CPUs") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_time_stamp_begins_with_a_date) {
    BOOST_TEST(bench::today().size() == 10u);
    BOOST_TEST(bench::time_stamp().size() == 17u);
}
