// SPDX-License-Identifier: BSL-1.0
#include <reactor/loop_group.hpp>
#include <reactor/submit.hpp>

#include <boost/test/unit_test.hpp>

#include <test/support/allocations.hpp>

#include <cstdlib>
#include <string>

using reactor::CancelledError;
using reactor::EventLoop;
using reactor::LoopGroup;
using reactor::Promise;
using reactor::StateError;

BOOST_AUTO_TEST_SUITE(loop_group_wait)

BOOST_AUTO_TEST_CASE(waiting_on_a_loop_of_the_group_is_refused) {
    LoopGroup group(1);
    group.start();
    const auto wait = [&group] {
        try {
            group.wait(reactor::get_running_loop());
        } catch (const StateError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    BOOST_TEST(submit(group.poster(0), wait).take().find("its own end") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_loop_of_another_group_may_wait) {
    LoopGroup group(1);
    group.start();
    LoopGroup other(1);
    other.start();
    auto ended = submit(other.poster(0), [&group] {
        const Promise<void> end = group.wait(reactor::get_running_loop());
        group.stop();
        return end;
    });
    ended.take();
    group.join();
}

BOOST_AUTO_TEST_CASE(a_wait_that_is_cancelled_leaves_nothing_behind) {
    LoopGroup group(1);
    group.start();
    EventLoop loop;
    const auto wait_and_cancel = [&] {
        for (int i = 0; i < 1000; ++i) {
            const Promise<void> ended = group.wait(loop);
            ended.cancel();
            loop.run_once(reactor::Duration::zero());
            loop.run_once(reactor::Duration::zero());
        }
    };
    const Promise<void> kept = group.wait(loop);
    wait_and_cancel();  // what is kept for reuse is there now
    const long before = support::allocations_left();
    wait_and_cancel();
    // The group's thread has a few blocks of its own; a thousand would be a loss.
    BOOST_TEST(std::labs(support::allocations_left() - before) < 100);
    group.stop();
    loop.run_until_complete(kept);
}

BOOST_AUTO_TEST_SUITE_END()
