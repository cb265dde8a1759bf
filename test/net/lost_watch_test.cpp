// SPDX-License-Identifier: BSL-1.0
#include <net/socket.hpp>

#include "datagrams.hpp"
#include "processes.hpp"
#include "refused_streams.hpp"

#include <test/support/refusing_loop.hpp>

#include <cerrno>
#include <memory>
#include <tuple>

#include <fcntl.h>

using namespace datagrams;
using refused::check_next_read;
using refused::Streams;
using refused::text_of;
using support::begins;
using Refused = support::RefusingLoop;

// What waits with a descriptor that the loop lets go of would wait for ever: it fails, each with
// its own step. See refused_watch_test.cpp for those that are refused at once.

namespace {

template <class T>
bool fails_with_state_error(const Promise<T>& promise, const std::string& begin) {
    try {
        promise.result();
    } catch (const reactor::StateError& error) {
        return begins(error.what(), begin);
    } catch (...) {
    }
    return false;
}

std::string lost(int descriptor) {
    return ": descriptor " + std::to_string(descriptor) +
           " cannot be watched any more: Cannot allocate memory";
}

constexpr std::size_t large = 8 << 20;  // more than a socket takes

/// epoll says nothing of a descriptor that was closed behind its back.
using TellingSelectors = std::tuple<support::OnPoll, support::OnSelect>;

struct TestLoopOn : support::LoopTest {
    using support::LoopTest::LoopTest;
    /// Closes the number behind the loop's back; something else has it then.
    void steal_number(int number) {
        const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        ::close(number);
        loop.run_iterations(1);
        BOOST_TEST(expect_report("Descriptor " + std::to_string(number)) != "");
        BOOST_REQUIRE(::dup3(null, number, O_CLOEXEC) == number);
        ::close(null);
    }
};

bool is_open(int number) { return ::fcntl(number, F_GETFD) != -1; }

}  // namespace

BOOST_AUTO_TEST_SUITE(lost_watch)

// ---- refused by a selector that was made anew -----------------------------------------------

BOOST_AUTO_TEST_CASE(a_pending_read_fails_and_the_next_one_waits) {
    Refused r;
    Streams streams(r.loop);
    Socket& socket = streams.socket;
    const Promise<std::string> read = socket.read(100, seconds(60));
    r.make_anew_and_refuse();
    BOOST_TEST(text_of(read, ENOMEM) ==
               "read from a Unix socket without a name" + lost(socket.native_handle()));
    BOOST_TEST(r.loop.timer_count() == 0u);
    BOOST_TEST(r.loop.watch_count() == 0u);

    check_next_read(r, streams);
}

BOOST_AUTO_TEST_CASE(what_a_lost_read_all_has_read_is_for_the_next_read) {
    Refused r;
    Streams streams(r.loop);
    Socket& socket = streams.socket;
    const Promise<std::string> all = socket.read_all(100);
    BOOST_TEST(::write(streams.fds[1], "begun", 5) == 5);
    r.selector->play({{socket.native_handle(), reactor::Interest::read}});
    r.loop.run_once(reactor::Duration::zero());
    r.make_anew_and_refuse();
    BOOST_TEST(code_of(all) == ENOMEM);
    const Promise<std::string> next = socket.read();
    BOOST_TEST(next.result() == "begun");
}

BOOST_AUTO_TEST_CASE(a_pending_connect_fails_and_the_socket_can_try_again) {
    Refused r;
    const Listener listener(r.loop, any_port);
    const Endpoint to = listener.local_endpoint();
    Socket socket(r.loop);
    const Promise<void> connect = socket.connect(to, Endpoint("127.0.0.1", 0), seconds(60));
    const int number = socket.native_handle();
    r.make_anew_and_refuse();
    BOOST_TEST(text_of(connect, ENOMEM) ==
               "connect from 127.0.0.1:0 to " + to.str() + lost(number));
    BOOST_TEST(socket.native_handle() == -1);
    BOOST_TEST(!is_open(number));
    BOOST_TEST(r.loop.timer_count() == 0u);
    BOOST_TEST(r.loop.watch_count() == 0u);

    const Promise<void> again = socket.connect(to);
    r.selector->play({{socket.native_handle(), reactor::Interest::write}});
    r.loop.run_until_complete(again);
    BOOST_TEST(socket.is_connected());
}

BOOST_AUTO_TEST_CASE(everything_that_waits_with_a_socket_fails) {
    Refused r;
    Streams streams(r.loop);
    Socket& socket = streams.socket;
    const Promise<std::string> read = socket.read(100, seconds(60));
    const Promise<void> first = socket.send(std::string(large, 's'), seconds(60));
    const Promise<void> second = socket.send("more", seconds(60));
    const Promise<void> end = socket.shutdown_send();
    BOOST_TEST(r.loop.watch_count() == 2u);
    r.make_anew_and_refuse();
    BOOST_TEST(begins(text_of(read, ENOMEM), "read from a Unix socket"));
    for (const Promise<void>& send : {first, second, end}) {
        BOOST_TEST(text_of(send, ENOMEM) ==
                   "send to a Unix socket without a name" + lost(socket.native_handle()));
    }
    BOOST_TEST(r.loop.timer_count() == 0u);
    BOOST_TEST(r.loop.watch_count() == 0u);
    BOOST_TEST(socket.is_connected());
    BOOST_TEST(!socket.send("again").done());  // the sending has not ended
}

BOOST_AUTO_TEST_CASE(the_handler_of_a_failure_that_nobody_holds_may_destroy_the_socket) {
    for (const bool sends : {false, true}) {
        Refused r;
        std::unique_ptr<Streams> streams(new Streams(r.loop));
        if (sends) {
            streams->socket.send(std::string(large, 's'));
            streams->socket.send("more");
        }
        streams->socket.read();
        int reports = 0;
        r.loop.set_exception_handler([&](reactor::EventLoop&, const reactor::Report&) {
            ++reports;
            streams.reset();
        });
        r.make_anew_and_refuse();
        r.expected = 0;
        BOOST_TEST(reports == (sends ? 4 : 2));  // of each promise, and of the descriptor
        BOOST_TEST(r.loop.watch_count() == 0u);
    }
}

BOOST_AUTO_TEST_CASE(pending_datagrams_fail_and_the_next_ones_wait) {
    Refused r;
    DatagramSocket server(r.loop, abstract_name("lost"));
    const Endpoint to = server.local_endpoint();
    DatagramSocket client(r.loop, Endpoint::Family::local);
    client.connect(to);
    const int before = fill(to);
    const int number = client.native_handle();
    const Promise<std::string> receive = client.receive(100, seconds(60));
    const Promise<std::size_t> first = client.send("first", seconds(60));
    const Promise<std::size_t> second = client.send("second", seconds(60));
    BOOST_TEST(r.loop.watch_count() == 2u);
    r.make_anew_and_refuse();
    BOOST_TEST(text_of(receive, ENOMEM) == "receive from " + to.str() + lost(number));
    BOOST_TEST(text_of(first, ENOMEM) == "send to " + to.str() + lost(number));
    BOOST_TEST(text_of(second, ENOMEM) == "send to " + to.str() + lost(number));
    BOOST_TEST(r.loop.timer_count() == 0u);
    BOOST_TEST(r.loop.watch_count() == 0u);

    const Promise<std::size_t> next = client.send("next");
    BOOST_TEST(!client.receive(100).done());
    BOOST_TEST(!next.done());
    for (int i = 0; i < before; ++i) BOOST_TEST(steal(server) == "f");
    r.selector->play({{number, reactor::Interest::write}});
    BOOST_TEST(r.loop.run_until_complete(next) == 4u);
    BOOST_TEST(steal(server) == "next");
}

BOOST_AUTO_TEST_CASE(a_datagram_that_asks_for_room_from_time_to_time_needs_no_watch) {
    Refused r;
    DatagramSocket server(r.loop, abstract_name("asking"));
    const Endpoint to = server.local_endpoint();
    DatagramSocket client(r.loop, Endpoint::Family::local);
    const int before = fill(to);
    const Promise<std::size_t> send = client.send_to("late", to);
    r.selector->play({{client.native_handle(), reactor::Interest::write}});
    r.loop.run_once(reactor::Duration::zero());  // unconnected: the event tells nothing
    BOOST_TEST(r.loop.timer_count() == 1u);
    const Promise<Datagram> receive = client.receive_from();
    r.make_anew_and_refuse();
    BOOST_TEST(code_of(receive) == ENOMEM);
    BOOST_TEST(!send.done());
    for (int i = 0; i < before; ++i) BOOST_TEST(steal(server) == "f");
    r.loop.run_until_complete(send);
    BOOST_TEST(steal(server) == "late");
}

// ---- taken by the program -------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(an_operation_whose_watch_the_program_takes_fails_alone) {
    Refused r;
    Streams streams(r.loop);
    Socket& socket = streams.socket;
    const int number = socket.native_handle();
    const Promise<std::string> read = socket.read();
    const Promise<void> send = socket.send(std::string(large, 's'));
    BOOST_TEST(r.loop.remove_reader(number));
    BOOST_TEST(fails_with_state_error(read, "read from a Unix socket without a name: descriptor " +
                                                std::to_string(number) + " is ours"));
    BOOST_TEST(!send.done());
    r.loop.add_writer(number, [] {});
    BOOST_TEST(fails_with_state_error(send, "send to a Unix socket"));
    BOOST_TEST(r.loop.watch_count() == 1u);  // theirs
    r.loop.remove_writer(number);

    DatagramSocket datagrams(r.loop, any_port);
    const Promise<Datagram> receive = datagrams.receive_from();
    BOOST_TEST(r.loop.forget_descriptor(datagrams.native_handle()));
    BOOST_TEST(fails_with_state_error(receive, "receive on "));
    BOOST_TEST(!datagrams.receive_from().done());
}

// ---- closed behind our back -----------------------------------------------------------------

BOOST_AUTO_TEST_CASE_TEMPLATE(what_waits_with_a_closed_number_fails_and_leaves_the_number_alone, S,
                              TellingSelectors) {
    TestLoopOn test(S::name());
    int number;
    {
        Streams streams(test.loop);
        number = streams.socket.native_handle();
        const Promise<std::string> read = streams.socket.read();
        const Promise<void> send = streams.socket.send(std::string(large, 's'));
        test.steal_number(number);
        BOOST_TEST(text_of(read, EBADF) ==
                   "read from a Unix socket without a name: Bad file descriptor");
        BOOST_TEST(code_of(send) == EBADF);
        BOOST_TEST(!streams.socket.is_connected());
    }
    BOOST_TEST(is_open(number));  // not ours to close
    ::close(number);
    {
        DatagramSocket socket(test.loop, any_port);
        number = socket.native_handle();
        const Promise<Datagram> receive = socket.receive_from();
        test.steal_number(number);
        BOOST_TEST(code_of(receive) == EBADF);
        BOOST_TEST(!socket.is_open());
    }
    BOOST_TEST(is_open(number));
    ::close(number);
    BOOST_TEST(test.loop.watch_count() == 0u);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_end_of_a_child_is_seen_without_its_pidfd, S, TellingSelectors) {
    processes::ProcessTest test(S::name());
    processes::Process child = test.shell("read line; exit 7");
    const auto end = child.wait();
    const int number = processes::find_pidfd();
    if (number < 0) {
        BOOST_TEST_MESSAGE("this system has no pidfd");
    } else {
        ::close(number);
        test.loop.run_iterations(1);
        BOOST_TEST(test.expect_report("Descriptor " + std::to_string(number)) != "");
    }
    BOOST_TEST(!end.done());
    const int other = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    child.input().write("go\n");
    BOOST_TEST(test.loop.run_until_complete(end).code() == 7);
    BOOST_TEST(is_open(other));  // which has its number, perhaps
    ::close(other);
}

BOOST_AUTO_TEST_SUITE_END()
