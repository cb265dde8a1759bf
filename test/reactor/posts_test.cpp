// SPDX-License-Identifier: BSL-1.0
#include <reactor/event_loop.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include <test/support/counted.hpp>
#include <test/support/loop_test.hpp>

using namespace support;
using reactor::Duration;
using reactor::EventLoop;
using reactor::Poster;
using reactor::StateError;

// Callbacks from other threads: the loop wakes, takes them all, and refuses them once closed.
BOOST_AUTO_TEST_SUITE(posts)

REACTOR_LOOP_TEST(TH_01_a_post_wakes_a_sleeping_loop_which_sleeps_again) {
    loop.selector().set_patience(seconds(60));  // it really sleeps
    const auto here = std::this_thread::get_id();
    std::thread::id ran_on;
    std::size_t waits = 0;
    std::promise<void> ran;
    std::thread other([&] {
        while (!loop.is_running()) std::this_thread::yield();
        loop.call_soon_threadsafe([&] {
            ran_on = std::this_thread::get_id();
            waits = loop.selector().waits();
            ran.set_value();
        });
        ran.get_future().wait();
        // Time enough to spin in. A loop that sleeps does not count it.
        std::this_thread::sleep_for(milliseconds(20));
        loop.stop_threadsafe();
    });
    loop.run_forever();
    other.join();
    BOOST_TEST((ran_on == here));
    BOOST_TEST(loop.selector().waits() - waits <= 3u);
}

REACTOR_LOOP_TEST(TH_03_posts_to_a_loop_that_does_not_run_neither_block_nor_get_lost) {
    constexpr int each = 100000;
    int own = 0;
    int foreign = 0;
    on_another_thread([&] {
        for (int i = 0; i < each; ++i) loop.call_soon_threadsafe([&foreign] { ++foreign; });
    });
    for (int i = 0; i < each; ++i) loop.call_soon_threadsafe([&own] { ++own; });
    BOOST_TEST(own + foreign == 0);
    loop.run_iterations(1);
    BOOST_TEST(foreign == each);
    BOOST_TEST(own == each);
    loop.run_iterations(1);  // and no wake-up is left over
    BOOST_TEST(loop.selector().last_found() == 0u);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(TH_04_posting_to_a_loop_that_closes, S, EverySelector) {
    std::atomic<int> alive{0};
    for (int round = 0; round < 700; ++round) {
        std::atomic<bool> closed{false};
        std::atomic<bool> refused{false};
        std::unique_ptr<EventLoop> loop(new EventLoop(reactor::make_selector(S::name())));
        const Poster poster = loop->poster();
        std::thread other([&] {
            try {
                for (int late = 0; late < 3; late += closed) {
                    loop->call_soon_threadsafe([](const Counted&) {}, Counted(alive));
                }
            } catch (const StateError&) {
                refused = true;
            }
        });
        for (int i = 0; i < round % 3; ++i) loop->run_once(Duration::zero());
        loop->close();
        closed = true;
        other.join();
        BOOST_REQUIRE(refused.load());
        BOOST_REQUIRE(alive.load() == 0);
        loop.reset();
        BOOST_REQUIRE(!poster.post([](const Counted&) {}, Counted(alive)));
        BOOST_REQUIRE(alive.load() == 0);
    }
}

REACTOR_LOOP_TEST(TH_04_after_the_close_every_post_is_refused) {
    loop.close();
    BOOST_TEST(loop.is_closed());
    BOOST_CHECK_THROW(loop.call_soon_threadsafe([] {}), StateError);
    on_another_thread([&] { BOOST_CHECK_THROW(loop.call_soon_threadsafe([] {}), StateError); });
    loop.stop_threadsafe();
}

BOOST_AUTO_TEST_SUITE_END()
