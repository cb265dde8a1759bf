// SPDX-License-Identifier: BSL-1.0
#include <reactor/event_loop.hpp>

#include <boost/test/unit_test.hpp>

#include <functional>

#include <test/support/loop_test.hpp>

using namespace support;

BOOST_AUTO_TEST_SUITE(law02_one_batch)

REACTOR_LOOP_TEST(an_iteration_polls_once_and_runs_what_was_ready_then) {
    const std::size_t waits = loop.selector().waits();
    for (int i = 0; i < 10; ++i) loop.call_soon([this] { loop.call_soon(say("next")); });
    loop.run_iterations(1);
    BOOST_TEST(loop.selector().waits() == waits + 1);
    BOOST_TEST(heard() == "");
    BOOST_TEST(loop.ready_count() == 10u);
    loop.run_iterations(1);
    BOOST_TEST(loop.selector().waits() == waits + 2);
    BOOST_TEST(loop.ready_count() == 0u);
}

REACTOR_LOOP_TEST(L_05_an_endless_chain_of_call_soon_starves_nobody) {
    SocketPair pair;
    pair.send();
    loop.add_reader(pair.mine, [this, &pair] {
        say("reader")();
        pair.receive();
    });
    loop.call_later(milliseconds(10), say("timer"));
    int rounds = 0;
    std::function<void()> again = [this, &again, &rounds] {
        ++rounds;
        loop.clock().advance(milliseconds(1));
        if (rounds < 100) loop.call_soon(again);
    };
    loop.call_soon(again);
    loop.run_iterations(2);
    BOOST_TEST(heard() == "reader");
    BOOST_TEST(rounds == 2);
    loop.run_iterations(9);
    BOOST_TEST(heard() == "timer");  // after ten rounds of a millisecond
    loop.run_until_idle();
    BOOST_TEST(rounds == 100);
    loop.remove_reader(pair.mine);
}

REACTOR_LOOP_TEST(A1_a_zero_delay_timer_that_rearms_itself_starves_nobody) {
    SocketPair pair;
    pair.send();
    int runs = 0;
    int runs_before_reader = -1;
    loop.add_reader(pair.mine, [&] {
        pair.receive();
        runs_before_reader = runs;
    });
    bool fired = false;
    const reactor::TimePoint due = loop.time() + milliseconds(50);
    loop.call_later(milliseconds(50), [&] {
        fired = true;
        BOOST_TEST((loop.time() == due));
    });
    std::function<void()> again = [&] {
        ++runs;
        loop.clock().advance(milliseconds(1));
        if (!fired) loop.call_later(milliseconds(0), again);
    };
    loop.call_later(milliseconds(0), again);
    loop.run_until_idle();
    BOOST_TEST(runs_before_reader >= 0);
    BOOST_TEST(runs_before_reader <= 3);
    BOOST_TEST(fired);
    BOOST_TEST(runs == 51);
    loop.remove_reader(pair.mine);
}

REACTOR_LOOP_TEST(L_07_overdue_timers_run_by_deadline) {
    loop.call_later(seconds(-1), say("a"));
    loop.call_later(seconds(-2), say("b"));
    loop.run_iterations(1);
    BOOST_TEST(heard() == "b a");
}

REACTOR_LOOP_TEST(L_08_a_timer_that_becomes_due_during_a_batch_belongs_to_the_next) {
    loop.call_later(milliseconds(0), [this] {
        say("A")();
        loop.call_soon(say("S"));
        loop.clock().advance(milliseconds(30));
    });
    loop.call_later(milliseconds(10), say("B"));
    loop.run_iterations(1);
    BOOST_TEST(heard() == "A");
    loop.run_iterations(1);
    BOOST_TEST(heard() == "S B");
}

REACTOR_LOOP_TEST(A3_equal_deadlines_fire_in_the_order_they_were_set) {
    const reactor::TimePoint when = loop.time() + seconds(1);
    std::vector<int> fired;
    std::vector<int> expected;
    std::vector<reactor::TimerHandle> handles;
    for (int i = 0; i < 300; ++i) {
        handles.push_back(loop.call_at(when, [&fired, i] { fired.push_back(i); }));
    }
    for (int i = 0; i < 300; ++i) {
        if (i % 3 == 0) {
            handles[static_cast<std::size_t>(i)].cancel();
        } else {
            expected.push_back(i);
        }
    }
    loop.call_soon([&] {
        for (int i = 300; i < 400; ++i) {
            loop.call_at(when, [&fired, i] { fired.push_back(i); });
            expected.push_back(i);
        }
    });
    loop.run_for(seconds(1));
    BOOST_TEST(fired == expected, boost::test_tools::per_element());
}

REACTOR_LOOP_TEST(L_13_stop_keeps_what_the_batch_queued) {
    loop.call_soon([this] {
        say("A")();
        loop.call_soon(say("A2"));
        loop.stop();
    });
    loop.call_soon([this] {
        say("B")();
        loop.call_soon(say("B2"));
    });
    loop.run_forever();
    BOOST_TEST(heard() == "A B");
    loop.call_soon([this] {
        say("C")();
        loop.stop();
    });
    loop.run_forever();
    BOOST_TEST(heard() == "A2 B2 C");
}

REACTOR_LOOP_TEST(L_14_a_stop_before_the_run_ends_it_after_one_iteration) {
    loop.call_soon([this] {
        say("A")();
        loop.call_soon(say("A2"));
    });
    loop.call_later(seconds(0), say("T"));
    const reactor::TimerHandle far = loop.call_later(hours(1), say("far"));
    const std::size_t waits = loop.selector().waits();
    const reactor::TimePoint before = loop.time();
    loop.stop();
    loop.run_forever();
    BOOST_TEST(heard() == "A T");
    BOOST_TEST(loop.selector().waits() == waits + 1);  // it polls once and does not block
    BOOST_TEST((loop.time() == before));
    reactor::Handle(far).cancel();
    loop.call_soon([this] { loop.stop(); });
    loop.run_forever();  // the early stop is used up: this one is needed
    BOOST_TEST(heard() == "A2");
}

REACTOR_LOOP_TEST(stop_threadsafe_ends_the_run_from_another_thread) {
    loop.selector().set_patience(seconds(60));
    std::thread stopper([this] { loop.stop_threadsafe(); });
    loop.run_forever();
    stopper.join();
    loop.stop_threadsafe();  // before the run: after its first iteration
    loop.call_soon(say("once"));
    loop.run_forever();
    BOOST_TEST(heard() == "once");
}

REACTOR_LOOP_TEST(IO_01_readiness_is_level_triggered_once_per_iteration) {
    SocketPair pair;
    pair.send("abc");
    loop.add_reader(pair.mine, [this, &pair] { say(pair.receive(1))(); });
    loop.run_iterations(1);
    BOOST_TEST(heard() == "a");
    loop.run_iterations(1);
    BOOST_TEST(heard() == "b");
    loop.run_iterations(1);
    BOOST_TEST(heard() == "c");
    loop.run_iterations(1);
    BOOST_TEST(heard() == "");
    loop.remove_reader(pair.mine);
}

BOOST_AUTO_TEST_SUITE_END()
