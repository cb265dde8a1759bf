// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/results.hpp>

#include <cmath>

#include <boost/test/unit_test.hpp>

using bench::Kind;
using bench::Results;
using bench::Series;

namespace {

Series series(const std::string& workload, const std::string& implementation,
              std::vector<bench::Sample> samples, Kind kind = Kind::time) {
    Series made({"", workload, implementation, 1, 0, kind});
    made.samples = std::move(samples);
    return made;
}

Results tabulated(const std::vector<Series>& all) {
    Results results;
    tabulate(all, results);
    return results;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_workload_is_one_table_wherever_its_cells_come_from) {
    const Results results =
        tabulated({series("b", "asio", {{1, 90}}), series("a", "ours", {{1, 1}}),
                   series("b", "limit", {{1, 20}}), series("b", "libev", {{1, 30}}),
                   series("b", "ours-tasks", {{1, 35}}), series("b", "ours", {{1, 25}})});
    BOOST_TEST_REQUIRE(results.tables.size() == 2u);
    const bench::Table& table = results.tables[0];
    BOOST_TEST(table.workload == "b");
    std::vector<std::string> order;
    for (const bench::Row& row : table.rows) order.push_back(row.series.cell.implementation);
    BOOST_TEST(order == (std::vector<std::string>{"ours", "ours-tasks", "limit", "libev", "asio"}),
               boost::test_tools::per_element());
    BOOST_TEST(table.best_peer()->series.cell.implementation == "libev");
    BOOST_TEST(table.ours()->to_limit == 1.25);
    BOOST_TEST(table.best_peer()->to_limit == 1.5);
    BOOST_TEST(table.limit()->ours_to == 1.25);
}

BOOST_AUTO_TEST_CASE(without_a_limit_or_ours_there_is_no_ratio_to_it) {
    const Results results =
        tabulated({series("a", "ours", {{1, 25}}), series("b", "libev", {{1, 1}})});
    BOOST_TEST(std::isnan(results.tables[0].rows[0].to_limit));
    BOOST_TEST(results.tables[0].rows[0].ours_to == 1);
    BOOST_TEST(std::isnan(results.tables[1].rows[0].ours_to));
    BOOST_TEST(!results.tables[0].best_peer());
    BOOST_TEST(!results.tables[1].ours());
}

BOOST_AUTO_TEST_CASE(what_was_not_measured_is_in_no_table) {
    const Results results =
        tabulated({series("a", "ours", {}), series("f", "ours", {}, Kind::figures)});
    BOOST_TEST(results.tables.empty());
    BOOST_TEST(results.figures.empty());
}

BOOST_AUTO_TEST_CASE(growth_is_one_curve_for_a_thing_by_size) {
    const Results results =
        tabulated({series("growth-timers@1000", "ours", {{1, 30}}, Kind::logarithmic),
                   series("growth-timers@100", "ours", {{1, 20}}, Kind::logarithmic),
                   series("growth-tasks@100", "ours", {{1, 5}}, Kind::flat)});
    BOOST_TEST_REQUIRE(results.growths.size() == 2u);
    BOOST_TEST(results.growths[0].of == "timers");
    BOOST_TEST(results.growths[0].points[0].size == 100u);
    BOOST_TEST(results.growths[0].factor() == 1.5);
    BOOST_TEST(std::isnan(results.growths[1].factor()));
    BOOST_TEST(results.tables.empty());
}

BOOST_AUTO_TEST_CASE(figures_are_medians_by_name) {
    Series crawl = series("crawl", "curl", {}, Kind::figures);
    crawl.figures = {{"seconds", {{1, 3}, {2, 1}, {3, 2}}}, {"peak_kib", {{1, 7}}}};
    Series ours = crawl;
    ours.cell.implementation = "ours";
    const Results results = tabulated({crawl, ours});
    BOOST_TEST_REQUIRE(results.figures.size() == 1u);
    BOOST_TEST(results.figures[0].lines[0].cell.implementation == "ours");
    const bench::FigureTable::Line& line = results.figures[0].lines[1];
    BOOST_TEST(line.cell.implementation == "curl");
    BOOST_TEST(line.figures[0].first == "seconds");
    BOOST_TEST(line.figures[0].second == 2);
    BOOST_TEST(line.figures[1].second == 7);
}
