// SPDX-License-Identifier: BSL-1.0
#include <reactor/handle.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::TimePoint;
using reactor::TimerHandle;

BOOST_AUTO_TEST_SUITE(reschedule)

REACTOR_LOOP_TEST(a_timer_moves_later_and_earlier) {
    const TimePoint start = loop.time();
    TimePoint fired_at;
    const auto note = [this, &fired_at] { fired_at = loop.time(); };

    TimerHandle timer = loop.call_later(seconds(5), note);
    BOOST_TEST(timer.reschedule(start + seconds(8)));
    BOOST_TEST((timer.when() == start + seconds(8)));
    loop.run_for(seconds(10));
    BOOST_TEST((fired_at == start + seconds(8)));
    BOOST_TEST(!timer.reschedule(start + seconds(20)));  // it ran

    timer = loop.call_later(seconds(5), note);  // at 15
    BOOST_TEST(timer.reschedule(start + seconds(18)));
    BOOST_TEST(timer.reschedule(start + seconds(12)));
    BOOST_TEST(timer.reschedule(start + seconds(13)));
    BOOST_TEST(loop.timer_count() == 1u);
    loop.run_for(seconds(10));
    BOOST_TEST((fired_at == start + seconds(13)));

    timer = loop.call_later(seconds(1), note);
    timer.cancel();
    BOOST_TEST(!timer.reschedule(loop.time()));
    BOOST_TEST(!TimerHandle().reschedule(loop.time()));
    loop.run_for(seconds(2));
    BOOST_TEST((fired_at == start + seconds(13)));
}

REACTOR_LOOP_TEST(among_equal_deadlines_a_rescheduled_timer_counts_as_set_now) {
    const TimePoint when = loop.time() + seconds(1);
    TimerHandle a = loop.call_at(when, say("a"));
    loop.call_at(when, say("b"));
    TimerHandle c = loop.call_at(when + seconds(1), say("c"));
    loop.call_at(when, say("d"));
    c.reschedule(when);
    a.reschedule(when);
    loop.run_for(seconds(1));
    BOOST_TEST(heard() == "b d c a");
}

REACTOR_LOOP_TEST(a_due_timer_can_be_pushed_back_by_an_earlier_one_of_the_batch) {
    TimerHandle late;
    loop.call_later(seconds(-2), [&] { late.reschedule(loop.time() + seconds(3)); });
    late = loop.call_later(seconds(-1), say("late"));
    loop.run_iterations(2);
    BOOST_TEST(heard() == "");
    loop.run_for(seconds(2));
    BOOST_TEST(heard() == "");
    loop.run_for(seconds(1));
    BOOST_TEST(heard() == "late");
}

REACTOR_LOOP_TEST(a_due_timer_can_be_pushed_back_and_cancelled_in_the_batch) {
    auto owned = std::make_shared<int>(1);
    TimerHandle late;
    loop.call_later(seconds(-2), [&] {
        BOOST_TEST(late.reschedule(loop.time() + seconds(3)));
        BOOST_TEST(late.cancel());
        BOOST_TEST(owned.use_count() == 1);
        BOOST_TEST(!late.reschedule(loop.time()));
    });
    late = loop.call_later(seconds(-1), [owned] { BOOST_ERROR("it was cancelled"); });
    loop.run_for(seconds(5));
}

// The batch is cut short, so the timer is armed again while it still waits in the queue.
REACTOR_LOOP_TEST(a_timer_rescheduled_in_a_batch_that_ends_by_LoopExit_runs_once) {
    TimerHandle late;
    loop.call_later(seconds(-2), [&] {
        late.reschedule(loop.time() + milliseconds(1));
        throw reactor::LoopExit(3);
    });
    late = loop.call_later(seconds(-1), say("late"));
    loop.call_later(seconds(-1), say("other"));
    BOOST_CHECK_THROW(loop.run_forever(), reactor::LoopExit);
    BOOST_TEST(heard() == "");
    loop.clock().advance(seconds(1));
    loop.call_soon(say("soon"));
    loop.run_until_idle();
    BOOST_TEST(heard() == "late other soon");
    BOOST_TEST(loop.ready_count() == 0u);
}

REACTOR_LOOP_TEST(a_one_shot_timer_cannot_rearm_itself_but_a_repeating_one_moves_its_grid) {
    TimerHandle once;
    once = loop.call_later(seconds(1), [&] { BOOST_TEST(!once.reschedule(loop.time())); });
    const TimePoint start = loop.time();
    TimerHandle every;
    int runs = 0;
    every = loop.call_every(seconds(10), [&] {
        if (++runs == 1) {
            BOOST_TEST(every.reschedule(loop.time() + seconds(3)));
        }
        say(std::to_string((loop.time() - start) / seconds(1)))();
    });
    loop.run_for(seconds(40));
    BOOST_TEST(heard() == "10 13 23 33");
    every.cancel();
}

REACTOR_LOOP_TEST(a_grid_that_begins_before_all_time_is_caught_up_with) {
    TimerHandle every = loop.call_every(seconds(7), say("tick"));
    every.reschedule((TimePoint::min)());
    loop.run_iterations(1);
    BOOST_TEST(heard() == "tick");
    BOOST_TEST((every.when() > loop.time()));
    BOOST_TEST((every.when() <= loop.time() + seconds(7)));
    BOOST_TEST(every.missed_ticks() > 1000000u);
    every.cancel();
}

REACTOR_LOOP_TEST(reschedule_names_itself_where_it_may_not_be_called) {
    TimerHandle timer = loop.call_later(seconds(1), [] {});
    loop.call_soon([&] {
        on_another_thread([&timer] {
            BOOST_CHECK_EXCEPTION(timer.reschedule(TimePoint()), reactor::StateError,
                                  [](const reactor::StateError& error) {
                                      return std::string(error.what()).find("reschedule") !=
                                             std::string::npos;
                                  });
        });
    });
    loop.run_iterations(1);
    loop.close();
    BOOST_CHECK_THROW(timer.reschedule(TimePoint()), reactor::StateError);
}

BOOST_AUTO_TEST_SUITE_END()
