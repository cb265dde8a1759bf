// SPDX-License-Identifier: BSL-1.0
#include "chat.hpp"

#include <sys/socket.h>

using namespace chat_test;

BOOST_AUTO_TEST_SUITE(chat_faults)

BOOST_AUTO_TEST_CASE(bad_lines_are_answered_and_nobody_else_hears_of_them) {
    Room room({"--line", "20"});
    Member bad(room.address(), "bad"), good(room.address(), "good");
    BOOST_TEST(bad.line() == "* guest-2 is good now");
    const std::string name_rule = "! a name is 1 to 32 letters, digits, '-', '_' and '.'";
    const std::pair<std::string, std::string> cases[] = {
        {"/nonsense", "! no such command: there are /name NAME, /who and /quit"},
        {"/", "! no such command: there are /name NAME, /who and /quit"},
        {"/name", name_rule},
        {"/name ", name_rule},
        {"/name two words", name_rule},
        {"/name *", name_rule},
        {"/name good", "! the name good is taken"},
        {"/name guest-1", "* you are guest-1 now"},
        {"a\x1b[2J", "! not said: U+001B in it is a control character"},
        {std::string("a\0b", 3), "! not said: U+0000 in it is a control character"},
        {"del\x7f", "! not said: U+007F in it is a control character"},
        {"\xc2\x9b"
         "2J",
         "! not said: U+009B in it is a control character"},
        {"\x9b"
         "2J",
         "! not said: the byte 0x9b in it is not UTF-8"},
        {"cut \xe2\x82", "! not said: the byte 0xe2 in it is not UTF-8"},
        {"long \xc0\xaf", "! not said: the byte 0xc0 in it is not UTF-8"},
        {"half \xed\xa0\x80", "! not said: the byte 0xed in it is not UTF-8"},
        {"far \xf4\x90\x80\x80", "! not said: the byte 0xf4 in it is not UTF-8"},
        {std::string(21, 'x'), "! not said: longer than 20 bytes"},
        {std::string(22, 'x'), "! not said: longer than 20 bytes"},
        {std::string(1000000, 'x'), "! not said: longer than 20 bytes"},
    };
    for (const auto& one : cases) {
        bad.say(one.first);
        BOOST_TEST(bad.line() == one.second);
    }
    bad.say(std::string(20, 'y') + '\r');
    bad.say("\t\xc2\xa3 \xe2\x82\xac \xf0\x9f\x98\x80");
    BOOST_TEST(good.line() == "* bad is guest-1 now");
    BOOST_TEST(good.line() == "guest-1: " + std::string(20, 'y'));
    BOOST_TEST(good.line() == "guest-1: \t\xc2\xa3 \xe2\x82\xac \xf0\x9f\x98\x80");
    const Summary summary(room.stop());
    BOOST_TEST(summary.refused == 19u);
    BOOST_TEST(summary.lines == 2u);
    BOOST_TEST(summary.dropped == 0u);
}

BOOST_AUTO_TEST_CASE(a_name_that_is_too_long) {
    Room room({});
    Member member(room.address(), std::string(32, 'n'));
    member.say("/name " + std::string(33, 'n'));
    BOOST_TEST(contains(member.line(), "! a name is 1 to 32 "));
}

BOOST_AUTO_TEST_CASE(a_line_without_an_end_is_not_said) {
    Room room({});
    Member half(room.address(), "half"), other(room.address(), "other");
    BOOST_TEST(half.line() == "* guest-2 is other now");
    half.socket().send("whole\nhalf a");
    half.socket().end_sending();
    BOOST_TEST(half.line() == "! your last line has no end: not said");
    BOOST_TEST(half.at_end());
    BOOST_TEST(other.line() == "half: whole");
    Member reset(room.address(), "reset");
    BOOST_TEST(other.line() == "* guest-3 is reset now");
    reset.socket().send("cut o");
    reset.socket().reset();
    Member last(room.address(), "last");
    BOOST_TEST(other.line() == "* guest-4 is last now");
    last.say("still here");
    BOOST_TEST(other.line() == "last: still here");
}

BOOST_AUTO_TEST_CASE(a_member_that_does_not_read_is_dropped_with_a_word_in_the_log) {
    Room room({"--queue", "1000", "--stall", "0.2", "--line", "10000"});
    Member speaker(room.address(), "speaker"), stalled(room.address(), "stalled"),
        reader(room.address(), "reader");
    BOOST_TEST(speaker.line() == "* guest-2 is stalled now");
    BOOST_TEST(speaker.line() == "* guest-3 is reader now");
    BOOST_TEST(stalled.line() == "* guest-3 is reader now");
    const std::string text(10000, 'x');
    int lines = 0;
    for (bool dropped = false; !dropped && lines < 10000; ++lines) {
        speaker.say(text);
        BOOST_TEST_REQUIRE((reader.line() == "speaker: " + text));
        speaker.say("/who");
        dropped = contains(speaker.line(), "one of 2 here");
    }
    // The name can be had again.
    Member again(room.address(), "stalled");
    const Exit exit = room.stop();
    const Summary summary(exit);
    BOOST_TEST(summary.dropped == 1u);
    BOOST_TEST(summary.told == 3u);
    BOOST_TEST(summary.lines == static_cast<unsigned>(lines));
    BOOST_TEST(lines_in(exit.err) == 1u, exit.text());
    BOOST_TEST(contains(exit.err, "member stalled at 127.0.0.1:"), exit.text());
    BOOST_TEST(contains(exit.err, " bytes wait, and it has been behind for 0.2 s"), exit.text());
    BOOST_TEST(stalled.socket().error_at_end() == ECONNRESET);
}

BOOST_AUTO_TEST_CASE(more_than_the_most_is_too_much_at_once) {
    Room room({"--queue", "1000", "--stall", "1000", "--most", "100000", "--line", "10000",
               "--rate", "1000000000"});
    Member speaker(room.address(), "speaker"), stalled(room.address(), "stalled");
    BOOST_TEST(speaker.line() == "* guest-2 is stalled now");
    const std::string text(10000, 'x');
    for (int i = 0; i < 10000; ++i) {
        speaker.say(text);
        speaker.say("/who");
        if (contains(speaker.line(), "one of 1 here")) break;
    }
    const Exit exit = room.stop();
    BOOST_TEST(Summary(exit).dropped == 1u);
    BOOST_TEST(contains(exit.err, "more than 100000 bytes waited"), exit.text());
}

BOOST_AUTO_TEST_CASE(a_member_that_is_behind_and_reads_again_has_lost_nothing) {
    Room room({"--queue", "1000", "--stall", "1000", "--line", "10000", "--rate", "1000000000"});
    Member speaker(room.address(), "speaker"), late(room.address(), "late");
    BOOST_TEST(speaker.line() == "* guest-2 is late now");
    const int lines = 300;  // more than fits on the way
    for (int i = 0; i < lines; ++i) speaker.say(std::to_string(i) + std::string(9000, 'x'));
    speaker.settle();
    for (int i = 0; i < lines; ++i) {
        BOOST_TEST_REQUIRE(
            (late.line() == "speaker: " + std::to_string(i) + std::string(9000, 'x')));
    }
    late.settle();
    BOOST_TEST(Summary(room.stop()).dropped == 0u);
}

BOOST_AUTO_TEST_CASE(who_says_more_than_the_rate_is_heard_later) {
    Room room({"--rate", "10"});
    Member fast(room.address(), "fast"), other(room.address(), "other");
    // "/name fast" and its answer have cost more than a second already.
    const std::size_t offered = 64 * 1024 * 1024;
    const std::size_t sent = fast.socket().send_until_full(std::string(65535, 'x') + '\n', offered);
    BOOST_TEST(sent < offered);
    const Exit exit = room.stop();
    BOOST_TEST(Summary(exit).told == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
