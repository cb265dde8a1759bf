// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/targets.hpp>

#include <cmath>

#include <boost/test/unit_test.hpp>

using bench::compare;
using bench::Kind;
using bench::no_number;
using bench::Reached;
using bench::Results;
using bench::Series;

namespace {

Series series(const std::string& implementation, std::vector<bench::Sample> samples) {
    Series made({"", "echo", implementation, 1, 0, Kind::time});
    made.samples = std::move(samples);
    return made;
}

Series bytes(const std::string& implementation, double value) {
    Series made({"", "memory", implementation, 1, 0, Kind::exact});
    made.figures = {{"bytes", {{1, value}}}};
    return made;
}

Results sample() {
    Results results;
    tabulate(
        {series("ours", {{1, 20}, {2, 60}}), series("ours-tasks", {{1, 30}}),
         series("limit", {{1, 10}, {2, 20}}), series("limit-moved", {{1, 40}, {2, 120}}),
         series("libuv", {{1, 40}}), series("libev", {{1, 15}}), bytes("ours", 300),
         bytes("ours-streams", 900), bytes("limit", 8), bytes("libev", 116), bytes("asio", 4600)},
        results);
    return results;
}

Reached one(const bench::Target& target) { return compare({target}, sample()).at(0); }

}  // namespace

BOOST_AUTO_TEST_CASE(a_target_is_a_ratio_to_the_implementation_it_names) {
    const Reached limit = one({"", "echo", "ours", "limit", 1});
    BOOST_TEST(limit.ours == 2.5);  // of 2 and 3
    BOOST_TEST(limit.best_peer == "libev");
    BOOST_TEST(limit.best_peers == 1.5);
    BOOST_TEST(one({"", "echo", "ours", "limit-moved", 1}).ours == 0.5);
    BOOST_TEST(one({"", "echo", "ours-tasks", "limit", 1}).ours == 3);
}

BOOST_AUTO_TEST_CASE(or_a_figure_of_ours) {
    const Reached reached = one({"", "memory", "ours", "bytes", 300});
    BOOST_TEST(reached.ours == 300);
    BOOST_TEST(reached.best_peer == "libev");
    BOOST_TEST(reached.best_peers == 116);
}

BOOST_AUTO_TEST_CASE(what_was_not_measured_has_no_number) {
    for (const bench::Target& target : {bench::Target{"", "post", "ours", "limit", 1},
                                        bench::Target{"", "echo", "ours-streams", "limit", 1},
                                        bench::Target{"", "echo", "ours", "limit-heap", 1},
                                        bench::Target{"", "memory", "ours", "pages", 1}}) {
        BOOST_TEST(std::isnan(one(target).ours));
    }
}
