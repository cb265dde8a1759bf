// SPDX-License-Identifier: BSL-1.0
#include <reactor/event_loop.hpp>

#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <functional>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include <test/support/loop_test.hpp>
#include <test/support/refusal.hpp>

using namespace support;
using reactor::Handle;
using reactor::Options;

namespace {

/// Closes what the test has opened beside the pairs.
struct Descriptor {
    explicit Descriptor(int fd) : number(fd) { BOOST_REQUIRE(fd >= 0); }
    ~Descriptor() { ::close(number); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number;
};

/// Gives the pair's own descriptor another number, which must be free.
void move_to(SocketPair& pair, int number) {
    BOOST_REQUIRE(::fcntl(number, F_GETFD) == -1);
    BOOST_REQUIRE(::dup3(pair.mine, number, O_CLOEXEC) == number);
    ::close(pair.mine);
    pair.mine = number;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(law06_one_owner)

REACTOR_LOOP_TEST(a_reused_number_gets_its_own_events_only) {
    int number = -1;
    for (int round = 0; round < 200; ++round) {
        SocketPair pair;
        if (number >= 0 && pair.mine != number) continue;
        number = pair.mine;
        // The last owner's data are still under way when it goes.
        loop.add_reader(number, say(std::to_string(round)));
        if (round % 2 != 0) loop.add_writer(number, say("w"));
        loop.run_iterations(1);
        BOOST_TEST(heard() == (round % 2 != 0 ? "w" : ""));
        pair.send();
        BOOST_TEST(loop.remove_reader(number));
        BOOST_TEST(loop.remove_writer(number) == (round % 2 != 0));
        pair.close_mine();
        loop.run_iterations(1);
        BOOST_TEST(heard() == "");
    }
}

// The number is closed, but its file stays open in a duplicate: epoll keeps the registration, and
// no call can take it out any more.
REACTOR_LOOP_TEST(a_registration_that_cannot_be_removed_costs_two_events_at_most) {
    SocketPair other;
    SocketPair pair;
    const int number = pair.mine;
    const Descriptor duplicate(::fcntl(number, F_DUPFD_CLOEXEC, 100));
    loop.add_reader(other.mine, say("other"));
    loop.add_reader(number, say("gone"));
    pair.close_mine();
    BOOST_TEST(loop.remove_reader(number));
    pair.send();
    loop.run_iterations(3);
    BOOST_TEST(loop.selector().last_found() == 0u);  // no spin
    BOOST_TEST(heard() == "");
    // Who is registered still is.
    other.send();
    loop.run_iterations(1);
    BOOST_TEST(heard() == "other");
    // The number's next owner starts anew, also with such a past.
    SocketPair next;
    if (next.mine != number) move_to(next, number);
    loop.add_reader(number, say("next"));
    loop.run_iterations(1);
    other.receive();
    loop.run_iterations(1);
    heard();
    next.send();
    loop.run_iterations(1);
    BOOST_TEST(heard() == "next");
    loop.remove_reader(number);
    loop.remove_reader(other.mine);
}

REACTOR_LOOP_TEST(B1_an_event_of_the_predecessor_does_not_reach_the_owner) {
    SocketPair pair;
    const int number = pair.mine;
    const Descriptor duplicate(::fcntl(number, F_DUPFD_CLOEXEC, 100));
    loop.add_reader(number, say("predecessor"));
    pair.close_mine();
    loop.remove_reader(number);
    SocketPair next;
    if (next.mine != number) move_to(next, number);
    loop.add_reader(number, say("owner"));
    pair.send();  // to the duplicate
    loop.run_iterations(4);
    BOOST_TEST(heard() == "");
    BOOST_TEST(loop.selector().last_found() == 0u);
    next.send();
    loop.run_iterations(1);
    BOOST_TEST(heard() == "owner");
    loop.remove_reader(number);
}

REACTOR_LOOP_TEST(a_descriptor_closed_behind_our_back_is_named) {
    SocketPair pair;
    SocketPair other;
    const int number = pair.mine;
    loop.add_reader(number, say("closed"));
    loop.add_reader(other.mine, say("other"));
    loop.run_iterations(1);
    pair.close_mine();
    if (forgets_what_is_closed(loop.selector_name())) {
        loop.run_iterations(3);  // it has forgotten it silently
        loop.add_writer(number, say("closed"));
    }
    loop.run_iterations(1);
    const std::string report = expect_report("Descriptor " + std::to_string(number));
    BOOST_TEST(report.find("cannot be watched") != std::string::npos);
    BOOST_TEST(loop.watch_count() == 1u);
    other.send();
    loop.run_iterations(2);
    BOOST_TEST(heard() == "other other");
    BOOST_TEST(!loop.remove_reader(number));
    loop.remove_reader(other.mine);
}

REACTOR_LOOP_TEST(forget_descriptor_takes_out_every_watch_at_once) {
    SocketPair first;  // select(2) goes by number
    SocketPair pair;
    const int number = pair.mine;
    first.send();
    pair.send();
    BOOST_TEST(!loop.forget_descriptor(number));
    loop.add_reader(first.mine, [&] {
        loop.remove_reader(first.mine);
        BOOST_TEST(loop.forget_descriptor(number));  // in the batch already
        BOOST_TEST(!loop.forget_descriptor(number));
        pair.close_mine();
    });
    const Handle reader = loop.add_reader(number, say("reader"));
    loop.add_writer(number, say("writer"));
    loop.add_urgent_reader(number, say("urgent"));
    loop.run_iterations(3);
    BOOST_TEST(heard() == "");
    BOOST_TEST(reader.cancelled());
    BOOST_TEST(loop.watch_count() == 0u);
    BOOST_TEST(!loop.forget_descriptor(-1));
    BOOST_TEST(!loop.forget_descriptor(1000000));
}

REACTOR_LOOP_TEST(an_owned_descriptor_is_forgotten_before_it_is_closed) {
    const Options owned = Options().owned_descriptor();
    int number = -1;
    for (int round = 0; round < 50; ++round) {
        SocketPair pair;
        if (number >= 0 && pair.mine != number) continue;
        number = pair.mine;
        loop.add_reader(owned, number, say("read"));
        loop.run_iterations(1);
        loop.remove_reader(number);  // may linger in the selector
        pair.send();
        if (round % 2 != 0) loop.run_iterations(2);
        BOOST_TEST(!loop.forget_descriptor(number));
        pair.close_mine();
        loop.run_iterations(1);
        BOOST_TEST(loop.selector().last_found() == 0u);
    }
    BOOST_TEST(heard() == "");
}

REACTOR_LOOP_TEST(what_cannot_be_watched_is_refused_at_once_and_leaves_nothing) {
    SocketPair pair;
    const int closed = pair.mine;
    pair.close_mine();
    BOOST_TEST(code_of([&] { loop.add_reader(closed, say("never")); }) == EBADF);
    BOOST_TEST(code_of([&] { loop.add_writer(closed, say("never")); }) == EBADF);
    BOOST_TEST(code_of([&] { loop.add_reader(closed + 500, say("never")); }) == EBADF);
    BOOST_CHECK_THROW(loop.add_reader(-1, say("never")), std::invalid_argument);
    BOOST_TEST(loop.watch_count() == 0u);
    SocketPair next;
    BOOST_REQUIRE(next.mine == closed);
    loop.add_reader(closed, say("next"));
    next.send();
    loop.run_iterations(1);
    BOOST_TEST(heard() == "next");
    loop.remove_reader(closed);
}

BOOST_AUTO_TEST_SUITE_END()
