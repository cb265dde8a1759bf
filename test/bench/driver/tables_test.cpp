// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/tables.hpp>

#include <boost/test/unit_test.hpp>

using bench::Kind;
using bench::Results;
using bench::Series;

namespace {

Series series(const std::string& workload, const std::string& implementation, double nanoseconds,
              Kind kind = Kind::time) {
    Series made({"", workload, implementation, 1, 0, kind});
    made.samples = {{1, nanoseconds}};
    return made;
}

Results sample() {
    std::vector<Series> all = {series("echo-64", "ours", 2100),
                               series("echo-64", "limit", 2000),
                               series("echo-64", "libev", 2200),
                               series("post", "ours", 50),
                               series("growth-timers@100", "ours", 20, Kind::logarithmic),
                               series("growth-timers@1000", "ours", 30, Kind::logarithmic)};
    all[0].instructions = 154;
    all[0].syscalls = 3;
    Series crawl({"", "crawl", "curl", 1, 0, Kind::figures});
    crawl.operations = 50;
    crawl.figures = {{"cpu_seconds", {{1, 0.25}}}};
    all.push_back(crawl);
    Results results;
    tabulate(all, results);
    results.circumstances = {"2024-05-01", "a machine", "b2 bench", 7, 30, 90};
    results.versions = {{"libev", "libev 4.33"}};
    results.left_out = {{"poco", "it was not found"}};
    return results;
}

}  // namespace

BOOST_AUTO_TEST_CASE(columns_are_as_wide_as_their_widest_word) {
    BOOST_TEST(bench::align({{"a", "CPU"}, {"longer", "5 µs"}, {"b"}}) ==
               "a        CPU\nlonger  5 µs\nb\n");
}

BOOST_AUTO_TEST_CASE(each_workload_has_its_table) {
    const std::string text = bench::to_text(sample());
    BOOST_TEST_CONTEXT(text) {
        const char* const echo =
            "echo-64      CPU  / limit  ours / it  rounds  instructions  system calls\n"
            "  ours   2.10 µs     1.05       1.00       1           154          3.00\n"
            "  limit  2.00 µs     1.00       1.05       1             -             -\n"
            "  libev  2.20 µs     1.10       0.95       1             -             -\n";
        BOOST_TEST((text.find(echo) != std::string::npos));
        const char* const post =
            "post        CPU  / limit  ours / it  rounds\n"
            "  ours  50.0 ns        -       1.00       1\n";
        BOOST_TEST((text.find(post) != std::string::npos));
        const char* const growth =
            "growth of timers      CPU  / first  rounds\n"
            "  10²             20.0 ns     1.00       1\n"
            "  10³             30.0 ns     1.50       1\n"
            "  (should be logarithmic)\n";
        BOOST_TEST((text.find(growth) != std::string::npos));
        BOOST_TEST(
            (text.find("crawl   of  rounds  cpu seconds\n  curl  50       1         0.25\n") !=
             std::string::npos));
        BOOST_TEST((text.find("left out: poco: it was not found\n") != std::string::npos));
    }
}

BOOST_AUTO_TEST_CASE(figures_that_only_some_have_are_missing_in_the_others) {
    Results results;
    results.figures = {{"crawl",
                        {{{"", "crawl", "ours", 1, 0, Kind::figures}, 10, 3, {{"seconds", 0.5}}},
                         {{"", "crawl", "curl", 1, 0, Kind::figures}, 10, 1, {{"peak_kib", 9}}}}}};
    BOOST_TEST(bench::to_text(results) ==
               "crawl   of  rounds  seconds  peak kib\n"
               "  ours  10       3     0.50         -\n"
               "  curl  10       1        -      9.00\n\n");
}

BOOST_AUTO_TEST_CASE(the_summary_is_a_document_of_its_own) {
    const std::string summary = bench::to_summary(sample());
    const std::string begin =
        "2024-05-01, a machine; `b2 bench`, 7 rounds at most, 1.5 of 30 minutes; libev 4.33.\n"
        "\n"
        "| target | workload | measured by | at most | ours | best peer | reached |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    const std::string end =
        "\n"
        "| workload | ours | / limit | best peer | its time | ours / it | rounds |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        "| echo-64 | 2.10 µs | 1.05 | libev | 2.20 µs | 0.95 | 1 |\n"
        "| post | 50.0 ns | - | - | - | - | 1 |\n"
        "\n"
        "| growth of | 10² | 10³ | should be |\n"
        "| --- | ---: | ---: | ---: |\n"
        "| timers | 20.0 ns | 30.0 ns | logarithmic |\n"
        "\n"
        "| figures | of | are | for |\n"
        "| --- | ---: | ---: | ---: |\n"
        "| crawl | curl | cpu seconds 0.25 | 50 |\n";
    BOOST_TEST_CONTEXT(summary) {
        BOOST_TEST(summary.substr(0, begin.size()) == begin);
        BOOST_TEST(summary.substr(summary.size() - end.size()) == end);
        BOOST_TEST((summary.find("| echo-64 | limit | 1.03 | 1.05 | libev 1.10 | no |\n") !=
                    std::string::npos));
        BOOST_TEST((summary.find("| timer-add-1M | limit | 1.00 | - | - | not measured |\n") !=
                    std::string::npos));
    }
}

BOOST_AUTO_TEST_CASE(of_nothing_there_is_little_to_say) {
    Results results;
    results.circumstances = {"2024-05-01", "a machine", "b2 bench", 7, 30, 90};
    BOOST_TEST(bench::to_text(results) == "");
    BOOST_TEST(bench::to_summary(results) ==
               "2024-05-01, a machine; `b2 bench`, 7 rounds at most, 1.5 of 30 minutes.\n");
}
