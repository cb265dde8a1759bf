// SPDX-License-Identifier: BSL-1.0
#include <net/detail/transport_state.hpp>
#include <net/transport.hpp>

#include "transport_fixture.hpp"

#include <test/support/socket_option.hpp>

#include <netinet/tcp.h>

using namespace transports;

BOOST_AUTO_TEST_SUITE(transport_descriptor)

REACTOR_LOOP_TEST(TR_25_names_and_options_of_tcp_and_unix) {
    {
        Connection c(loop, Connection::tcp);
        Transport& transport = c.open();
        const Endpoint local = transport.local_endpoint();
        const Endpoint remote = transport.remote_endpoint();
        BOOST_TEST(local.address() == "127.0.0.1");
        BOOST_TEST(remote.address() == "127.0.0.1");
        BOOST_TEST(local.port() != remote.port());
        BOOST_TEST(transport.native_handle() == c.number);
        BOOST_TEST(transport.can_write_eof());
        BOOST_TEST((&transport.loop() == static_cast<reactor::EventLoop*>(&loop)));
        BOOST_TEST(support::socket_option(c.number, IPPROTO_TCP, TCP_NODELAY) == 1);
        transport.close();
        c.run_until_lost();
        BOOST_TEST((transport.local_endpoint() == local));
        BOOST_TEST((transport.remote_endpoint() == remote));
        BOOST_TEST(transport.native_handle() == -1);
        BOOST_TEST((transport.protocol() == nullptr));
    }
    // Nobody has asked for the local name while the connection was there.
    Connection c(loop, Connection::tcp);
    const Transport& transport = c.open();
    transport.close();
    c.run_until_lost();
    BOOST_TEST(transport.local_endpoint().address() == "127.0.0.1");
    BOOST_TEST(transport.local_endpoint().port() != 0);

    Connection u(loop);
    u.open();
    BOOST_TEST((u.course.transport.remote_endpoint().family() == Endpoint::Family::local));
    BOOST_TEST(u.course.transport.remote_endpoint().str() == "unix:");
    u.course.transport.close();
    u.run_until_lost();
    BOOST_TEST(u.course.transport.local_endpoint().str() == "unix:");
}

REACTOR_LOOP_TEST(IO_08_a_transports_descriptor_is_nobody_elses) {
    Connection c(loop);
    Transport& transport = c.open();
    const int fd = c.number;
    const auto nothing = [] {};
    for (int round = 0; round < 2; ++round) {
        BOOST_CHECK_THROW(loop.add_reader(fd, nothing), StateError);
        BOOST_CHECK_THROW(loop.add_writer(fd, nothing), StateError);
        BOOST_CHECK_THROW(loop.add_urgent_reader(fd, nothing), StateError);
        BOOST_CHECK_THROW(loop.add_reader(reactor::Options().owned_descriptor(), fd, nothing),
                          StateError);
        BOOST_CHECK_THROW(loop.remove_reader(fd), StateError);
        BOOST_CHECK_THROW(loop.remove_writer(fd), StateError);
        BOOST_CHECK_THROW(loop.remove_urgent_reader(fd), StateError);
        BOOST_TEST(!loop.forget_descriptor(fd));
        Course other;
        BOOST_CHECK_THROW(make_transport(loop, fd, told(other)), StateError);
        BOOST_TEST(other.destroyed == 1);
        put(c.theirs.number, "x");
        loop.run_iterations(1);
        BOOST_TEST(c.course.bytes.size() == std::size_t(round) + 1);
        // Also while it watches for nothing.
        transport.pause_reading();
        loop.run_iterations(1);
        if (round == 0) {
            BOOST_CHECK_THROW(loop.add_reader(fd, nothing), StateError);
            transport.resume_reading();
        }
    }
    transport.close();
    BOOST_TEST(!loop.remove_reader(fd));
    BOOST_TEST(!loop.remove_writer(fd));
    c.run_until_lost();
    BOOST_TEST(!loop.remove_reader(fd));
    // The number is free for others.
    support::SocketPair next;
    loop.add_reader(next.mine, nothing);
    BOOST_TEST(loop.remove_reader(next.mine));
}

// Law 6: out of the selector before it is closed, or a duplicate would keep it there.
REACTOR_LOOP_TEST(an_accepted_descriptor_that_lives_on_in_a_duplicate_is_let_go_of) {
    Connection c(loop, Connection::tcp);
    support::SocketPair other;
    int others = 0;
    loop.add_reader(other.mine, [&] { others += other.receive().empty() ? 0 : 1; });
    const Endpoint peer("127.0.0.1", 1);
    c.number = c.mine.release();
    reactor::net::detail::TransportAccess::make(loop, c.number, peer, told(c.course), true);
    loop.run_iterations(1);
    const Descriptor duplicate(::fcntl(c.number, F_DUPFD_CLOEXEC, 100));
    c.course.transport.close();
    c.run_until_lost();
    BOOST_TEST(!is_open(c.number));
    put(c.theirs.number, "to the duplicate");
    loop.run_iterations(3);
    BOOST_TEST(loop.selector().last_found() == 0u);  // no spin
    BOOST_TEST(c.course.bytes == "");
    other.send();
    loop.run_iterations(1);
    BOOST_TEST(others == 1);
    BOOST_TEST(loop.remove_reader(other.mine));
}

REACTOR_LOOP_TEST(the_next_of_an_accepted_descriptors_number_is_watched) {
    for (const bool aborted : {false, true}) {
        Connection first(loop, Connection::tcp);
        first.number = first.mine.release();
        reactor::net::detail::TransportAccess::make(loop, first.number, Endpoint("127.0.0.1", 1),
                                                    told(first.course), true);
        loop.run_iterations(2);
        if (aborted) {
            first.course.transport.abort();
        } else {
            first.course.transport.close();
        }
        first.run_until_lost();
        // The lowest free number.
        support::SocketPair next;
        BOOST_TEST((next.mine == first.number || next.theirs == first.number));
        const int number = first.number;
        int events = 0;
        loop.add_reader(reactor::Options().owned_descriptor(), number, [&] { ++events; });
        BOOST_REQUIRE(::write(number == next.mine ? next.theirs : next.mine, "x", 1) == 1);
        loop.run_iterations(1);
        BOOST_TEST(events == 1);
        BOOST_TEST(loop.remove_reader(number));
        loop.forget_descriptor(number);
    }
}

REACTOR_LOOP_TEST(what_is_no_stream_socket_is_refused_and_stays_the_callers) {
    Course course;
    int fds[2];
    BOOST_REQUIRE(::pipe2(fds, O_CLOEXEC) == 0);
    BOOST_CHECK_THROW(make_transport(loop, fds[0], told(course)), std::invalid_argument);
    BOOST_CHECK_THROW(make_transport(loop, -1, told(course)), std::system_error);
    const Descriptor datagrams(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    BOOST_CHECK_THROW(make_transport(loop, datagrams.number, told(course)), std::invalid_argument);
    const Descriptor unconnected(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    BOOST_CHECK_THROW(make_transport(loop, unconnected.number, told(course)), std::system_error);
    const support::SocketPair ends;
    BOOST_CHECK_THROW(make_transport(loop, ends.mine, nullptr), std::invalid_argument);
    BOOST_TEST(course.destroyed == 4);
    BOOST_TEST(course.calls == "");
    for (const int fd : {fds[0], datagrams.number, unconnected.number, ends.mine}) {
        BOOST_TEST(is_open(fd));
    }
    ::close(fds[0]);
    ::close(fds[1]);
}

BOOST_AUTO_TEST_SUITE_END()
