// SPDX-License-Identifier: BSL-1.0
#include <reactor/stats.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <thread>

#include <reactor/error.hpp>
#include <reactor/event_loop.hpp>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::Duration;
using reactor::enable_timing;
using reactor::Handle;
using reactor::LagHistogram;
using reactor::Options;
using reactor::Stats;
using reactor::stats;
using reactor::TimerHandle;

BOOST_AUTO_TEST_SUITE(stats_of_a_loop)

REACTOR_LOOP_TEST(a_new_loop_has_done_nothing) {
    const Stats before = stats(loop);
    BOOST_TEST(before.iterations == 0u);
    BOOST_TEST(before.callbacks == 0u);
    BOOST_TEST(!before.timed);
    BOOST_TEST(before.lag.count() == 0u);
    BOOST_TEST((before.lag.at_most(0.5) == Duration::zero()));
}

REACTOR_LOOP_TEST(callbacks_and_iterations_are_counted) {
    for (int i = 0; i < 5; ++i) loop.call_soon([] {});
    loop.call_soon([this] { loop.call_soon([] {}); });
    loop.run_once();
    loop.run_once();
    const Stats after = stats(loop);
    BOOST_TEST(after.iterations == 2u);
    BOOST_TEST(after.callbacks == 7u);
    BOOST_TEST(after.longest_batch == 6u);
}

REACTOR_LOOP_TEST(what_was_cancelled_in_the_queue_did_not_run) {
    Handle cancelled = loop.call_soon([] {});
    TimerHandle moved = loop.call_later(Duration::zero(), [] {});
    loop.call_soon([&] { moved.reschedule(loop.time() + hours(1)); });
    cancelled.cancel();
    loop.run_once();
    const Stats after = stats(loop);
    BOOST_TEST(after.callbacks == 1u);
    BOOST_TEST(after.passed_over == 2u);
    BOOST_TEST(after.timers == 1u);
    moved.cancel();
}

REACTOR_LOOP_TEST(inside_a_callback_only_what_ran_is_counted) {
    std::vector<std::uint64_t> counts;
    const auto look = [&] { counts.push_back(stats(loop).callbacks); };
    loop.call_soon(look);
    loop.call_soon([&] {
        loop.call_soon(look);
        look();
    });
    loop.call_soon(look);
    loop.run_once();
    loop.run_once();
    BOOST_TEST((counts == std::vector<std::uint64_t>{1, 2, 3, 4}));
}

REACTOR_LOOP_TEST(a_batch_that_an_exit_cut_short_is_counted_once) {
    loop.call_soon([] {});
    loop.call_soon([] { throw reactor::LoopExit(0); });
    loop.call_soon([] {});
    BOOST_CHECK_THROW(loop.run_once(), reactor::LoopExit);
    BOOST_TEST(stats(loop).callbacks == 2u);
    loop.run_once();
    BOOST_TEST(stats(loop).callbacks == 3u);
    BOOST_TEST(stats(loop).iterations == 2u);
}

REACTOR_LOOP_TEST(depths_are_those_of_now) {
    SocketPair pair;
    loop.call_soon([] {});
    TimerHandle timer = loop.call_later(hours(1), [] {});
    loop.add_reader(pair.mine, [] {});
    on_another_thread([this] { loop.call_soon_threadsafe([] {}); });
    const Stats now = stats(loop);
    BOOST_TEST(now.ready == 2u);
    BOOST_TEST(now.timers == 1u);
    BOOST_TEST(now.watches == 1u);
    BOOST_TEST(now.posts == 0u);
    timer.cancel();
    loop.remove_reader(pair.mine);
    loop.run_once(Duration::zero());
    BOOST_TEST(stats(loop).posts == 1u);
    BOOST_TEST(stats(loop).ready == 0u);
    BOOST_TEST(stats(loop).timers == 0u);
    BOOST_TEST(stats(loop).watches == 0u);
}

REACTOR_LOOP_TEST(time_in_poll_and_in_callbacks) {
    loop.call_later(seconds(3), [this] { loop.clock().advance(milliseconds(20)); });
    loop.call_later(Options().label("slow one"), seconds(3),
                    [this] { loop.clock().advance(milliseconds(50)); });
    enable_timing(loop);
    loop.run_for(seconds(4));
    const Stats after = stats(loop);
    BOOST_TEST(after.timed);
    BOOST_TEST((after.running == milliseconds(70)));
    BOOST_TEST((after.polling == seconds(4) - milliseconds(70)));
    BOOST_TEST((after.longest_callback == milliseconds(50)));
    BOOST_TEST(after.longest_callback_name == "slow one");
}

REACTOR_LOOP_TEST(lag_is_lateness_after_the_deadline_or_the_poll) {
    enable_timing(loop);
    loop.call_soon([this] { loop.clock().advance(milliseconds(5)); });
    loop.call_soon([] {});                     // 5 ms after its poll
    loop.call_later(Duration::zero(), [] {});  // 5 ms after its deadline
    loop.run_once();
    loop.call_soon([this] { loop.clock().advance(seconds(2)); });
    loop.call_later(seconds(1), [] {});
    loop.run_once();
    loop.run_once();  // one second late
    const LagHistogram lag = stats(loop).lag;
    BOOST_TEST(lag.count() == 5u);
    BOOST_TEST(lag[0] == 2u);
    BOOST_TEST((lag.limit(0) == microseconds(1)));
    BOOST_TEST(lag[13] == 2u);  // up to 8.192 ms
    BOOST_TEST((lag.at_most(0.4) == microseconds(1)));
    BOOST_TEST((lag.at_most(0.8) == microseconds(8192)));
    BOOST_TEST((lag.at_most(1) == microseconds(1 << 20)));
    BOOST_TEST((lag.limit(lag.size() - 1) == reactor::forever()));
}

REACTOR_LOOP_TEST(a_deadline_before_all_time_is_very_late) {
    enable_timing(loop);
    loop.call_at((reactor::TimePoint::min)(), [] {});
    loop.run_once();
    const LagHistogram lag = stats(loop).lag;
    BOOST_TEST(lag[lag.size() - 1] == 1u);
    BOOST_TEST((lag.at_most(1) == reactor::forever()));
}

REACTOR_LOOP_TEST(timing_may_begin_and_end_inside_a_callback) {
    loop.call_soon([this] {
        loop.clock().advance(seconds(1));
        enable_timing(loop);
        loop.clock().advance(seconds(1));
    });
    loop.call_soon([this] { loop.clock().advance(milliseconds(3)); });
    loop.call_soon([this] {
        loop.clock().advance(seconds(1));
        enable_timing(loop, false);
    });
    loop.call_soon([this] { loop.clock().advance(seconds(1)); });
    loop.run_once();
    const Stats after = stats(loop);
    BOOST_TEST((after.running == milliseconds(3)));
    BOOST_TEST(after.lag.count() == 2u);
    BOOST_TEST(!after.timed);
    BOOST_TEST(after.callbacks == 4u);
}

REACTOR_LOOP_TEST(the_clock_is_not_read_unless_timing_is_on) {
    struct Counting : reactor::Clock {
        reactor::TimePoint now() const noexcept override {
            ++reads;
            return reactor::TimePoint();
        }
        mutable int reads = 0;
    } clock;
    reactor::EventLoop counted(reactor::default_selector(), clock);
    counted.call_soon([] {});
    counted.run_once();
    BOOST_TEST(stats(counted).callbacks == 1u);
    BOOST_TEST(clock.reads == 0);
    enable_timing(counted);
    counted.call_soon([] {});
    counted.run_once();
    BOOST_TEST(clock.reads > 0);
}

BOOST_AUTO_TEST_CASE(a_closed_loop_still_has_its_figures) {
    reactor::testing::TestLoop loop;
    enable_timing(loop);
    loop.call_soon([&] { loop.clock().advance(seconds(1)); });
    loop.run_once();
    loop.close();
    BOOST_TEST(stats(loop).callbacks == 1u);
    BOOST_TEST((stats(loop).running == seconds(1)));
    BOOST_TEST(!stats(loop).timed);
    BOOST_CHECK_THROW(enable_timing(loop), reactor::StateError);
}

REACTOR_LOOP_TEST(another_thread_is_refused_while_the_loop_runs) {
    loop.call_soon([this] {
        on_another_thread([this] {
            BOOST_CHECK_THROW(stats(loop), reactor::StateError);
            BOOST_CHECK_THROW(enable_timing(loop), reactor::StateError);
        });
    });
    loop.run_once();
}

BOOST_AUTO_TEST_SUITE_END()
