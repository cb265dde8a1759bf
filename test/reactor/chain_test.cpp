// SPDX-License-Identifier: BSL-1.0
#include <reactor/chain.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <stdexcept>
#include <string>

#include <reactor/task.hpp>
#include <test/support/loop_test.hpp>

namespace {

using reactor::BrokenPromise;
using reactor::chain;
using reactor::EventLoop;
using reactor::Promise;
using reactor::StateError;

class Idle : public reactor::Task<int> {
    Next start() override { return finish(1); }
};

std::string refusal(const Promise<int>& source, const Promise<int>& destination) {
    try {
        chain(source, destination);
    } catch (const StateError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(chain_on_one_loop)

REACTOR_LOOP_TEST(P_16_the_destination_follows_one_iteration_later) {
    Promise<int> s[3], d[3];
    for (int i = 0; i < 3; ++i) {
        s[i] = loop.create_promise<int>();
        d[i] = loop.create_promise<int>();
        chain(s[i], d[i]);
    }
    const auto error = std::make_exception_ptr(std::runtime_error("b"));
    s[0].set_result(1);
    s[1].set_exception(error);
    s[2].cancel("c");
    for (const Promise<int>& destination : d) BOOST_TEST(!destination.done());
    loop.run_iterations(1);
    BOOST_TEST(d[0].result() == 1);
    BOOST_TEST((d[1].error() == error));
    BOOST_TEST(d[2].cancelled());
    s[1] = Promise<int>();  // its error counts as read
    loop.run_until_idle();
}

REACTOR_LOOP_TEST(P_16_the_source_is_cancelled_one_iteration_after_the_destination) {
    const auto s = loop.create_promise<int>();
    const auto d = loop.create_promise<int>();
    chain(s, d);
    BOOST_TEST(d.cancel());
    BOOST_TEST(!s.done());
    loop.run_iterations(1);
    BOOST_TEST(s.cancelled());
    loop.run_until_idle();
    BOOST_TEST(d.cancelled());
}

REACTOR_LOOP_TEST(ends_that_are_done_at_the_call) {
    const auto s = loop.create_promise<int>();
    const auto d = loop.create_promise<int>();
    s.set_result(1);
    chain(s, d);
    BOOST_TEST(!d.done());
    loop.run_iterations(1);
    BOOST_TEST(d.result() == 1);

    const auto pending = loop.create_promise<int>();
    const auto cancelled = loop.create_promise<int>();
    cancelled.cancel();
    chain(pending, cancelled);
    loop.run_iterations(1);
    BOOST_TEST(pending.cancelled());

    const auto late = loop.create_promise<int>();
    chain(late, d);  // which somebody else has completed
    late.set_result(2);
    loop.run_until_idle();
    BOOST_TEST(d.result() == 1);
}

REACTOR_LOOP_TEST(move_only_values_are_moved_and_shared_ones_copied) {
    auto s = loop.create_promise<std::unique_ptr<int>>();
    const auto d = loop.create_promise<std::unique_ptr<int>>();
    chain(s, d);
    int* const value = new int(1);
    s.set_result(value);
    loop.run_iterations(1);
    BOOST_TEST(d.result().get() == value);

    const auto text = loop.create_promise<std::string>();
    const auto copy = loop.create_promise<std::string>();
    chain(text, copy);
    text.set_result("kept");
    loop.run_iterations(1);
    BOOST_TEST(text.result() == "kept");
    BOOST_TEST(copy.result() == "kept");

    const auto nothing = loop.create_promise<void>();
    const auto done = loop.create_promise<void>();
    chain(nothing, done);
    nothing.set_result();
    loop.run_iterations(1);
    BOOST_CHECK_NO_THROW(done.result());
    loop.run_until_idle();
}

REACTOR_LOOP_TEST(the_two_do_not_keep_each_other) {
    const std::size_t before = loop.core().live();
    chain(loop.create_promise<int>(), loop.create_promise<int>());
    {
        auto s = loop.create_promise<int>();
        const auto d = loop.create_promise<int>();
        chain(s, d);
        s = Promise<int>();
        BOOST_CHECK_THROW(d.result(), BrokenPromise);
        loop.run_iterations(1);
        const auto kept = loop.create_promise<int>();
        std::string heard_of;
        {
            const auto unheld = loop.create_promise<int>();
            unheld.then([&](int value) { heard_of = std::to_string(value); });
            chain(kept, unheld);
        }
        kept.set_result(3);
        loop.run_iterations(2);
        BOOST_TEST(heard_of == "3");
    }
    loop.run_until_idle();
    BOOST_TEST(loop.core().live() == before);
}

REACTOR_LOOP_TEST(refusals_say_why) {
    const auto p = loop.create_promise<int>();
    const auto q = loop.create_promise<int>();
    BOOST_TEST(refusal(Promise<int>(), p).find("chain: the source is empty") == 0u);
    BOOST_TEST(refusal(p, Promise<int>()).find("chain: the destination is empty") == 0u);
    BOOST_TEST(refusal(p, p).find("chain: a promise cannot wait for itself") == 0u);
    const auto task = loop.create_task<Idle>();
    BOOST_TEST(refusal(p, task).find("chain: the destination is a task's") == 0u);
    chain(task, p);
    loop.run_iterations(2);
    BOOST_TEST(p.result() == 1);
    loop.close();
    BOOST_TEST(refusal(q, p).find("chain: the event loop is closed") == 0u);
}

REACTOR_LOOP_TEST(two_loops_of_one_thread) {
    EventLoop other;
    const auto s = loop.create_promise<int>();
    const auto d = other.create_promise<int>();
    chain(s, d);
    s.set_result(1);
    loop.run_iterations(1);
    BOOST_TEST(!d.done());
    other.run_once(reactor::Duration::zero());
    BOOST_TEST(d.result() == 1);

    const auto kept = loop.create_promise<int>();
    const auto cancelled = other.create_promise<int>();
    chain(kept, cancelled);
    other.run_once(reactor::Duration::zero());
    BOOST_TEST(cancelled.cancel());
    other.run_once(reactor::Duration::zero());
    BOOST_TEST(!kept.done());
    loop.run_iterations(1);
    BOOST_TEST(kept.cancelled());

    const auto left = other.create_promise<int>();
    chain(loop.create_promise<int>(), left);  // dropped while it is pending
    other.run_once(reactor::Duration::zero());
    BOOST_CHECK_THROW(left.result(), BrokenPromise);
    loop.run_until_idle();
}

// Law 12: it had been taken from its source, where it counts as read.
REACTOR_LOOP_TEST(an_error_for_a_destination_that_is_done_is_not_lost) {
    EventLoop other;
    auto source = other.create_promise<int>();
    auto destination = loop.create_promise<int>();
    chain(source, destination);
    destination.set_result(1);
    source.set_exception(std::runtime_error("on its way"));
    source = Promise<int>();
    for (int i = 0; i < 3; ++i) {
        other.run_once(reactor::Duration::zero());
        loop.run_iterations(1);
    }
    BOOST_TEST(destination.result() == 1);
    expect_report("Exception of a chained promise was never retrieved");
}

BOOST_AUTO_TEST_SUITE_END()
