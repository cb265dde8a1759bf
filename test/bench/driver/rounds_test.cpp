// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/rounds.hpp>

#include <algorithm>
#include <map>
#include <set>

#include <boost/test/unit_test.hpp>

using bench::Cell;
using bench::Kind;
using bench::LeftOut;
using bench::Rounds;
using bench::Run;
using bench::RunFailed;
using bench::Series;

namespace {

Cell cell(const std::string& implementation, Kind kind = Kind::time) {
    return {"", "echo", implementation, 1, 0, kind};
}

/// A machine on which every operation takes a tenth of a second.
struct Fixture {
    bench::Options options;
    std::vector<std::string> ran;
    std::vector<LeftOut> left_out;
    std::map<std::string, unsigned> fails_in;  // the n-th run of an implementation
    bool impossible = false;
    bool failed = false;

    std::vector<Series> measure(const std::vector<Cell>& all) {
        Rounds rounds(
            options,
            [this](const Cell& one, std::uint64_t operations) { return run(one, operations); },
            [](const std::string&) {});
        const std::vector<Series> measured = rounds.measure(all, left_out);
        failed = rounds.failed();
        return measured;
    }
    Run run(const Cell& one, std::uint64_t operations) {
        ran.push_back(one.implementation);
        const auto runs = std::count(ran.begin(), ran.end(), one.implementation);
        if (fails_in.count(one.implementation) != 0 && runs == fails_in[one.implementation]) {
            throw RunFailed("on fire", impossible);
        }
        Run made = {{}, 0.1 * static_cast<double>(operations)};
        made.measured.operations = operations;
        made.measured.nanoseconds = static_cast<double>(runs);
        if (one.kind == Kind::figures) made.measured.figures = {{"bytes", 40}};
        return made;
    }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(every_cell_runs_once_in_each_round, Fixture) {
    const std::vector<Series> all = measure({cell("a"), cell("b"), cell("c")});
    BOOST_TEST_REQUIRE(all.size() == 3u);
    for (const Series& series : all) {
        BOOST_TEST_REQUIRE(series.samples.size() == options.rounds);
        for (unsigned i = 0; i < options.rounds; ++i) BOOST_TEST(series.samples[i].round == i + 1);
    }
    // Interleaved: behind the calibration, every three are all three.
    for (std::size_t i = 3; i < ran.size(); i += 3) {
        BOOST_TEST(std::set<std::string>(ran.begin() + long(i), ran.begin() + long(i + 3)).size() ==
                   3u);
    }
    BOOST_TEST(left_out.empty());
}

BOOST_FIXTURE_TEST_CASE(the_order_of_the_rounds_is_not_always_the_same, Fixture) {
    options.rounds = 50;
    measure({cell("a"), cell("b"), cell("c"), cell("d")});
    std::set<std::vector<std::string>> orders;
    for (std::size_t i = 4; i < ran.size(); i += 4) {
        orders.insert(std::vector<std::string>(ran.begin() + long(i), ran.begin() + long(i + 4)));
    }
    BOOST_TEST(orders.size() > 2u);
}

BOOST_FIXTURE_TEST_CASE(a_peer_that_fails_is_named_and_the_others_go_on, Fixture) {
    fails_in["peer"] = 3;
    const std::vector<Series> all = measure({cell("ours"), cell("peer")});
    BOOST_TEST_REQUIRE(all.size() == 1u);
    BOOST_TEST(all[0].samples.size() == options.rounds);
    BOOST_TEST_REQUIRE(left_out.size() == 1u);
    BOOST_TEST(left_out[0].what == "echo peer");
    BOOST_TEST(left_out[0].why == "on fire");
    BOOST_TEST(std::count(ran.begin(), ran.end(), "peer") == 3);
    BOOST_TEST(!failed);
}

BOOST_FIXTURE_TEST_CASE(one_that_fails_at_once_does_not_get_into_the_rounds, Fixture) {
    fails_in["peer"] = 1;
    BOOST_TEST(measure({cell("peer")}).empty());
    BOOST_TEST(left_out.size() == 1u);
    BOOST_TEST(ran.size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(ours_must_not_fail, Fixture) {
    fails_in["ours-tasks"] = 2;
    measure({cell("ours-tasks")});
    BOOST_TEST(failed);
}

BOOST_FIXTURE_TEST_CASE(what_cannot_be_here_has_not_failed, Fixture) {
    fails_in["ours"] = 1;
    impossible = true;
    BOOST_TEST(measure({cell("ours")}).empty());
    BOOST_TEST(left_out.size() == 1u);
    BOOST_TEST(!failed);
}

BOOST_FIXTURE_TEST_CASE(figures_need_no_calibration_and_few_rounds, Fixture) {
    const std::vector<Series> all = measure({cell("ours", Kind::figures)});
    BOOST_TEST(ran.size() == 3u);
    BOOST_TEST_REQUIRE(all[0].figures.size() == 1u);
    BOOST_TEST(all[0].figures[0].first == "bytes");
    BOOST_TEST(all[0].figures[0].second.size() == 3u);
    BOOST_TEST(all[0].samples.empty());
}
