// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/counts.hpp>

#include <stdexcept>

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_CASE(callgrind_writes_totals_below_much_else) {
    BOOST_TEST(
        bench::parse_callgrind("# callgrind format\nversion: 1\nevents: Ir\n\nfn=(1) f\n16 4\n"
                               "\ntotals: 123456\n") == 123456u);
    BOOST_CHECK_THROW(bench::parse_callgrind("events: Ir\n"), std::runtime_error);
    BOOST_CHECK_THROW(bench::parse_callgrind("totals:\n"), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(strace_sums_its_table_up_with_errors_or_without) {
    const std::string head =
        "% time     seconds  usecs/call     calls    errors syscall\n"
        "------ ----------- ----------- --------- --------- ----------------\n"
        " 60.00    0.000003           1       300         1 epoll_wait\n"
        "------ ----------- ----------- --------- --------- ----------------\n";
    BOOST_TEST(bench::parse_strace(
                   head + "100.00    0.000005           1       705         1 total\n") == 705u);
    BOOST_TEST(bench::parse_strace(
                   head + "100.00    0.000005           1       705           total\n") == 705u);
    BOOST_CHECK_THROW(bench::parse_strace(head), std::runtime_error);
    BOOST_CHECK_THROW(bench::parse_strace(""), std::runtime_error);
}
