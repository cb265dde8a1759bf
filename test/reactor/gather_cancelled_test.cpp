// SPDX-License-Identifier: BSL-1.0
#include <reactor/combinators.hpp>

#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <reactor/shield.hpp>
#include <reactor/task.hpp>

#include "gathering.hpp"
#include <test/support/loop_test.hpp>

using namespace support;
using reactor::CancelledError;
using reactor::gather;
using reactor::gather_settled;
using reactor::Promise;

namespace {

std::string message_of(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const CancelledError& cancelled) {
        return cancelled.message();
    } catch (...) {
        return "no cancellation";
    }
}

/// Is asked to stop, and brings its result all the same.
class Swallows : public reactor::Task<int> {
    reactor::Next start() override {
        return await(reactor::sleep(hours(1)), &Swallows::slept, &Swallows::cancelled);
    }
    reactor::Next slept() { return finish(0); }
    reactor::Next cancelled(const CancelledError&) { return yield(&Swallows::late); }
    reactor::Next late() { return finish(5); }
};

class WaitsForBoth : public reactor::Task<void> {
public:
    WaitsForBoth(Promise<int> one, Promise<int> other, bool in_list)
        : one_(std::move(one)), other_(std::move(other)), in_list_(in_list) {}

private:
    reactor::Next start() override {
        if (in_list_) {
            return await(
                gather_settled(std::vector<Promise<int>>{std::move(one_), std::move(other_)}),
                &WaitsForBoth::listed);
        }
        return await(gather_settled(std::move(one_), std::move(other_)), &WaitsForBoth::both);
    }
    reactor::Next listed(std::vector<Promise<int>> all) {
        static_cast<void>(all);
        return finish();
    }
    reactor::Next both(Promise<int>, Promise<int>) { return finish(); }

    Promise<int> one_, other_;
    const bool in_list_;
};

}  // namespace

// Cancellation of a child, and of the whole.
BOOST_AUTO_TEST_SUITE(gather_cancelled)

REACTOR_LOOP_TEST_IN(Gathering,
                     G_06_a_cancelled_child_is_an_error_of_the_result_not_its_cancellation) {
    const auto a = pending(), b = pending();
    const auto all = gather(a, b);
    const auto follower = all.then([] {});
    b.cancel("gone");
    turn();
    BOOST_TEST(all.done());
    BOOST_TEST(!all.cancelled());
    BOOST_TEST(message_of(all.exception()) == "gone");
    BOOST_TEST(!a.done());
    turn();
    BOOST_TEST(follower.cancelled());
}

REACTOR_LOOP_TEST_IN(Gathering, G_07_cancelling_the_result_cancels_the_pending_children_at_once) {
    const auto a = pending(), b = pending(), c = pending();
    c.set_result(1);
    const auto all = gather(a, b, c);
    turn();
    BOOST_TEST(all.cancel("m"));
    BOOST_TEST(a.cancelled());
    BOOST_TEST(b.cancelled());
    BOOST_TEST(!all.done());
    turn();
    BOOST_TEST(all.done());
    BOOST_TEST(!all.cancelled());
    BOOST_TEST(message_of(all.error()) == "m");
    BOOST_TEST(!all.cancel());
}

REACTOR_LOOP_TEST_IN(Gathering, G_08_a_cancel_that_comes_after_the_last_child_is_refused) {
    const auto a = pending(), b = pending();
    const auto all = gather(a, b);
    const auto follower = all.then([] {});
    a.set_result(1);
    b.set_result(2);
    BOOST_TEST(!all.cancel());
    BOOST_TEST(follower.cancel());  // which can be cancelled itself
    turn(2);
    BOOST_TEST((all.result() == std::make_tuple(1, 2)));
    BOOST_TEST(follower.cancelled());
}

REACTOR_LOOP_TEST_IN(Gathering, G_09_a_child_that_swallows_its_cancellation_does_not_hide_it) {
    for (const bool settle : {false, true}) {
        const auto child = loop.create_task<Swallows>();
        turn();
        const auto other = pending();
        other.set_result(1);
        reactor::AnyPromise all;
        if (settle) {
            all = gather_settled(Promise<int>(child), other);
        } else {
            all = gather(Promise<int>(child), other);
        }
        BOOST_TEST(all.cancel("m"));
        turn();
        BOOST_TEST(!all.done());
        BOOST_TEST(!child.done());
        turn();
        BOOST_TEST(child.result() == 5);
        turn();
        BOOST_TEST(all.done());
        BOOST_TEST(message_of(all.error()) == "m");
    }
}

// A child that has failed by itself was to be looked at by whoever is cancelled instead.
REACTOR_LOOP_TEST_IN(Gathering, a_cancelled_gather_counts_the_failures_of_children_as_read) {
    for (const bool settle : {false, true}) {
        auto failing = pending(), late = pending();
        reactor::AnyPromise all;
        if (settle) {
            all = gather_settled(failing, late);
        } else {
            all = gather(failing, late);
        }
        failing.set_exception(std::runtime_error("by itself"));
        BOOST_TEST(all.cancel());  // the other one takes it
        failing = late = Promise<int>();
        turn(2);
        BOOST_TEST(all.done());
        static_cast<void>(all.error());
        all = reactor::AnyPromise();
        BOOST_TEST(take_reports().empty());
    }
}

REACTOR_LOOP_TEST_IN(Gathering, failures_that_a_cancelled_task_cannot_look_at_count_as_read) {
    for (const bool in_list : {false, true}) {
        auto one = pending(), other = pending();
        auto task = loop.create_task<WaitsForBoth>(one, other, in_list);
        turn();
        one.set_result(1);
        other.set_exception(std::runtime_error("by itself"));
        turn();  // the result is there, and the task about to be told
        BOOST_TEST(task.cancel());
        one = other = Promise<int>();
        turn();
        BOOST_TEST(task.cancelled());
        BOOST_TEST(take_reports().empty());
    }
}

REACTOR_LOOP_TEST_IN(Gathering, failures_that_a_cancelled_follower_cannot_look_at_count_as_read) {
    auto one = pending(), other = pending();
    const auto follower = gather_settled(one, other).then([] {});
    one.set_exception(std::runtime_error("by itself"));
    other.set_exception(std::runtime_error("by itself too"));
    turn();
    BOOST_TEST(follower.cancel());
    one = other = Promise<int>();
    turn();
    BOOST_TEST(follower.cancelled());
    BOOST_TEST(take_reports().empty());
}

REACTOR_LOOP_TEST_IN(Gathering, failures_behind_a_limit_and_a_shield_count_as_read_too) {
    for (const bool limited : {false, true}) {
        auto one = pending();
        auto settled = gather_settled(one);
        auto around = limited ? reactor::wait_for(std::move(settled), hours(1))
                              : reactor::shield(std::move(settled));
        const auto follower = around.then([] {});
        one.set_exception(std::runtime_error("by itself"));
        turn(2);
        BOOST_TEST(around.done());
        around = decltype(around)();
        BOOST_TEST(follower.cancel());
        one = Promise<int>();
        turn();
        BOOST_TEST(follower.cancelled());
        BOOST_TEST(take_reports().empty());
    }
}

// A value may hold what belongs to another loop, and so to another thread: that is its business.
REACTOR_LOOP_TEST_IN(Gathering, a_failure_of_another_loop_is_told_there_all_the_same) {
    reactor::EventLoop other;
    int told = 0;
    other.set_exception_handler([&](reactor::EventLoop&, const reactor::Report&) { ++told; });
    {
        const auto inner = other.create_promise<int>();
        inner.set_exception(std::runtime_error("by itself"));
        const auto outer = loop.create_promise<Promise<int>>();
        const auto follower = outer.then([](const Promise<int>&) {});
        outer.set_result(inner);
        BOOST_TEST(follower.cancel());
        turn();
        BOOST_TEST(follower.cancelled());
    }
    turn();
    BOOST_TEST(told == 1);
}

// What becomes of the others counts as read, also of those whose value is promises.
REACTOR_LOOP_TEST_IN(Gathering,
                     failures_that_a_gather_has_collected_before_it_fails_count_as_read) {
    for (const bool before : {false, true}) {
        auto inner = pending(), failing = pending();
        auto all = gather(gather_settled(inner), failing);
        const auto end_inner = [&] {
            inner.set_exception(std::runtime_error("by itself"));
            inner = Promise<int>();
            turn(2);
        };
        if (before) end_inner();
        failing.set_exception(std::runtime_error("of all"));
        turn();
        BOOST_TEST(all.done());
        if (!before) end_inner();
        BOOST_TEST((all.exception() != nullptr));
        BOOST_TEST(take_reports().empty());
    }
}

REACTOR_LOOP_TEST_IN(Gathering, a_failure_that_nobody_looks_at_among_the_settled_is_reported) {
    auto failing = pending();
    auto all = gather_settled(failing);
    failing.set_exception(std::runtime_error("by itself"));
    turn();
    BOOST_TEST(all.done());
    failing = Promise<int>();
    all = decltype(all)();
    BOOST_TEST(take_reports().size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
