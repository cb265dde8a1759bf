// SPDX-License-Identifier: BSL-1.0
#include <reactor/event_loop.hpp>

#include <boost/test/unit_test.hpp>

#include <test/support/loop_test.hpp>

using namespace support;

BOOST_AUTO_TEST_SUITE(law01_one_queue)

REACTOR_LOOP_TEST(L_01_callbacks_run_in_the_order_of_call_soon) {
    const Say f1 = say("f1");
    loop.call_soon(f1);
    loop.call_soon(say("f2"));
    loop.call_soon(f1);
    loop.call_soon(say("f3"));
    loop.run_iterations(1);
    BOOST_TEST(heard() == "f1 f2 f1 f3");
}

REACTOR_LOOP_TEST(L_02_what_a_callback_queues_runs_in_the_next_iteration) {
    loop.call_soon([this] {
        say("A")();
        loop.call_soon(say("A2"));
    });
    loop.call_soon(say("B"));
    loop.run_iterations(1);
    BOOST_TEST(heard() == "A B");
    loop.run_iterations(1);
    BOOST_TEST(heard() == "A2");
}

REACTOR_LOOP_TEST(L_03_queued_then_descriptors_then_timers_in_one_iteration) {
    SocketPair pair;
    pair.send();
    loop.call_later(milliseconds(0), say("timer"));
    loop.add_reader(pair.mine, say("reader"));
    loop.call_soon(say("soon"));
    loop.run_iterations(1);
    BOOST_TEST(heard() == "soon reader timer");
    loop.remove_reader(pair.mine);
}

REACTOR_LOOP_TEST(L_04_a_zero_delay_comes_after_call_soon_and_descriptors) {
    SocketPair pair;
    loop.add_reader(pair.mine, say("reader"));
    loop.call_soon([this, &pair] {
        say("A")();
        pair.send();
        loop.call_later(milliseconds(0), say("T"));
        loop.call_soon(say("S"));
    });
    loop.call_soon(say("B"));
    loop.run_iterations(1);
    BOOST_TEST(heard() == "A B");
    loop.run_iterations(1);
    BOOST_TEST(heard() == "S reader T");
    loop.remove_reader(pair.mine);
}

REACTOR_LOOP_TEST(posts_come_after_what_was_queued_and_before_descriptors) {
    SocketPair pair;
    pair.send();
    loop.add_reader(pair.mine, say("reader"));
    loop.call_later(milliseconds(0), say("timer"));
    loop.call_soon(say("soon"));
    on_another_thread([this] {
        loop.call_soon_threadsafe(say("post 1"));
        loop.call_soon_threadsafe(say("post 2"));
    });
    loop.run_iterations(1);
    BOOST_TEST(heard() == "soon post 1 post 2 reader timer");
    loop.remove_reader(pair.mine);
}

REACTOR_LOOP_TEST(a_post_that_waits_makes_the_poll_not_wait) {
    loop.call_later(hours(1), say("timer")).cancel();
    const auto far = loop.call_later(hours(1), say("timer"));
    on_another_thread([this] { loop.call_soon_threadsafe(say("post")); });
    const reactor::TimePoint before = loop.time();
    loop.run_once();
    BOOST_TEST(heard() == "post");
    BOOST_TEST((loop.time() == before));
    reactor::Handle(far).cancel();
}

REACTOR_LOOP_TEST(TH_02_call_soon_and_call_soon_threadsafe_share_one_queue) {
    loop.call_soon_threadsafe(say("a"));
    loop.call_soon(say("b"));
    loop.call_soon_threadsafe(say("c"));
    BOOST_TEST(loop.ready_count() == 3u);
    loop.run_iterations(1);
    BOOST_TEST(heard() == "a b c");

    // Inside a callback too: appended, not posted.
    loop.call_soon([this] {
        loop.call_soon_threadsafe(say("d"));
        loop.call_soon(say("e"));
        loop.call_soon_threadsafe(say("f"));
    });
    loop.run_iterations(2);
    BOOST_TEST(heard() == "d e f");
}

REACTOR_LOOP_TEST(nothing_is_called_inside_the_call_that_caused_it) {
    SocketPair pair;
    pair.send();
    bool inside = false;
    const auto notice = [this, &inside] {
        BOOST_TEST(!inside);
        say("ran")();
    };
    const auto register_all = [&] {
        inside = true;
        loop.call_soon(notice);
        loop.call_later(milliseconds(-1), notice);
        loop.add_reader(pair.mine, notice);
        loop.add_writer(pair.mine, notice);
        loop.call_soon_threadsafe(notice);
        loop.poster().post(notice);
        loop.add_reader(pair.mine, notice).cancel();
        inside = false;
    };
    register_all();
    BOOST_TEST(heard() == "");
    loop.run_iterations(1);
    BOOST_TEST(heard() == "ran ran ran ran ran");
    loop.call_soon(register_all);
    loop.run_iterations(1);
    loop.remove_writer(pair.mine);
    BOOST_TEST(heard() == "");  // the writer of before was replaced; the others have the next turn
    loop.run_iterations(1);
    BOOST_TEST(heard() == "ran ran ran ran");
}

REACTOR_LOOP_TEST(TH_02_the_posts_of_one_thread_keep_their_order) {
    std::string expected;
    for (int i = 0; i < 100; ++i) expected += (i ? " " : "") + std::to_string(i);
    const reactor::Poster poster = loop.poster();
    on_another_thread([this, &poster] {
        for (int i = 0; i < 100; i += 2) {
            loop.call_soon_threadsafe(say(std::to_string(i)));
            BOOST_TEST(poster.post(say(std::to_string(i + 1))));
        }
    });
    loop.run_iterations(1);
    BOOST_TEST(heard() == expected);
}

BOOST_AUTO_TEST_SUITE_END()
