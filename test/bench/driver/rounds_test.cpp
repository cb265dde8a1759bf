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
    double time = 0;    // that has passed
    double each = 0.1;  // that an operation takes

    std::vector<Series> measure(const std::vector<Cell>& all) {
        Rounds rounds(
            options,
            [this](const Cell& one, std::uint64_t operations) { return run(one, operations); },
            [](const std::string&) {}, [this] { return time; });
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
        Run made = {{}, each * static_cast<double>(operations)};
        time += made.seconds;
        made.measured.operations = operations;
        made.measured.nanoseconds = static_cast<double>(runs);
        if (one.figures()) made.measured.figures = {{"bytes", 40}};
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

BOOST_FIXTURE_TEST_CASE(exact_figures_are_measured_once, Fixture) {
    const std::vector<Series> all = measure({cell("ours", Kind::exact)});
    BOOST_TEST(ran.size() == 1u);
    BOOST_TEST(all.at(0).figures.at(0).second.size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(quick_figures_are_of_a_tenth_and_say_so, Fixture) {
    options.quick = true;
    Cell memory = cell("ours", Kind::figures);
    memory.operations = 50;
    const std::vector<Series> all = measure({memory});
    BOOST_TEST(ran.size() == 1u);
    BOOST_TEST(all.at(0).operations == 5u);
}

BOOST_FIXTURE_TEST_CASE(growth_is_measured_while_it_is_calibrated, Fixture) {
    options.quick = true;
    const std::vector<Series> all = measure({{"", "growth-x@100", "ours", 1, 0, Kind::flat}});
    BOOST_TEST(ran.size() == 1u);
    BOOST_TEST(all.at(0).samples.size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(quick_growth_ends_early_and_says_so, Fixture) {
    options.quick = true;
    const std::vector<Series> all = measure({{"", "growth-x@1000000", "ours", 1, 0, Kind::flat},
                                             {"", "growth-x@100000", "ours", 1, 0, Kind::flat},
                                             {"", "growth-y@1000000", "ours", 1, 0, Kind::flat}});
    BOOST_TEST_REQUIRE(all.size() == 1u);
    BOOST_TEST(all[0].cell.workload == "growth-x@100000");
    BOOST_TEST_REQUIRE(left_out.size() == 1u);
    BOOST_TEST(left_out[0].what == "growth beyond 100000");
}

BOOST_FIXTURE_TEST_CASE(what_is_too_slow_for_a_second_round_runs_once, Fixture) {
    each = 100;
    options.minutes = 100;
    const std::vector<Series> all = measure({cell("slow")});
    BOOST_TEST(ran.size() == 1u);
    BOOST_TEST_REQUIRE(all.at(0).samples.size() == 1u);
    BOOST_TEST(all[0].samples[0].round == 1u);
}

BOOST_FIXTURE_TEST_CASE(growth_waits_for_what_others_are_compared_with, Fixture) {
    measure({{"", "growth-x@100", "growing", 1, 0, Kind::flat}, cell("ours")});
    BOOST_TEST(ran.at(0) == "ours");
    BOOST_TEST(ran.at(1) == "growing");
}

BOOST_FIXTURE_TEST_CASE(as_many_rounds_as_there_is_time_for, Fixture) {
    // Calibration takes 10 s, a round as much; nine tenths of the minute are 54 s.
    options.minutes = 1;
    options.seconds = 10;
    each = 5;
    const std::vector<Series> all = measure({cell("a"), cell("b")});
    BOOST_TEST_REQUIRE(all.size() == 2u);
    BOOST_TEST(all[0].samples.size() == 4u);
    BOOST_TEST(all[1].samples.size() == 4u);
    BOOST_TEST(time <= 60);
    BOOST_TEST(left_out.empty());
}

BOOST_FIXTURE_TEST_CASE(a_machine_that_becomes_slow_gets_fewer_rounds, Fixture) {
    options.minutes = 1;
    options.seconds = 10;
    options.rounds = 3;
    each = 1;
    std::vector<Cell> cells(10, cell("a"));
    Rounds rounds(
        options,
        [this](const Cell& one, std::uint64_t operations) {
            if (ran.size() >= 10) each = 3;
            return run(one, operations);
        },
        [](const std::string&) {}, [this] { return time; });
    const std::vector<Series> all = rounds.measure(cells, left_out);
    BOOST_TEST_REQUIRE(all.size() == 10u);
    for (const Series& series : all) BOOST_TEST(series.samples.size() >= 1u);
    BOOST_TEST(time <= 60);
}

BOOST_FIXTURE_TEST_CASE(without_a_round_there_is_what_was_measured_before, Fixture) {
    options.minutes = 1;
    options.seconds = 30;
    each = 30;
    const std::vector<Series> all = measure({cell("a"), cell("b")});
    BOOST_TEST_REQUIRE(all.size() == 2u);
    for (const Series& series : all) {
        BOOST_TEST_REQUIRE(series.samples.size() == 1u);
        BOOST_TEST(series.samples[0].round == 0u);
    }
    BOOST_TEST(left_out.empty());
}

BOOST_FIXTURE_TEST_CASE(for_whom_no_time_was_left_is_named, Fixture) {
    options.minutes = 1;
    options.seconds = 60;
    each = 55;
    const std::vector<Series> all = measure({cell("a"), cell("b")});
    BOOST_TEST(all.size() == 1u);
    BOOST_TEST_REQUIRE(left_out.size() == 1u);
    BOOST_TEST(left_out[0].what == "echo b");
    BOOST_TEST(left_out[0].why == "there was no time left (--minutes)");
    BOOST_TEST(!failed);
}
