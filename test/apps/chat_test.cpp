// SPDX-License-Identifier: BSL-1.0
#include "chat.hpp"

#include <test/support/temporary_directory.hpp>

using namespace chat_test;

BOOST_AUTO_TEST_SUITE(chat_app)

BOOST_AUTO_TEST_CASE(what_one_says_all_others_hear_over_every_kind_of_address) {
    const support::TemporaryDirectory directory;
    const std::string path = directory / "chat.sock";
    Strings arguments = {"--listen", "127.0.0.1:0",
                         "--listen", "unix:" + path,
                         "--listen", "unix:@chat-test-" + std::to_string(::getpid())};
    if (plain::has_ipv6()) arguments.insert(arguments.end(), {"--listen", "[::1]:0"});
    Room room(arguments);
    BOOST_TEST_REQUIRE(room.addresses().size() == arguments.size() / 2);
    std::vector<std::unique_ptr<Member>> members;
    for (std::size_t i = 0; i < room.addresses().size(); ++i) {
        members.emplace_back(new Member(room.address(i), "m" + std::to_string(i)));
        for (std::size_t k = 0; k < i; ++k) {
            const std::string number = std::to_string(i);
            BOOST_TEST(members[k]->line() ==
                       "* guest-" + std::to_string(i + 1) + " is m" + number + " now");
        }
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
        members[i]->say("hello from " + room.address(i));
        members[i]->say("\xc3\xa4nd\tmore");
        for (std::size_t k = 0; k < members.size(); ++k) {
            if (k == i) continue;
            const std::string name = "m" + std::to_string(i) + ": ";
            BOOST_TEST(members[k]->line() == name + "hello from " + room.address(i));
            BOOST_TEST(members[k]->line() == name + "\xc3\xa4nd\tmore");
        }
        members[i]->settle();
    }
    const Exit exit = room.stop();
    const Summary summary(exit);
    BOOST_TEST(summary.joined == members.size());
    BOOST_TEST(summary.told == members.size());
    BOOST_TEST(summary.lines == 2 * members.size());
    BOOST_TEST(summary.dropped + summary.cut_off + summary.turned_away + summary.refused == 0u);
    BOOST_TEST(exit.err == "");
    // The file of the socket goes with the room.
    BOOST_TEST(::access(path.c_str(), F_OK) != 0);
}

BOOST_AUTO_TEST_CASE(names_lines_in_pieces_and_goodbye) {
    Room room({});
    BOOST_TEST(room.address().compare(0, 10, "127.0.0.1:") == 0);
    Member ann(room.address(), "ann"), guest(room.address());
    BOOST_TEST(contains(guest.line(), "* you are guest-2, one of 2 here;"));
    for (const char c : std::string("in pieces\r\n\n\r\nand two lin")) {
        ann.socket().send(std::string(1, c));
    }
    ann.socket().send("es\nat once\n");
    BOOST_TEST(guest.line() == "ann: in pieces");
    BOOST_TEST(guest.line() == "ann: and two lines");
    BOOST_TEST(guest.line() == "ann: at once");
    // In order, also with a name in between.
    ann.socket().send("one\n/name Ann.2\ntwo\n/quit\nnever said\n");
    BOOST_TEST(ann.line() == "* you are Ann.2 now");
    BOOST_TEST(ann.line() == "* goodbye, Ann.2");
    BOOST_TEST(ann.at_end());
    BOOST_TEST(guest.line() == "ann: one");
    BOOST_TEST(guest.line() == "* ann is Ann.2 now");
    BOOST_TEST(guest.line() == "Ann.2: two");
    guest.say("/who");
    BOOST_TEST(guest.line() == "* you are guest-2, one of 1 here");
    // Both names are to be had again.
    Member other(room.address(), "ann");
    other.say("/name Ann.2");
    BOOST_TEST(other.line() == "* you are Ann.2 now");
    BOOST_TEST(Summary(room.stop()).lines == 5u);
}

BOOST_AUTO_TEST_CASE(who_comes_when_the_room_is_full_is_told_and_may_come_later) {
    Room room({"--members", "2"});
    Member first(room.address(), "first");
    Member second(room.address(), "second");
    BOOST_TEST(first.line() == "* guest-2 is second now");
    Member third(room.address());
    third.socket().send("what I have to say is");
    BOOST_TEST(third.line() == "! the room is full: 2 members are here");
    BOOST_TEST(third.at_end());
    second.say("/quit");
    BOOST_TEST(second.line() == "* goodbye, second");
    BOOST_TEST(second.at_end());
    Member fourth(room.address(), "second");
    const Summary summary(room.stop());
    BOOST_TEST(summary.joined == 3u);
    BOOST_TEST(summary.turned_away == 1u);
}

BOOST_AUTO_TEST_CASE(sockets_that_are_handed_over) {
    // What systemd does: LISTEN_PID is the program's own, the socket is 3.
    const plain::Listener listener;
    const int inherited = ::dup(listener.fd());
    const std::string script =
        "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\" serve 3<&" + std::to_string(inherited);
    support::ChildProcess process{
        support::Command({"bash", "-c", script, programs::path_of("chat")})};
    ::close(inherited);
    BOOST_TEST_REQUIRE(process.wait_for_output("\n"));
    BOOST_TEST(process.output() == listener.address() + "\n");
    Member member(listener.address(), "ann");
    process.send_signal(SIGTERM);
    BOOST_TEST(Summary(process.wait()).told == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
