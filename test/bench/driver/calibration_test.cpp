// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/calibration.hpp>

#include <algorithm>
#include <vector>

#include <boost/test/unit_test.hpp>

using bench::calibrate;
using bench::Plan;
using bench::Tried;

namespace {

/// A program that takes so long to start and for each operation, of which it does whole batches.
struct Program {
    double start;
    double each;
    std::uint64_t batch = 1;
    std::vector<double> runs;

    Program(double start_, double each_, std::uint64_t batch_ = 1)
        : start(start_), each(each_), batch(batch_) {}

    Tried operator()(std::uint64_t operations) {
        const std::uint64_t batches = (operations + batch - 1) / batch;
        runs.push_back(start + each * static_cast<double>(batches * batch));
        return {batches * batch, runs.back(), runs.back() - start};
    }
    Plan plan(std::uint64_t most) { return calibrate(most, most / 50, 0.3, 7, std::ref(*this)); }
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_fast_one_runs_as_many_as_its_program_says_and_not_more) {
    Program fast(0.002, 1e-8);
    const Plan plan = fast.plan(1000000);
    BOOST_TEST(plan.operations == 1000000u);
    BOOST_TEST(plan.rounds == 7u);
}

BOOST_AUTO_TEST_CASE(a_slow_one_gets_as_many_as_fit_into_the_time) {
    for (const double each : {1e-6, 1e-5, 1e-4, 2e-2}) {
        BOOST_TEST_CONTEXT(each) {
            Program slow(0.01, each);
            const Plan plan = slow.plan(1000000);
            BOOST_TEST(plan.seconds <= 0.3);
            BOOST_TEST(plan.seconds >= 0.15);
            BOOST_TEST(plan.rounds == 7u);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_long_start_leaves_less_time_for_operations) {
    Program python(0.15, 1e-6);
    const Plan plan = python.plan(10000000);
    BOOST_TEST(plan.seconds <= 0.3);
    BOOST_TEST(plan.operations > 1u);
}

BOOST_AUTO_TEST_CASE(what_cannot_do_less_runs_in_fewer_rounds) {
    Program timers(0.0, 1e-6, 1000000);
    const Plan plan = timers.plan(2000000);
    BOOST_TEST(plan.seconds == 1.0);
    BOOST_TEST(plan.rounds == 4u);  // 7 rounds of 0.3 s, twice
    BOOST_TEST(timers.runs.size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_last_run_is_one_of_those_that_are_planned) {
    for (const double each : {1e-8, 1e-6, 1e-4, 2e-2}) {
        BOOST_TEST_CONTEXT(each) {
            Program program(0.01, each, 1000);
            const Plan plan = program.plan(1000000);
            BOOST_TEST(program.runs.back() == plan.seconds);
            BOOST_TEST(program(plan.operations).seconds == plan.seconds);
        }
    }
}

BOOST_AUTO_TEST_CASE(where_the_start_takes_all_the_time_enough_is_measured_all_the_same) {
    Program connections(1.0, 1e-5);
    const Plan plan = connections.plan(20000);
    BOOST_TEST(static_cast<double>(plan.operations) * 1e-5 >= 0.03);
    BOOST_TEST(plan.seconds < 1.1);
    BOOST_TEST(connections.runs.size() == 2u);
}

BOOST_AUTO_TEST_CASE(what_takes_for_ever_runs_once) {
    Program timers(0.0, 1e-5, 1000000);
    BOOST_TEST(timers.plan(1000000).rounds == 1u);
}

BOOST_AUTO_TEST_CASE(one_operation_is_the_least) {
    Program slow(0.0, 0.2);
    const Plan plan = slow.plan(1);
    BOOST_TEST(plan.operations == 1u);
    BOOST_TEST(slow.runs.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_clock_that_stands_still_does_no_harm) {
    const Plan plan = calibrate(1000, 20, 0.3, 7, [](std::uint64_t operations) {
        return Tried{operations, 0.0, 0.0};
    });
    BOOST_TEST(plan.operations == 1000u);
    BOOST_TEST(plan.rounds >= 1u);
}
