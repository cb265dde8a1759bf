// SPDX-License-Identifier: BSL-1.0
#include <net/socket.hpp>

#include "datagrams.hpp"
#include "refused_streams.hpp"
#include "server_fixture.hpp"

#include <reactor/select_selector.hpp>

#include <test/support/refusing_loop.hpp>

#include <cerrno>
#include <memory>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/select.h>

using namespace datagrams;
using refused::check_next_read;
using refused::Streams;
using refused::text_of;
using support::begins;
using Refused = support::RefusingLoop;

namespace {

/// A transport on such a loop, and its peer.
struct Watched {
    explicit Watched(Refused& refused) {
        BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) ==
                      0);
        refused.loop.run_until_complete(
            transports::make_transport(refused.loop, fds[0], transports::told(course)));
    }
    ~Watched() {
        if (fds[1] >= 0) ::close(fds[1]);
    }

    int fds[2];
    transports::Course course;
};

/// The text of the error that a promise has at once.
template <class T>
std::string error_now(const Promise<T>& promise) {
    return text_of(promise, ENOSPC);
}

const std::string why = "No space left on device";

}  // namespace

BOOST_AUTO_TEST_SUITE(refused_watch)

BOOST_AUTO_TEST_CASE(a_connect_fails_at_once_and_the_socket_can_try_again) {
    Refused r;
    const Listener listener(r.loop, any_port);
    const Endpoint to = listener.local_endpoint();
    Socket socket(r.loop);
    r.refuse();
    const std::string error = error_now(socket.connect(to, seconds(60)));
    BOOST_TEST(begins(error, "connect to " + to.str() + ": add_writer: scripted selector: "),
               error);
    BOOST_TEST(error.find(why) == error.size() - why.size(), error);  // and only there
    BOOST_TEST(socket.native_handle() == -1);
    BOOST_TEST(r.loop.timer_count() == 0u);
    BOOST_TEST(r.loop.watch_count() == 0u);

    const Promise<void> again = socket.connect(to);
    BOOST_TEST(!again.done());
    r.selector->play({{socket.native_handle(), reactor::Interest::write}});
    r.loop.run_until_complete(again);
    BOOST_TEST(socket.is_connected());
}

BOOST_AUTO_TEST_CASE(a_read_fails_at_once_and_the_next_one_waits) {
    Refused r;
    Streams streams(r.loop);
    Socket& socket = streams.socket;
    r.refuse();
    const std::string error = error_now(socket.read(100, seconds(60)));
    BOOST_TEST(begins(error, "read from a Unix socket without a name: add_reader: "), error);
    BOOST_TEST(r.loop.timer_count() == 0u);

    check_next_read(r, streams);
}

BOOST_AUTO_TEST_CASE(a_send_that_would_wait_fails_at_once) {
    Refused r;
    Streams streams(r.loop);
    Socket& socket = streams.socket;
    r.refuse();
    const std::string error = error_now(socket.send(std::string(8 << 20, 's'), seconds(60)));
    BOOST_TEST(begins(error, "send to a Unix socket without a name: add_writer: "), error);
    BOOST_TEST(r.loop.timer_count() == 0u);
    BOOST_TEST(!socket.send("more").done());
    BOOST_TEST(r.loop.watch_count() == 1u);
}

BOOST_AUTO_TEST_CASE(an_accept_fails_at_once_and_the_next_one_waits) {
    Refused r;
    Listener listener(r.loop, any_port);
    r.refuse();
    const std::string error = error_now(listener.accept(seconds(60)));
    BOOST_TEST(begins(error, "accept on " + listener.local_endpoint().str() + ": "), error);
    BOOST_TEST(r.loop.timer_count() == 0u);
    const Promise<Socket> next = listener.accept();
    BOOST_TEST(!next.done());
    BOOST_TEST(r.loop.watch_count() == 1u);
}

BOOST_AUTO_TEST_CASE(a_receive_of_datagrams_fails_at_once_and_the_next_one_waits) {
    Refused r;
    DatagramSocket socket(r.loop, any_port);
    const Endpoint at = socket.local_endpoint();
    r.refuse();
    const std::string error = error_now(socket.receive_from(100, seconds(60)));
    BOOST_TEST(begins(error, "receive on " + at.str() + ": add_reader: scripted selector: "),
               error);
    BOOST_TEST(error.find(why) == error.size() - why.size(), error);
    r.refuse();
    char room[9];
    BOOST_TEST(
        begins(error_now(socket.receive_into(room, sizeof room, seconds(60))), "receive on "));
    DatagramSocket client(r.loop, any_port);
    client.connect(at);
    r.refuse();
    const std::string connected = error_now(client.receive(100, seconds(60)));
    BOOST_TEST(begins(connected, "receive from " + at.str() + ": add_reader: "), connected);
    BOOST_TEST(r.loop.timer_count() == 0u);
    BOOST_TEST(r.loop.watch_count() == 0u);

    const Promise<Datagram> next = socket.receive_from();
    BOOST_TEST(!next.done());
    BOOST_TEST(client.send("x").done());
    r.selector->play({{socket.native_handle(), reactor::Interest::read}});
    BOOST_TEST(r.loop.run_until_complete(next).bytes == "x");
}

BOOST_AUTO_TEST_CASE(a_send_of_a_datagram_that_would_wait_fails_at_once_and_is_not_sent) {
    Refused r;
    DatagramSocket server(r.loop, abstract_name("refused"));
    const Endpoint to = server.local_endpoint();
    DatagramSocket client(r.loop, Endpoint::Family::local);
    const int before = fill(to);
    r.refuse();
    const std::string error = error_now(client.send_to("refused", to, seconds(60)));
    BOOST_TEST(begins(error, "send to " + to.str() + ": add_writer: scripted selector: "), error);
    BOOST_TEST(error.find(why) == error.size() - why.size(), error);
    client.connect(to);  // nothing waits
    r.refuse();
    BOOST_TEST(begins(error_now(client.send("refused", seconds(60))), "send to " + to.str()));
    BOOST_TEST(r.loop.timer_count() == 0u);
    BOOST_TEST(r.loop.watch_count() == 0u);

    const Promise<std::size_t> next = client.send("next");
    BOOST_TEST(!next.done());
    BOOST_TEST(r.loop.watch_count() == 1u);
    for (int i = 0; i < before; ++i) BOOST_TEST(steal(server) == "f");
    r.selector->play({{client.native_handle(), reactor::Interest::write}});
    BOOST_TEST(r.loop.run_until_complete(next) == 4u);
    BOOST_TEST(steal(server) == "next");
    BOOST_TEST(steal(server) == "(nothing)");
}

// Not one that was closed behind our back: it is ours to close.
BOOST_AUTO_TEST_CASE(a_transport_whose_watch_cannot_change_is_lost_and_closed) {
    Refused r;
    Watched watched(r);
    r.expected = 1;
    r.refuse();
    watched.course.transport.write(std::string(8 << 20, 'w'));  // what does not fit waits for room
    for (int i = 0; i < 5; ++i) r.loop.run_once(reactor::Duration::zero());
    BOOST_TEST(watched.course.calls == "made lost");
    BOOST_TEST(watched.course.code() == ENOSPC);
    BOOST_TEST(begins(watched.course.text(), "watch the connection to unix:: "),
               watched.course.text());
    BOOST_TEST(r.last_report.find(why) != std::string::npos, r.last_report);
    BOOST_TEST(!transports::is_open(watched.fds[0]));
    BOOST_TEST(r.loop.watch_count() == 0u);
}

BOOST_AUTO_TEST_CASE(a_transport_that_a_selector_made_anew_refuses_is_lost_and_closed) {
    Refused r;
    Watched watched(r);
    r.make_anew_and_refuse();
    BOOST_TEST(watched.course.calls == "made lost");
    BOOST_TEST(watched.course.code() == ENOMEM);
    BOOST_TEST(!transports::is_open(watched.fds[0]));
    BOOST_TEST(r.loop.watch_count() == 0u);
}

// The select selector's own limit; a read without a deadline would wait for ever.
BOOST_AUTO_TEST_CASE(a_number_beyond_what_select_can_watch_is_told_by_the_read) {
    ::rlimit before;
    BOOST_REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    ::rlimit more = before;
    more.rlim_cur = before.rlim_max;
    BOOST_REQUIRE(::setrlimit(RLIMIT_NOFILE, &more) == 0);
    reactor::EventLoop loop(std::unique_ptr<reactor::Selector>(new reactor::SelectSelector));
    Streams streams(loop);
    const int high = ::fcntl(streams.fds[0], F_DUPFD_CLOEXEC, FD_SETSIZE);
    if (high < 0) {
        BOOST_TEST_MESSAGE("the hard limit of descriptors is too low for this test");
    } else {
        Socket socket = Socket::adopt(loop, high);
        const Promise<std::string> read = socket.read();
        BOOST_TEST(code_of(read) == EINVAL);
        const std::string error = error_of(loop, read);
        BOOST_TEST(error.find("FD_SETSIZE") != std::string::npos, error);
    }
    ::setrlimit(RLIMIT_NOFILE, &before);
}

BOOST_AUTO_TEST_CASE(a_server_that_a_selector_made_anew_refuses_rests_and_goes_on) {
    Refused r;
    std::deque<served::Course> courses;
    const auto factory = [&] {
        courses.emplace_back();
        return transports::told(courses.back());
    };
    served::Server server = served::create_server(r.loop, factory, any_port);
    r.make_anew_and_refuse();
    BOOST_TEST(r.loop.watch_count() == 0u);
    BOOST_TEST(server.is_serving());
    BOOST_TEST(server.counters().rests == 1u);
    BOOST_TEST(server.endpoints().size() == 1u);
    r.clock.advance(seconds(1));
    for (int i = 0; i < 3; ++i) r.loop.run_once(reactor::Duration::zero());
    BOOST_TEST(r.loop.watch_count() == 1u);
    BOOST_TEST(r.loop.timer_count() == 0u);
    // Refused once more, it may be closed while it rests.
    r.make_anew_and_refuse();
    BOOST_TEST(server.counters().rests == 2u);
    server.close();
    BOOST_TEST(r.loop.timer_count() == 0u);
}

BOOST_AUTO_TEST_CASE(a_pending_accept_that_a_selector_made_anew_refuses_fails) {
    Refused r;
    Listener listener(r.loop, any_port);
    const Promise<Socket> accept = listener.accept(seconds(60));
    r.make_anew_and_refuse();
    BOOST_TEST(code_of(accept) == ENOMEM);
    BOOST_TEST(r.loop.watch_count() == 0u);
    BOOST_TEST(r.loop.timer_count() == 0u);
    BOOST_TEST(listener.is_open());
    BOOST_TEST(!listener.accept().done());
    BOOST_TEST(r.loop.watch_count() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
