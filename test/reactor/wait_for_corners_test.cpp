// SPDX-License-Identifier: BSL-1.0
#include <reactor/combinators.hpp>

#include <boost/test/unit_test.hpp>

#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "stubborn.hpp"

using reactor::BrokenPromise;
using reactor::Duration;
using reactor::EventLoop;
using reactor::Promise;
using reactor::Report;
using reactor::StateError;
using reactor::TimeoutError;
using reactor::wait_for;

namespace {

using Ms = std::chrono::milliseconds;

class ManualClock : public reactor::Clock {
public:
    reactor::TimePoint now() const noexcept override { return now_; }
    void advance(Duration by) { now_ += by; }

private:
    reactor::TimePoint now_{std::chrono::hours(1)};
};

struct Fixture {
    Fixture() : loop(reactor::default_selector(), clock) {
        loop.set_exception_handler(
            [this](EventLoop&, const Report& report) { reports.push_back(report); });
    }
    void turn(int n = 1) {
        for (int i = 0; i < n; ++i) loop.run_once(Duration::zero());
    }
    void pass(Duration by) {
        clock.advance(by);
        turn();
    }

    std::vector<Report> reports;
    ManualClock clock;
    EventLoop loop;
};

}  // namespace

// Corner cases; the rules are in wait_for_test.
BOOST_FIXTURE_TEST_SUITE(wait_for_corners, Fixture)

BOOST_AUTO_TEST_CASE(expiry_cancels_and_fails_with_a_timeout) {
    const auto inner = loop.create_promise<int>();
    const auto outer = wait_for(inner, Ms(10));
    pass(Ms(9));
    BOOST_TEST(!inner.done());
    pass(Ms(1));
    BOOST_TEST(inner.cancelled());
    turn();
    BOOST_TEST(!outer.cancelled());
    BOOST_CHECK_EXCEPTION(outer.result(), TimeoutError,
                          [](const TimeoutError& e) { return e.code() == std::errc::timed_out; });
}

BOOST_AUTO_TEST_CASE(a_cancellation_is_not_taken_for_the_expiry_it_met) {
    Stubborn* state;
    const auto inner = Stubborn::make(loop, state);
    const auto outer = wait_for(inner, Ms(10));
    pass(Ms(10));
    BOOST_TEST(outer.cancel());
    BOOST_TEST(state->asked == 2);
    state->end_cancelled(nullptr);
    turn();
    BOOST_TEST(outer.cancelled());
}

BOOST_AUTO_TEST_CASE(a_limit_of_zero_gives_what_is_done_already) {
    const auto done = loop.create_promise<int>();
    done.set_result(4);
    const auto in_time = wait_for(done, Ms(0));
    const auto pending = loop.create_promise<int>();
    const auto late = wait_for(pending, Ms(-1));
    turn(2);
    BOOST_TEST(in_time.result() == 4);
    BOOST_CHECK_THROW(late.result(), TimeoutError);
}

BOOST_AUTO_TEST_CASE(limits_nest_and_the_inner_one_names_the_timeout) {
    const auto inner = loop.create_promise<int>();
    const auto outer = wait_for(wait_for(inner, Ms(10)), Ms(20));
    pass(Ms(10));
    turn(2);
    BOOST_CHECK_THROW(outer.result(), TimeoutError);

    const auto other = loop.create_promise<int>();
    const auto sooner = wait_for(wait_for(other, Ms(20)), Ms(10));
    BOOST_TEST(loop.timer_count() == 2u);
    pass(Ms(10));
    BOOST_TEST(other.cancelled());
    turn(2);
    BOOST_CHECK_THROW(sooner.result(), TimeoutError);
    BOOST_TEST(loop.timer_count() == 0u);
}

BOOST_AUTO_TEST_CASE(a_gather_within_a_limit_times_out) {
    const auto a = loop.create_promise<int>(), b = loop.create_promise<int>();
    const auto outer = wait_for(reactor::gather(a, b), Ms(10));
    pass(Ms(10));
    BOOST_TEST(a.cancelled());
    turn(2);
    BOOST_CHECK_THROW(outer.result(), TimeoutError);
    BOOST_TEST(reports.empty());
}

BOOST_AUTO_TEST_CASE(an_infinite_limit_arms_no_timer_and_nan_is_refused) {
    using Seconds = std::chrono::duration<double>;
    const auto inner = loop.create_promise<int>();
    const auto outer = wait_for(inner, Seconds(std::numeric_limits<double>::infinity()));
    BOOST_TEST(loop.timer_count() == 0u);
    BOOST_CHECK_THROW(wait_for(inner, Seconds(std::numeric_limits<double>::quiet_NaN())),
                      std::invalid_argument);
    BOOST_CHECK_THROW(wait_for(Promise<int>(), Ms(1)), StateError);
    inner.set_result(1);
    turn();
    BOOST_TEST(outer.result() == 1);
}

BOOST_AUTO_TEST_CASE(what_nobody_can_complete_or_wants_leaves_no_timer) {
    auto inner = loop.create_promise<int>();
    const auto held = wait_for(inner, Ms(10));
    wait_for(inner, Ms(10));  // held by nobody but the inner one
    BOOST_TEST(loop.timer_count() == 2u);
    inner = Promise<int>();
    BOOST_CHECK_THROW(held.result(), BrokenPromise);
    BOOST_TEST(loop.timer_count() == 0u);

    const auto by_hand = loop.create_promise<int>();
    const auto outer = wait_for(by_hand, Ms(10));
    outer.set_result(9);
    pass(Ms(10));
    BOOST_TEST(!by_hand.done());
    by_hand.set_result(1);
    turn();
    BOOST_TEST(outer.result() == 9);
    BOOST_TEST(reports.empty());
}

BOOST_AUTO_TEST_CASE(a_move_only_value_is_handed_on) {
    auto inner = loop.create_promise<std::unique_ptr<int>>();
    const auto outer = wait_for(inner, Ms(10));
    inner.set_result(new int(5));
    turn();
    BOOST_TEST(*outer.take() == 5);
}

BOOST_AUTO_TEST_CASE(a_wait_may_outlive_its_loop) {
    Promise<int> inner, outer;
    {
        EventLoop own;
        inner = own.create_promise<int>();
        outer = wait_for(inner, Ms(10));
    }
    BOOST_TEST(!inner.done());
    BOOST_CHECK_THROW(outer.result(), BrokenPromise);
    inner.set_result(1);
}

BOOST_AUTO_TEST_SUITE_END()
