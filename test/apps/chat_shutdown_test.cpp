// SPDX-License-Identifier: BSL-1.0
#include "chat.hpp"

using namespace chat_test;

BOOST_AUTO_TEST_SUITE(chat_shutdown)

BOOST_AUTO_TEST_CASE(everybody_is_told_and_nothing_that_was_said_is_lost) {
    for (const int signal : {SIGTERM, SIGINT}) {
        Room room({"--grace", "60"});
        Member ann(room.address(), "ann"), bob(room.address(), "bob");
        BOOST_TEST(ann.line() == "* guest-2 is bob now");
        ann.say("last words");
        ann.settle();
        room.process().send_signal(signal);
        BOOST_TEST(ann.line() == "* the room is closed: goodbye");
        BOOST_TEST(ann.at_end());
        BOOST_TEST(bob.line() == "ann: last words");
        BOOST_TEST(bob.line() == "* the room is closed: goodbye");
        BOOST_TEST(bob.at_end());
        const Exit exit = room.process().wait();
        const Summary summary(exit);
        BOOST_TEST(summary.told == 2u, exit.text());
        BOOST_TEST(summary.cut_off == 0u, exit.text());
        BOOST_TEST(contains(exit.out, "Ending: 2 members are here\n"), exit.text());
        BOOST_TEST(lines_in(exit.out) == 3u, exit.text());
        BOOST_TEST(exit.err == "");
        BOOST_TEST(plain::refuses(room.address()));
    }
}

/// A room with a member that does not read, and for whom something waits.
struct Stuck {
    explicit Stuck(const std::string& grace)
        : room({"--grace", grace, "--stall", "1000", "--line", "10000", "--rate", "1000000000"}),
          speaker(room.address(), "speaker"),
          stuck(room.address(), "stuck") {
        BOOST_TEST(speaker.line() == "* guest-2 is stuck now");
        // More than fits on the way.
        for (int i = 0; i < 500; ++i) speaker.say(std::string(9000, 'x'));
        speaker.settle();
    }

    Room room;
    Member speaker, stuck;
};

BOOST_AUTO_TEST_CASE(who_does_not_take_the_last_words_is_cut_off_after_the_grace) {
    Stuck stuck("0.1");
    const Exit exit = stuck.room.stop();
    const Summary summary(exit);
    BOOST_TEST(summary.told == 1u, exit.text());
    BOOST_TEST(summary.cut_off == 1u, exit.text());
    BOOST_TEST(stuck.speaker.line() == "* the room is closed: goodbye");
    BOOST_TEST(stuck.stuck.socket().error_at_end() == ECONNRESET);
}

BOOST_AUTO_TEST_CASE(a_second_signal_does_not_wait) {
    for (const int second : {SIGTERM, SIGINT}) {
        Stuck stuck("1000");
        stuck.room.process().send_signal(SIGTERM);
        BOOST_TEST(stuck.speaker.line() == "* the room is closed: goodbye");
        BOOST_TEST(stuck.speaker.at_end());
        stuck.room.process().send_signal(second);
        const Exit exit = stuck.room.process().wait();
        BOOST_TEST(Summary(exit).cut_off == 1u, exit.text());
        BOOST_TEST(stuck.stuck.socket().error_at_end() == ECONNRESET);
    }
}

BOOST_AUTO_TEST_CASE(it_says_goodbye_even_if_nobody_reads_what_the_server_prints) {
    Room room({"--grace", "60"});
    Member ann(room.address(), "ann");
    room.process().close_output();
    const Exit exit = room.stop();
    BOOST_TEST(ann.line() == "* the room is closed: goodbye");
    BOOST_TEST(exit.status == 0, exit.text());
}

BOOST_AUTO_TEST_CASE(an_empty_room_ends_at_once) {
    Room room({"--grace", "1000"});
    const Summary summary(room.stop());
    BOOST_TEST(summary.told + summary.cut_off + summary.joined == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
