// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/cell.hpp>

#include <stdexcept>

#include <boost/test/unit_test.hpp>

using bench::Cell;
using bench::Kind;
using bench::Measured;
using bench::parse_list;
using bench::parse_measured;

namespace {

Cell cell(Kind kind) { return {"", "echo-64", "libuv", 1000, 0, kind}; }

bool names_the_line(const std::runtime_error& error) {
    return std::string(error.what()).find("echo") != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(list_is_one_cell_for_each_line) {
    const std::vector<Cell> cells = parse_list(
        "echo-64 ours 100000 3000\necho-64 ours-tasks 100000 3000\n"
        "growth-timers@1000 ours 5000 0 logarithmic\nmemory-timers ours 10 0 figures\n",
        "/bin/echo_bench");
    BOOST_TEST_REQUIRE(cells.size() == 4u);
    BOOST_TEST(cells[0].program == "/bin/echo_bench");
    BOOST_TEST(cells[0].workload == "echo-64");
    BOOST_TEST(cells[0].implementation == "ours");
    BOOST_TEST(cells[0].operations == 100000u);
    BOOST_TEST(cells[0].counted == 3000u);
    BOOST_TEST((cells[0].kind == Kind::time));
    BOOST_TEST(cells[1].ours());
    BOOST_TEST((cells[2].kind == Kind::logarithmic));
    BOOST_TEST((cells[3].kind == Kind::figures));
}

BOOST_AUTO_TEST_CASE(list_may_be_empty) { BOOST_TEST(parse_list("", "").empty()); }

BOOST_AUTO_TEST_CASE(list_with_anything_else_is_refused) {
    for (const char* const line :
         {"echo", "echo ours", "echo ours 1", "echo ours 0 0", "echo ours many 0", "echo ours -1 0",
          "echo ours 1 0 often", "echo ours 1 0 flat", "echo ours 1 0 figures more",
          "echo ours 9999999999999999999 0"}) {
        BOOST_TEST_CONTEXT(line) {
            BOOST_CHECK_EXCEPTION(parse_list(line, ""), std::runtime_error, names_the_line);
        }
    }
}

BOOST_AUTO_TEST_CASE(an_implementation_is_ours_or_a_limit_or_a_peer) {
    Cell some = cell(Kind::time);
    BOOST_TEST(some.peer());
    some.implementation = "limit-plain";
    BOOST_TEST(some.limit());
    BOOST_TEST(!some.peer());
    some.implementation = "limitless";
    BOOST_TEST(some.peer());
}

BOOST_AUTO_TEST_CASE(a_run_says_how_many_operations_it_made_and_what_one_took) {
    const Measured measured = parse_measured("echo-64 libuv 2000 123.45\n", cell(Kind::time));
    BOOST_TEST(measured.operations == 2000u);
    BOOST_TEST(measured.nanoseconds == 123.45);
}

BOOST_AUTO_TEST_CASE(a_run_of_figures_names_them) {
    const Measured measured =
        parse_measured("echo-64 libuv 1 seconds=0.5 peak_kib=12000", cell(Kind::figures));
    BOOST_TEST_REQUIRE(measured.figures.size() == 2u);
    BOOST_TEST(measured.figures[0].first == "seconds");
    BOOST_TEST(measured.figures[0].second == 0.5);
    BOOST_TEST(measured.figures[1].first == "peak_kib");
}

BOOST_AUTO_TEST_CASE(the_result_of_another_cell_or_none_is_refused) {
    for (const char* const text :
         {"", "\n", "echo-64 libev 2000 1.0", "echo-1 libuv 2000 1.0", "echo-64 libuv 0 1.0",
          "echo-64 libuv 2000 nan", "echo-64 libuv 2000 1.0x", "echo-64 libuv 2000 1.0 2.0"}) {
        BOOST_TEST_CONTEXT(text) {
            BOOST_CHECK_THROW(parse_measured(text, cell(Kind::time)), std::runtime_error);
        }
    }
    for (const char* const text : {"echo-64 libuv 1 a", "echo-64 libuv 1 =1", "echo-64 libuv 1 a=",
                                   "echo-64 libuv 1 a=b", "echo-64 libuv 1"}) {
        BOOST_TEST_CONTEXT(text) {
            BOOST_CHECK_THROW(parse_measured(text, cell(Kind::figures)), std::runtime_error);
        }
    }
}

BOOST_AUTO_TEST_CASE(versions_are_names_and_the_rest_of_the_line) {
    const bench::Versions versions = bench::parse_versions("libuv libuv 1.44.2\nasio Boost 1.74\n");
    BOOST_TEST_REQUIRE(versions.size() == 2u);
    BOOST_TEST(versions[0].first == "libuv");
    BOOST_TEST(versions[0].second == "libuv 1.44.2");
    BOOST_CHECK_THROW(bench::parse_versions("libuv"), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(growth_has_a_thing_and_a_size) {
    const bench::Size size = bench::size_of("growth-timers-add@100000");
    BOOST_TEST(size.of == "timers-add");
    BOOST_TEST(size.value == 100000u);
    for (const char* const name :
         {"growth-timers", "growth-@5", "growth-a@", "growth-a@0", "a@5"}) {
        BOOST_TEST_CONTEXT(name) { BOOST_CHECK_THROW(bench::size_of(name), std::runtime_error); }
    }
}
