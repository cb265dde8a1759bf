// SPDX-License-Identifier: BSL-1.0
#include <reactor/combinators.hpp>

#include <boost/test/unit_test.hpp>

#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "stubborn.hpp"

using reactor::BrokenPromise;
using reactor::CancelledError;
using reactor::EventLoop;
using reactor::gather;
using reactor::gather_settled;
using reactor::Promise;
using reactor::Report;
using reactor::StateError;
using reactor::Unit;

namespace {

struct Fixture {
    Fixture() {
        loop.set_exception_handler(
            [this](EventLoop&, const Report& report) { reports.push_back(report); });
    }
    void turn(int n = 1) {
        for (int i = 0; i < n; ++i) loop.run_once(reactor::Duration::zero());
    }
    Promise<int> pending() { return loop.create_promise<int>(); }

    std::vector<Report> reports;
    EventLoop loop;
};

const std::runtime_error down("down");

}  // namespace

BOOST_FIXTURE_TEST_SUITE(gathering, Fixture)

BOOST_AUTO_TEST_CASE(values_come_in_the_order_of_the_arguments) {
    const auto a = pending(), b = pending();
    const auto c = loop.create_promise<std::string>();
    const auto d = loop.create_promise<void>();
    const Promise<std::tuple<int, int, std::string, Unit>> all = gather(a, b, c, d);
    d.set_result();
    b.set_result(1);
    a.set_result(2);
    turn(2);
    BOOST_TEST(!all.done());
    c.set_result("3");
    turn();
    BOOST_TEST((all.result() == std::make_tuple(2, 1, std::string("3"), Unit())));

    std::vector<Promise<int>> many = {pending(), pending(), pending()};
    const auto list = gather(many);
    many[2].set_result(30);
    many[0].set_result(10);
    many[1].set_result(20);
    turn();
    BOOST_TEST((list.result() == std::vector<int>{10, 20, 30}));
}

BOOST_AUTO_TEST_CASE(a_gather_of_nothing_is_done_at_once_on_the_threads_loop) {
    reactor::set_event_loop(&loop);
    BOOST_TEST(gather().done());
    BOOST_TEST(&gather().loop() == &loop);
    BOOST_TEST(gather(std::vector<Promise<int>>()).result().empty());
    BOOST_TEST(gather_settled(std::vector<Promise<void>>()).result().empty());
    reactor::set_event_loop(nullptr);
}

BOOST_AUTO_TEST_CASE(the_result_follows_its_last_child_by_one_iteration) {
    const auto a = pending();
    std::string order;
    const auto all = gather(a);
    all.add_done_callback([&](const Promise<std::tuple<int>>&) { order += 'd'; });
    a.set_result(1);
    BOOST_TEST(!all.done());
    turn();
    BOOST_TEST(all.done());
    BOOST_TEST(order.empty());
    turn();
    BOOST_TEST(order == "d");
}

BOOST_AUTO_TEST_CASE(the_first_failure_seen_is_the_results_and_the_others_go_on) {
    auto a = pending(), b = pending(), c = pending(), d = pending(), e = pending();
    int calls = 0;
    auto all = gather(std::vector<Promise<int>>{a, b, c, d, e});
    all.add_done_callback([&](const Promise<std::vector<int>>&) { ++calls; });
    const std::exception_ptr error = std::make_exception_ptr(down);
    a.set_result(1);
    b.set_exception(error);
    turn();
    BOOST_TEST(all.done());
    BOOST_TEST((all.error() == error));
    BOOST_TEST(!c.done());
    c.set_result(3);
    d.cancel();
    e.set_exception(down);
    turn(2);
    BOOST_TEST(calls == 1);
    BOOST_TEST((all.error() == error));
    a = b = c = d = e = Promise<int>();
    BOOST_TEST(reports.empty());

    // The result's own error is nobody's business but the one who holds it.
    auto f = pending();
    all = gather(std::vector<Promise<int>>{f});
    f.set_exception(down);
    turn();
    f = Promise<int>();
    all = Promise<std::vector<int>>();
    BOOST_TEST(reports.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_cancelled_child_is_an_error_of_the_result_not_its_cancellation) {
    const auto a = pending(), b = pending();
    auto all = gather(a, b);
    const auto follower = all.then([] {});
    b.cancel("gone");
    turn();
    BOOST_TEST(all.done());
    BOOST_TEST(!all.cancelled());
    BOOST_CHECK_EXCEPTION(std::rethrow_exception(all.exception()), CancelledError,
                          [](const CancelledError& e) { return e.message() == "gone"; });
    BOOST_TEST(!a.done());
    turn();
    BOOST_TEST(follower.cancelled());
}

BOOST_AUTO_TEST_CASE(cancelling_the_result_cancels_the_pending_children_at_once) {
    const auto a = pending(), b = pending(), c = pending();
    c.set_result(1);
    const auto all = gather(a, b, c);
    turn();
    BOOST_TEST(all.cancel("m"));
    BOOST_TEST(a.cancelled());
    BOOST_TEST(b.cancelled());
    BOOST_TEST(!all.done());
    turn();
    BOOST_TEST(!all.cancelled());
    BOOST_CHECK_EXCEPTION(std::rethrow_exception(all.error()), CancelledError,
                          [](const CancelledError& e) { return e.message() == "m"; });
    BOOST_TEST(!all.cancel());
}

BOOST_AUTO_TEST_CASE(a_cancel_that_comes_after_the_last_child_is_refused) {
    const auto a = pending(), b = pending();
    const auto all = gather(a, b);
    const auto follower = all.then([] {});
    a.set_result(1);
    b.set_result(2);
    BOOST_TEST(!all.cancel());
    BOOST_TEST(follower.cancel());  // which can be cancelled itself
    turn();
    BOOST_TEST((all.result() == std::make_tuple(1, 2)));
    BOOST_TEST(follower.cancelled());
}

BOOST_AUTO_TEST_CASE(a_child_that_swallows_its_cancellation_does_not_hide_it) {
    for (const bool settle : {false, true}) {
        Stubborn* const state = reactor::detail::make_state<Stubborn>(loop.core(), reactor::Here());
        const auto child = reactor::detail::PromiseAccess::adopt<Promise<int>>(state);
        const auto other = pending();
        other.set_result(1);
        reactor::AnyPromise all;
        if (settle) {
            all = gather_settled(child, other, child);
        } else {
            all = gather(child, other, child);
        }
        BOOST_TEST(all.cancel("m"));
        BOOST_TEST(state->asked == 1);
        turn();
        BOOST_TEST(!all.done());
        child.set_result(5);
        turn();
        BOOST_TEST(all.done());
        BOOST_CHECK_THROW(std::rethrow_exception(all.error()), CancelledError);
    }
}

BOOST_AUTO_TEST_CASE(a_promise_given_twice_is_awaited_once) {
    const auto a = pending(), b = pending();
    const std::size_t nodes = loop.core().live;
    const auto all = gather(a, b, a);
    BOOST_TEST(loop.core().live == nodes + 3);  // the result, and one callback for each
    a.set_result(1);
    b.set_result(2);
    turn();
    BOOST_TEST((all.result() == std::make_tuple(1, 2, 1)));

    auto moved = loop.create_promise<std::string>();
    const auto twice = gather(moved, moved);
    moved.set_result(std::string(50, 'x'));
    moved = Promise<std::string>();
    turn();
    BOOST_TEST((std::get<0>(twice.result()) == std::get<1>(twice.result())));
    BOOST_TEST(std::get<1>(twice.result()).size() == 50u);
}

BOOST_AUTO_TEST_CASE(children_of_two_loops_are_refused_and_go_on_undisturbed) {
    EventLoop other;
    const auto x = pending();
    const auto y = other.create_promise<int>();
    BOOST_CHECK_THROW(gather(x, y), std::invalid_argument);
    BOOST_CHECK_THROW(gather(x, Promise<int>()), StateError);
    x.set_result(1);
    turn();
    BOOST_TEST(reports.empty());
    loop.close();
    BOOST_CHECK_THROW(gather(x), StateError);
}

BOOST_AUTO_TEST_CASE(children_that_are_done_are_taken_at_the_call) {
    const auto a = pending(), b = pending(), c = pending();
    a.set_result(1);
    b.set_result(2);
    BOOST_TEST((gather(a, b).result() == std::make_tuple(1, 2)));
    const auto failed = pending();
    failed.set_exception(down);
    const auto all = gather(failed, c);
    BOOST_TEST(all.done());
    BOOST_CHECK_THROW(all.result(), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(settled_gives_the_promises_themselves) {
    auto a = pending(), b = pending(), c = pending();
    auto all = gather_settled(a, b, c);
    a.set_result(1);
    b.cancel();
    turn();
    BOOST_TEST(!all.done());
    c.set_exception(down);
    turn();
    BOOST_TEST((std::get<0>(all.result()) == a));
    BOOST_TEST(std::get<1>(all.result()).cancelled());
    BOOST_CHECK_THROW(std::get<2>(all.result()).result(), std::runtime_error);
    const auto list = gather_settled(std::vector<Promise<int>>{c, a});
    BOOST_TEST((list.result() == std::vector<Promise<int>>{c, a}));
}

BOOST_AUTO_TEST_CASE(values_are_moved_if_nobody_else_can_read_them) {
    std::vector<Promise<std::unique_ptr<int>>> many;
    std::vector<int*> values;
    for (int i = 0; i < 3; ++i) {
        many.push_back(loop.create_promise<std::unique_ptr<int>>());
        values.push_back(new int(i));
    }
    const auto all = gather(many);
    for (std::size_t i = 0; i < 3; ++i) many[i].set_result(values[i]);
    turn();
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(all.result()[i].get() == values[i]);

    auto text = loop.create_promise<std::string>();
    auto done = loop.create_promise<std::string>();
    text.set_result(std::string(100, 't'));
    const char* const before = text.result().data();
    const auto at_call = gather(std::move(text));
    BOOST_TEST(static_cast<const void*>(std::get<0>(at_call.result()).data()) == before);
    const auto later = gather(done);
    done.set_result(std::string(100, 'd'));
    const char* const there = done.result().data();
    done = Promise<std::string>();
    turn();
    BOOST_TEST(static_cast<const void*>(std::get<0>(later.result()).data()) == there);
}

BOOST_AUTO_TEST_CASE(a_child_dropped_while_pending_breaks_the_result) {
    auto a = pending();
    const auto b = pending();
    const auto held = gather(a, b);
    gather(a, b);  // held by nobody
    b.set_result(1);
    turn();
    a = Promise<int>();
    BOOST_CHECK_THROW(held.result(), BrokenPromise);
    BOOST_CHECK_THROW(gather(pending()).result(), BrokenPromise);
    BOOST_TEST(reports.empty());
}

BOOST_AUTO_TEST_CASE(nothing_is_left_of_a_gather_that_was_given_up) {
    const std::size_t before = loop.core().live;
    {
        const auto a = pending();
        gather(a, pending(), a);
        const auto all = gather(a, a);
        BOOST_TEST(all.cancel());
    }
    turn(2);
    BOOST_TEST(loop.core().live == before);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(sleeping, Fixture)

BOOST_AUTO_TEST_CASE(sleep_is_done_after_its_delay_and_nobody_has_to_hold_it) {
    bool rested = false;
    reactor::sleep(loop, std::chrono::milliseconds(1)).then([&] { rested = true; });
    loop.run_until_complete(reactor::sleep(loop, std::chrono::milliseconds(2)));
    BOOST_TEST(rested);
    loop.call_soon([&] {
        const auto here = reactor::sleep(std::chrono::milliseconds(0));
        BOOST_TEST(&here.loop() == &loop);
    });
    turn();
    BOOST_CHECK_THROW(reactor::sleep(std::chrono::seconds(1)), StateError);
}

BOOST_AUTO_TEST_CASE(cancelling_a_sleep_cancels_its_timer) {
    const auto nap = reactor::sleep(loop, std::chrono::hours(1));
    const auto follower = nap.then([] {});
    BOOST_TEST(loop.timer_count() == 1u);
    BOOST_TEST(follower.cancel());
    BOOST_TEST(nap.cancelled());
    BOOST_TEST(loop.timer_count() == 0u);
    turn();
    BOOST_TEST(follower.cancelled());
}

BOOST_AUTO_TEST_CASE(odd_delays) {
    using Seconds = std::chrono::duration<double>;
    BOOST_CHECK_THROW(reactor::sleep(loop, Seconds(std::numeric_limits<double>::quiet_NaN())),
                      std::invalid_argument);
    const auto never = reactor::sleep(loop, Seconds(std::numeric_limits<double>::infinity()));
    loop.run_until_complete(reactor::sleep(loop, Seconds(-5)));
    BOOST_TEST(!never.done());
    const auto early = reactor::sleep(loop, std::chrono::hours(1));
    early.set_result();  // whoever completes it by hand leaves only its timer to come to nothing
    BOOST_TEST(never.cancel());
    loop.close();
    BOOST_CHECK_THROW(reactor::sleep(loop, Seconds(1)), StateError);
}

BOOST_AUTO_TEST_CASE(a_sleep_may_outlive_its_loop) {
    Promise<void> nap;
    {
        EventLoop own;
        nap = reactor::sleep(own, std::chrono::hours(1));
    }
    BOOST_TEST(!nap.done());
    BOOST_TEST(nap.cancel());
    BOOST_TEST(nap.cancelled());
}

BOOST_AUTO_TEST_SUITE_END()
