// SPDX-License-Identifier: BSL-1.0
#include "chat.hpp"

#include <test/support/http_peer.hpp>
#include <test/support/temporary_directory.hpp>

#include <algorithm>
#include <thread>

#include <sys/resource.h>

using namespace chat_test;

namespace {

/// What the speaker will say after its first line: it begins one character later, and has the next
/// number.
std::string line_after(const std::string& first) {
    const std::string saying = "The quick brown fox jumps over the lazy dog, again and again. ";
    const std::size_t words = first.find(saying.substr(0, 10));
    if (words == std::string::npos) return "no line of a load\n";
    std::string next = first.substr(0, words - 2);
    next += "1 ";
    next += (saying + saying).substr(1, first.size() - 1 - words);
    next += '\n';
    return next;
}

/// A room that is not ours: welcomes three members and answers one's line to one of the others.
Exit load_at(const std::string& answer) {
    plain::Listener listener;
    std::thread room([&listener, &answer] {
        plain::Socket members[] = {listener.accept(), listener.accept(), listener.accept()};
        for (plain::Socket& member : members) member.send("* welcome\n");
        // Who of them is the speaker is not known.
        ::pollfd all[3];
        for (int i = 0; i < 3; ++i) all[i] = {members[i].fd(), POLLIN, 0};
        ::poll(all, 3, 20000);
        const int spoke = all[0].revents != 0 ? 0 : all[1].revents != 0 ? 1 : 2;
        plain::Socket& speaker = members[spoke];
        plain::Socket& listening = members[(spoke + 1) % 3];
        std::string line;
        for (std::string c; line.empty() || line.back() != '\n'; line += c) c = speaker.read(1);
        if (answer == "to itself") {
            speaker.send("x: " + line);
        } else if (answer == "changed") {
            line[line.size() - 2] = '?';
            listening.send("x: " + line);
        } else if (answer == "twice") {
            listening.send("x: " + line + "x: " + line);
        } else if (answer == "next") {
            listening.send("x: " + line);
            listening.send("x: " + line_after(line));
        } else if (answer == "end") {
            listening.end_sending();
        } else {
            listening.send(answer);
        }
        speaker.error_at_end();
    });
    const Exit exit =
        load({listener.address(), "--members", "3", "--lines", "2", "--timeout", "1"});
    room.join();
    return exit;
}

void check_fault(const std::string& answer, const std::string& part) {
    const Exit exit = load_at(answer);
    BOOST_TEST(exit.status == 1, exit.text());
    BOOST_TEST(contains(exit.err, part), exit.text());
    BOOST_TEST(contains(exit.out, "Total: 3 of 3 members joined"), exit.text());
    BOOST_TEST(lines_in(exit.err) == 1u, exit.text());
}

/// So many members as there are descriptors for, on either side.
std::size_t as_many_as_fit(std::size_t wanted) {
    ::rlimit limit;
    BOOST_REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    const std::size_t most =
        limit.rlim_max > 264 ? static_cast<std::size_t>(limit.rlim_max) - 64 : 200;
    if (most < wanted) {
        BOOST_TEST_MESSAGE("only " << most << " members instead of " << wanted
                                   << ": the limit of descriptors is " << limit.rlim_max);
    }
    return std::min(wanted, most);
}

void check_crowd(const std::string& listen) {
    const std::size_t members = as_many_as_fit(2000);
    Room room({"--listen", listen, "--queue", "4096", "--stall", "2", "--line", "10000"});
    const Exit exit =
        load({room.address(), "--members", std::to_string(members), "--stalled", "10", "--speakers",
              "5", "--lines", "8", "--size", "8000", "--timeout", "90"});
    const std::string all = std::to_string(members);
    BOOST_TEST(exit.status == 0, exit.text());
    BOOST_TEST(contains(exit.out, "Total: " + all + " of " + all +
                                      " members joined, "
                                      "10 of 10 stalled ones were dropped, 40 of 40 lines"),
               exit.text());
    BOOST_TEST(number_before("deliveries", exit.out) == 40 * (members - 11), exit.text());
    BOOST_TEST(exit.err == "");
    const Exit ended = room.stop();
    const Summary summary(ended);
    BOOST_TEST(summary.joined == members);
    BOOST_TEST(summary.dropped == 10u, ended.text());
    BOOST_TEST(summary.lines == 40u);
    BOOST_TEST(lines_in(ended.err) == 10u, ended.text());
    BOOST_TEST(contains(ended.err, "bytes wait, and it has been behind for 2 s"), ended.text());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(chat_load)

BOOST_AUTO_TEST_CASE(two_thousand_members_of_which_ten_stall_over_tcp) {
    check_crowd("127.0.0.1:0");
}

BOOST_AUTO_TEST_CASE(two_thousand_members_of_which_ten_stall_over_a_unix_path) {
    const support::TemporaryDirectory directory;
    check_crowd("unix:" + (directory / "chat.sock"));
}

BOOST_AUTO_TEST_CASE(a_small_crowd_says_a_lot) {
    Room room({"--rate", "1000000000"});
    const Exit exit = load({room.address(), "--members", "20", "--speakers", "20", "--lines", "200",
                            "--pipeline", "20"});
    BOOST_TEST(exit.status == 0, exit.text());
    BOOST_TEST(number_before("deliveries", exit.out) == 20u * 200 * 19, exit.text());
    BOOST_TEST(Summary(room.stop()).lines == 4000u);
}

BOOST_AUTO_TEST_CASE(a_room_that_drops_nobody_is_not_well) {
    Room room({"--stall", "1000"});
    const Exit exit = load({room.address(), "--stalled", "2", "--timeout", "0.5"});
    BOOST_TEST(exit.status == 1, exit.text());
    BOOST_TEST(contains(exit.err, "0 of 2 stalled members had been dropped"), exit.text());
    BOOST_TEST(contains(exit.out, "10 of 10 lines came to all others"), exit.text());
}

BOOST_AUTO_TEST_CASE(a_room_that_is_full_or_not_there) {
    Room room({"--members", "5"});
    Exit exit = load({room.address(), "--members", "6"});
    BOOST_TEST(exit.status == 1, exit.text());
    BOOST_TEST(contains(exit.err, "chat: the room says: the room is full: 5 members"), exit.text());
    const support::RefusingPort port;
    exit = load({"127.0.0.1:" + std::to_string(port.port())});
    BOOST_TEST(exit.status == 1, exit.text());
    BOOST_TEST(contains(exit.err, "Connection refused"), exit.text());
    BOOST_TEST(contains(exit.out, "0 of 10 members joined"), exit.text());
}

BOOST_AUTO_TEST_CASE(what_a_room_does_wrong_is_noticed) {
    check_fault("to itself", "a member has heard itself");
    check_fault("changed", "a line is missing, comes twice, or is not what was said");
    check_fault("twice", "a line is missing, comes twice, or is not what was said");
    check_fault("next", "a line came before it was said");
    check_fault("end", "the room has ended the connection");
    check_fault("! go away\n", "the room says: go away");
    check_fault("x: of somebody else\n", "not all lines had come to everybody");
    check_fault(std::string(5000, 'x'), "a line is longer than any that was said");
}

BOOST_AUTO_TEST_CASE(a_signal_ends_it_with_its_figures) {
    for (const int signal : {SIGINT, SIGTERM}) {
        plain::Listener silent;
        support::ChildProcess process(
            command("chat", {"load", silent.address(), "--members", "2", "--timeout", "1000"}));
        const plain::Socket first = silent.accept(), second = silent.accept();
        process.send_signal(signal);
        const Exit exit = process.wait();
        BOOST_TEST(exit.status == 128 + signal, exit.text());
        BOOST_TEST(contains(exit.out, "Total: 0 of 2 members joined"), exit.text());
        BOOST_TEST(exit.err == "");
    }
}

BOOST_AUTO_TEST_SUITE_END()
