// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/json_report.hpp>

#include <boost/test/unit_test.hpp>

#include <test/support/json.hpp>

using bench::json_string;
using bench::Results;
using bench::Series;
using support::Json;

BOOST_AUTO_TEST_CASE(strings_are_escaped_and_come_back) {
    for (const std::string& text :
         {std::string(""), std::string("a \"b\" \\ c"), std::string("tab\tline\nend\x01\x1f"),
          std::string("zero\0byte", 9), std::string("2.15 µs, 10⁶, 😀")}) {
        BOOST_TEST(support::parse_json(json_string(text)).text == text);
    }
    BOOST_TEST(json_string("\n") == "\"\\u000a\"");
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_utf8_are_replaced) {
    BOOST_TEST(json_string("a\xff"
                           "b") == "\"a\\ufffdb\"");
    BOOST_TEST(json_string("\xc3") == "\"\\ufffd\"");
    BOOST_TEST(json_string("\xc0\xaf") == "\"\\ufffd\\ufffd\"");             // too long
    BOOST_TEST(json_string("\xed\xa0\x80") == "\"\\ufffd\\ufffd\\ufffd\"");  // a surrogate
    BOOST_TEST(json_string("\xf0\x9f\x98") == "\"\\ufffd\\ufffd\\ufffd\"");  // cut off
}

BOOST_AUTO_TEST_CASE(everything_measured_is_in_it) {
    Series ours({"", "echo-64", "ours", 100, 0, bench::Kind::time});
    ours.operations = 50;
    ours.samples = {{1, 20}, {2, 40}};
    ours.syscalls = 3.5;
    Series point({"", "growth-tasks@100", "ours", 1, 0, bench::Kind::flat});
    point.samples = {{1, 7}};
    Series memory({"", "memory-timers", "ours", 1, 0, bench::Kind::figures});
    memory.figures = {{"allocated_bytes", {{1, 40}}}};
    Results results;
    tabulate({ours, point, memory}, results);
    results.circumstances = {"2024-05-01", "a \"machine\"", "b2 bench", 7, 30, 60};
    results.versions = {{"libev", "libev 4.33"}};
    results.left_out = {{"poco", "not found"}};

    const Json json = support::parse_json(bench::to_json(results));
    BOOST_TEST(json["machine"].text == "a \"machine\"");
    BOOST_TEST(json["rounds"].text == "7");
    BOOST_TEST(json["minutes"].text == "30");
    BOOST_TEST(json["seconds"].text == "60");
    BOOST_TEST(json["targets"].items.at(0)["workload"].text == "timer-add-1M");
    BOOST_TEST((json["targets"].items.at(0)["ours"].kind == Json::Kind::null));
    BOOST_TEST(json["versions"]["libev"].text == "libev 4.33");
    const Json& table = json["workloads"].items.at(0);
    BOOST_TEST(table["workload"].text == "echo-64");
    const Json& row = table["rows"].items.at(0);
    BOOST_TEST(row["implementation"].text == "ours");
    BOOST_TEST(row["nanoseconds"].text == "30");
    BOOST_TEST(row["operations"].text == "50");
    BOOST_TEST(row["samples"].items.at(1)["round"].text == "2");
    BOOST_TEST(row["samples"].items.at(1)["nanoseconds"].text == "40");
    BOOST_TEST(row["syscalls"].text == "3.5");
    BOOST_TEST((row["instructions"].kind == Json::Kind::null));
    BOOST_TEST((row["to_limit"].kind == Json::Kind::null));
    const Json& growth = json["growth"].items.at(0);
    BOOST_TEST(growth["promised"].text == "flat");
    BOOST_TEST(growth["points"].items.at(0)["size"].text == "100");
    const Json& figures = json["figures"].items.at(0)["rows"].items.at(0)["figures"];
    BOOST_TEST(figures["allocated_bytes"].text == "40");
    BOOST_TEST(json["left_out"].items.at(0)["why"].text == "not found");
}
