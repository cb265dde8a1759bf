// SPDX-License-Identifier: BSL-1.0
#include <net/listener.hpp>

#include "connected.hpp"
#include <test/support/no_descriptors_left.hpp>
#include <test/support/taken_ports.hpp>

#include <fcntl.h>

#include <cerrno>
#include <memory>
#include <vector>

using namespace connected;

namespace {

std::string error_of_listening(reactor::EventLoop& loop, const Endpoint& at) {
    try {
        const Listener listener(loop, at);
    } catch (const std::system_error& error) {
        BOOST_TEST((error.code().category() == std::system_category()));
        return error.what();
    }
    return std::string();
}

/// A plain client that blocks: connected once the kernel has done so, accepted or not.
int plain_client(const Endpoint& to) {
    const int fd = ::socket(to.family() == Endpoint::Family::local ? AF_UNIX : AF_INET,
                            SOCK_STREAM | SOCK_CLOEXEC, 0);
    BOOST_REQUIRE(::connect(fd, static_cast<const ::sockaddr*>(to.data()),
                            static_cast<::socklen_t>(to.size())) == 0);
    return fd;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(listener)

REACTOR_LOOP_TEST(SOCK_08_an_accepted_client_is_connected_and_named) {
    be_patient(loop);
    Listener listener(loop, any_port);
    BOOST_TEST(listener.local_endpoint().port() != 0);
    Socket client(loop);
    const Promise<void> connected = client.connect(listener.local_endpoint());
    Socket server = loop.run_until_complete(listener.accept());
    loop.run_until_complete(connected);
    BOOST_TEST((::fcntl(server.native_handle(), F_GETFL) & O_NONBLOCK) != 0);
    BOOST_TEST(::fcntl(server.native_handle(), F_GETFD) == FD_CLOEXEC);
    BOOST_TEST(::fcntl(listener.native_handle(), F_GETFD) == FD_CLOEXEC);
    BOOST_TEST((server.remote_endpoint() == client.local_endpoint()));
    BOOST_TEST(server.no_delay());
}

REACTOR_LOOP_TEST(SOCK_08_a_cancelled_accept_leaves_the_client_in_the_backlog) {
    be_patient(loop);
    Listener listener(loop, any_port);
    const Promise<Socket> first = listener.accept();
    BOOST_CHECK_THROW(listener.accept(), StateError);
    loop.run_iterations(1);
    const int client = plain_client(listener.local_endpoint());
    BOOST_TEST(first.cancel());
    BOOST_TEST(loop.watch_count() == 0u);
    loop.run_iterations(2);
    const Promise<Socket> second = listener.accept();
    BOOST_TEST(::write(client, "x", 1) == 1);
    Socket server = loop.run_until_complete(second);
    BOOST_TEST(loop.run_until_complete(server.read()) == "x");
    ::close(client);
}

// Fault D1: the event is in the batch already.
REACTOR_LOOP_TEST(an_accept_cancelled_in_the_batch_of_its_client_takes_nobody) {
    be_patient(loop);
    Listener listener(loop, any_port);
    const Promise<Socket> first = listener.accept(milliseconds(5));
    const int client = plain_client(listener.local_endpoint());
    loop.clock().advance(milliseconds(5));
    loop.call_soon([&] { BOOST_TEST(first.cancel()); });
    loop.run_until_idle();
    BOOST_TEST(first.cancelled());
    loop.run_until_complete(listener.accept());
    ::close(client);
}

REACTOR_LOOP_TEST(many_clients_are_accepted_one_after_the_other) {
    be_patient(loop);
    Listener listener(loop, any_port);
    std::vector<int> clients;
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 5; ++i) clients.push_back(plain_client(listener.local_endpoint()));
        for (int i = 0; i < 5; ++i) {
            BOOST_TEST(loop.run_until_complete(listener.accept()).is_connected());
        }
        const Promise<Socket> nobody = listener.accept();
        BOOST_TEST(!nobody.done());
        nobody.cancel();
    }
    for (const int client : clients) ::close(client);
}

REACTOR_LOOP_TEST(a_late_accept_says_so) {
    Listener listener(loop, any_port);
    const Promise<Socket> accept = listener.accept(milliseconds(20));
    BOOST_TEST(error_of(loop, accept) ==
               "accept on " + listener.local_endpoint().str() + ": Connection timed out");
    BOOST_TEST(loop.watch_count() == 0u);
}

// Fault E9: a client that is gone must not stop the listener (status-im/nim-chronos#233).
REACTOR_LOOP_TEST(clients_that_reset_before_they_are_accepted_do_no_harm) {
    be_patient(loop);
    Listener listener(loop, any_port);
    for (int i = 0; i < 50; ++i) {
        const int client = plain_client(listener.local_endpoint());
        const ::linger reset = {1, 0};
        ::setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        ::close(client);
    }
    const int good = plain_client(listener.local_endpoint());
    BOOST_TEST(::write(good, "good", 4) == 4);
    std::string got;
    while (got.empty()) {
        Socket next = loop.run_until_complete(listener.accept());
        const Promise<std::string> read = next.read();
        if (error_of(loop, read).empty()) got = read.result();
    }
    BOOST_TEST(got == "good");
    ::close(good);
}

// Fault B6: no spin, no lost client (joyent/libuv#690).
REACTOR_LOOP_TEST(without_descriptors_an_accept_fails_and_the_client_waits) {
    be_patient(loop);
    Listener listener(loop, any_port);
    const Promise<Socket> waiting = listener.accept();
    const int client = plain_client(listener.local_endpoint());
    std::string first, second;
    {
        const support::NoDescriptorsLeft none;
        first = error_of(loop, waiting);
        const Promise<Socket> again = listener.accept();
        BOOST_TEST(again.done());
        second = error_of(loop, again);
        const std::size_t waits = loop.selector().waits();
        loop.run_for(seconds(1));
        BOOST_TEST(loop.selector().waits() - waits < 5u);
    }
    const std::string text =
        "accept on " + listener.local_endpoint().str() + ": Too many open files";
    BOOST_TEST(first == text);
    BOOST_TEST(second == text);
    BOOST_TEST(loop.run_until_complete(listener.accept()).is_connected());
    ::close(client);
}

REACTOR_LOOP_TEST(what_cannot_be_listened_on_is_told_with_its_address) {
    const Listener first(loop, any_port);
    const Endpoint taken = first.local_endpoint();
    BOOST_TEST(error_of_listening(loop, taken) ==
               "listen on " + taken.str() + ": Address already in use");
    BOOST_TEST(error_of_listening(loop, Endpoint("192.0.2.1", 0)) ==
               "listen on 192.0.2.1:0: Cannot assign requested address");
    BOOST_TEST(error_of_listening(loop, Endpoint()) ==
               "listen on (no address): Address family not supported by protocol");
}

REACTOR_LOOP_TEST(ipv6_listeners_leave_ipv4_to_others) {
    be_patient(loop);
    support::despite_taken_ports([&] {
        const Listener six(loop, Endpoint("::", 0));
        const Listener four(loop, Endpoint("0.0.0.0", six.local_endpoint().port()));
        BOOST_TEST(four.is_open());
    });
    Listener both(loop, Endpoint("::", 0), ListenerOptions().v6_only(false).backlog(1));
    const int client = plain_client(Endpoint("127.0.0.1", both.local_endpoint().port()));
    const Socket server = loop.run_until_complete(both.accept());
    BOOST_TEST(server.remote_endpoint().address().find("::ffff:127.0.0.1") == 0u);
    ::close(client);
}

REACTOR_LOOP_TEST(closing_cancels_the_accept_and_can_be_repeated) {
    Listener listener(loop, any_port);
    const Promise<Socket> accept = listener.accept(seconds(9));
    listener.close();
    listener.close();
    BOOST_TEST(accept.cancelled());
    BOOST_TEST(!listener.is_open());
    BOOST_TEST(listener.native_handle() == -1);
    BOOST_TEST(loop.watch_count() == 0u);
    BOOST_TEST(loop.timer_count() == 0u);
    BOOST_CHECK_THROW(listener.accept(), StateError);

    std::unique_ptr<Listener> other(new Listener(loop, any_port));
    const Promise<Socket> waiting = other->accept();
    waiting.add_done_callback([&](const Promise<Socket>& done) {
        BOOST_TEST(done.cancelled());
        say("told")();
    });
    loop.call_soon([&] { other.reset(); });
    loop.run_until_idle();
    BOOST_TEST(heard() == "told");

    Listener empty;
    BOOST_TEST(!empty);
    empty.close();
    BOOST_CHECK_THROW(empty.accept(), StateError);
    BOOST_CHECK_THROW(empty.local_endpoint(), StateError);
}

REACTOR_LOOP_TEST(an_accepted_client_that_nobody_takes_is_closed) {
    be_patient(loop);
    Listener listener(loop, any_port);
    const int client = plain_client(listener.local_endpoint());
    { BOOST_TEST(listener.accept().done()); }
    char byte;
    BOOST_TEST(::read(client, &byte, 1) == 0);
    ::close(client);
}

BOOST_AUTO_TEST_CASE(a_listener_outlives_its_loop) {
    Listener listener;
    {
        TestLoop loop;
        listener = Listener(loop, any_port);
        const Promise<Socket> accept = listener.accept();
    }
    BOOST_CHECK_THROW(listener.loop(), StateError);
    BOOST_CHECK_THROW(listener.accept(), StateError);
    listener.close();
}

// Epoll tells nobody.
BOOST_AUTO_TEST_CASE(an_accept_whose_descriptor_is_closed_behind_its_back_fails) {
    for (const char* const selector : {"poll", "select"}) {
        reactor::EventLoop loop(reactor::make_selector(selector));
        int reports = 0;
        loop.set_exception_handler([&](reactor::EventLoop&, const reactor::Report&) { ++reports; });
        Listener listener(loop, any_port);
        const std::string at = listener.local_endpoint().str();
        const Promise<Socket> accept = listener.accept(std::chrono::seconds(10));
        const int fd = listener.native_handle();
        ::close(fd);
        BOOST_TEST(error_of(loop, accept) == "accept on " + at + ": Bad file descriptor");
        BOOST_TEST(reports == 1);
        const int other = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        BOOST_TEST(other == fd);
        BOOST_TEST(!listener.is_open());
        BOOST_CHECK_THROW(listener.accept(), StateError);
        listener.close();
        BOOST_TEST(::fcntl(other, F_GETFD) >= 0);
        ::close(other);
        BOOST_TEST(loop.watch_count() == 0u);
    }
}

BOOST_AUTO_TEST_SUITE_END()
