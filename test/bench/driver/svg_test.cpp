// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/svg.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <boost/test/unit_test.hpp>

using bench::Growth;
using bench::Kind;
using bench::Series;

namespace {

using Tree = boost::property_tree::ptree;

/// The picture's elements; throws if it is no XML.
Tree elements(const std::string& picture) {
    std::istringstream stream(picture);
    Tree tree;
    boost::property_tree::read_xml(stream, tree);
    return tree.get_child("svg");
}

std::vector<double> widths_of_bars(const Tree& svg) {
    std::vector<double> widths;
    for (const auto& element : svg) {
        const std::string width = element.second.get<std::string>("<xmlattr>.width", "");
        const std::string fill = element.second.get<std::string>("<xmlattr>.fill", "");
        if (element.first == "rect" && fill != "#ffffff") widths.push_back(std::stod(width));
    }
    return widths;
}

std::vector<std::string> texts(const Tree& svg) {
    std::vector<std::string> all;
    for (const auto& element : svg) {
        if (element.first == "text") all.push_back(element.second.data());
    }
    return all;
}

bool has(const std::vector<std::string>& all, const std::string& text) {
    return std::find(all.begin(), all.end(), text) != all.end();
}

bench::Table table(const std::vector<std::pair<std::string, double>>& rows) {
    std::vector<Series> all;
    for (const auto& row : rows) {
        all.emplace_back(bench::Cell{"", "a < b & c", row.first, 1, 0, Kind::time});
        all.back().samples = {{1, row.second}};
    }
    bench::Results results;
    tabulate(all, results);
    return results.tables.at(0);
}

}  // namespace

BOOST_AUTO_TEST_CASE(xml_is_escaped) {
    BOOST_TEST(bench::xml_escaped("<a href=\"x\">'&'\x01µ") ==
               "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39; µ");
}

BOOST_AUTO_TEST_CASE(bars_are_as_long_as_the_times) {
    const Tree svg = elements(bench::bars(table({{"ours", 20}, {"limit", 10}, {"libev", 40}})));
    const std::vector<double> widths = widths_of_bars(svg);
    BOOST_TEST_REQUIRE(widths.size() == 3u);
    BOOST_TEST(widths[0] == 2 * widths[1]);
    BOOST_TEST(widths[2] == 2 * widths[0]);
    const std::vector<std::string> words = texts(svg);
    BOOST_TEST(has(words, "a < b & c: CPU time of an operation"));
    BOOST_TEST(has(words, "libev"));
    BOOST_TEST(has(words, "40.0 ns, 4.00 × limit"));
}

BOOST_AUTO_TEST_CASE(a_bar_that_would_make_the_others_dots_is_cut) {
    const Tree svg = elements(bench::bars(table({{"ours", 20}, {"asyncio", 20000}, {"asio", 50}})));
    const std::vector<double> widths = widths_of_bars(svg);
    BOOST_TEST(widths.at(2) == 5 * widths.at(0));
    BOOST_TEST(has(texts(svg), "20.0 µs"));
}

BOOST_AUTO_TEST_CASE(ours_is_bold_and_a_long_name_has_room) {
    const std::string longest = "boost-future-executor-with-more";
    const Tree svg = elements(bench::bars(table({{"ours", 20}, {longest, 40}})));
    for (const auto& element : svg) {
        const std::string words = element.second.data();
        const std::string weight = element.second.get<std::string>("<xmlattr>.font-weight", "");
        if (words == "ours") BOOST_TEST(weight == "bold");
        if (words != longest) continue;
        BOOST_TEST(weight == "");
        // It ends there.
        BOOST_TEST(element.second.get<double>("<xmlattr>.x") >= 7.5 * double(longest.size()));
    }
}

BOOST_AUTO_TEST_CASE(bars_of_nothing_or_zero_are_a_picture_too) {
    BOOST_TEST(widths_of_bars(elements(bench::bars(table({{"ours", 0}})))).at(0) == 0);
    BOOST_TEST(widths_of_bars(elements(bench::bars(bench::Table()))).empty());
}

BOOST_AUTO_TEST_CASE(the_curve_is_straight_where_growth_is_logarithmic) {
    const Growth growth = {
        "timers", "ours", Kind::logarithmic, {{100, 20, 1}, {1000, 30, 1}, {10000, 40, 1}}};
    const Tree svg = elements(bench::curve(growth));
    std::vector<double> x, y;
    for (const auto& element : svg) {
        if (element.first != "circle") continue;
        x.push_back(element.second.get<double>("<xmlattr>.cx"));
        y.push_back(element.second.get<double>("<xmlattr>.cy"));
    }
    BOOST_TEST_REQUIRE(x.size() == 3u);
    BOOST_TEST(x[2] - x[1] == x[1] - x[0], boost::test_tools::tolerance(0.01));
    BOOST_TEST(y[2] - y[1] == y[1] - y[0], boost::test_tools::tolerance(0.01));
    BOOST_TEST(y[2] < y[0]);
    const std::vector<std::string> words = texts(svg);
    BOOST_TEST(has(words, "10³"));
    BOOST_TEST(has(words, "40.0 ns"));
}

BOOST_AUTO_TEST_CASE(a_curve_of_one_point_is_a_picture_too) {
    const Growth growth = {"tasks", "ours", Kind::flat, {{100, 0, 1}}};
    BOOST_CHECK_NO_THROW(elements(bench::curve(growth)));
}
