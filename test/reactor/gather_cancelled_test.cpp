// SPDX-License-Identifier: BSL-1.0
#include <reactor/combinators.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <tuple>

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

BOOST_AUTO_TEST_SUITE_END()
