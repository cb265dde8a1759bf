// SPDX-License-Identifier: BSL-1.0
#include <reactor/combinators.hpp>

#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>

#include <reactor/task.hpp>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::CancelledError;
using reactor::Next;
using reactor::Promise;
using reactor::TimeoutError;
using reactor::wait_for;

namespace {

/// Sleeps for ever; when it is cancelled it cleans up for 20 ms, and then ends in its way.
class Cleans : public reactor::Task<int> {
public:
    enum End { escape, value, error };
    explicit Cleans(End end) : end_(end) {}

private:
    Next start() override {
        return await(reactor::sleep(hours(1)), &Cleans::slept, &Cleans::cancelled);
    }
    Next slept() { return finish(0); }
    Next cancelled(const CancelledError&) {
        return await(reactor::sleep(milliseconds(20)), &Cleans::cleaned);
    }
    Next cleaned() {
        if (end_ == value) return finish(1);
        if (end_ == error) throw std::domain_error("while being cancelled");
        throw CancelledError();
    }
    End end_;
};

Promise<int> start(reactor::EventLoop& loop, Cleans::End end) {
    const auto task = loop.create_task<Cleans>(end);
    loop.run_once(reactor::Duration::zero());
    return task;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(waiting_with_a_limit)

REACTOR_LOOP_TEST(WF_01_a_value_in_time_comes_through_and_takes_the_timer_away) {
    const auto inner = loop.create_promise<int>();
    const auto outer = wait_for(inner, seconds(10));
    BOOST_TEST(loop.timer_count() == 1u);
    inner.set_result(7);
    loop.run_iterations(1);
    BOOST_TEST(outer.result() == 7);
    BOOST_TEST(loop.timer_count() == 0u);
    const auto failing = loop.create_promise<void>();
    const auto failed = wait_for(failing, seconds(10));
    failing.set_exception(std::runtime_error("down"));
    loop.run_iterations(1);
    BOOST_CHECK_THROW(failed.result(), std::runtime_error);
    BOOST_TEST(loop.timer_count() == 0u);
}

REACTOR_LOOP_TEST(WF_02_the_timeout_comes_only_after_the_inner_one_has_ended) {
    const auto begin = loop.time();
    const auto inner = start(loop, Cleans::escape);
    const auto outer = wait_for(inner, milliseconds(10));
    loop.run_for(milliseconds(10));
    loop.run_until_idle();
    BOOST_TEST(loop.timer_count() == 1u);  // it has heard of it, and cleans up
    loop.run_for(milliseconds(19));
    BOOST_TEST(!inner.done());
    BOOST_TEST(!outer.done());
    BOOST_CHECK_EXCEPTION(loop.run_until_complete(outer), TimeoutError,
                          [](const TimeoutError& e) { return e.code() == std::errc::timed_out; });
    BOOST_TEST(!outer.cancelled());
    BOOST_TEST(inner.cancelled());
    BOOST_TEST((loop.time() - begin == milliseconds(30)));
}

REACTOR_LOOP_TEST(WF_03_who_ends_otherwise_in_spite_of_the_limit_is_believed) {
    BOOST_TEST(loop.run_until_complete(wait_for(start(loop, Cleans::value), milliseconds(10))) ==
               1);
    BOOST_CHECK_THROW(
        loop.run_until_complete(wait_for(start(loop, Cleans::error), milliseconds(10))),
        std::domain_error);
}

REACTOR_LOOP_TEST(WF_04_cancelling_the_outer_one_cancels_the_inner_one) {
    for (const reactor::Duration limit : {reactor::forever(), reactor::Duration(seconds(60))}) {
        const auto inner = loop.create_promise<int>();
        const auto outer = wait_for(inner, limit);
        BOOST_TEST(outer.cancel("m"));
        BOOST_TEST(inner.cancelled());
        loop.run_iterations(1);
        BOOST_TEST(outer.cancelled());
        BOOST_CHECK_EXCEPTION(outer.result(), CancelledError,
                              [](const CancelledError& e) { return e.message() == "m"; });
        BOOST_TEST(loop.timer_count() == 0u);
    }
}

REACTOR_LOOP_TEST(WF_05_a_cancellation_is_not_swallowed_by_a_value_on_its_way) {
    const auto inner = loop.create_promise<int>();
    const auto outer = wait_for(inner, seconds(10));
    loop.call_soon([&] {
        inner.set_result(1);
        BOOST_TEST(outer.cancel());
    });
    loop.run_iterations(2);
    BOOST_TEST(outer.cancelled());
    BOOST_TEST(inner.result() == 1);
    BOOST_TEST(loop.timer_count() == 0u);
}

REACTOR_LOOP_TEST(a_failure_on_its_way_to_who_is_cancelled_counts_as_read) {
    auto inner = loop.create_promise<int>();
    auto outer = wait_for(inner, seconds(10));
    loop.call_soon([&] {
        inner.set_exception(std::runtime_error("just now"));
        BOOST_TEST(outer.cancel());
        inner = reactor::Promise<int>();
    });
    loop.run_iterations(2);
    BOOST_TEST(outer.cancelled());
    outer = reactor::Promise<int>();
    BOOST_TEST(take_reports().empty());
}

REACTOR_LOOP_TEST(WF_06_value_and_expiry_in_one_iteration_deliver_the_value) {
    const auto inner = loop.create_promise<int>();
    const auto outer = wait_for(inner, milliseconds(10));
    loop.clock().advance(milliseconds(10));
    loop.call_soon([&] { inner.set_result(3); });
    loop.run_iterations(1);
    BOOST_TEST(loop.timer_count() == 0u);  // its timer has run, after the value
    loop.run_iterations(1);
    BOOST_TEST(outer.result() == 3);
    BOOST_TEST(!inner.cancelled());
}

BOOST_AUTO_TEST_SUITE_END()
