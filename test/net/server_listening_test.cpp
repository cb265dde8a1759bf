// SPDX-License-Identifier: BSL-1.0
#include <net/server.hpp>

#include "server_fixture.hpp"

#include <net/listener.hpp>
#include <net/resolver.hpp>

#include <test/support/refusal.hpp>

#include <cstdlib>

using namespace served;
using reactor::net::ListeningSockets;
using reactor::net::Resolver;

#define SERVER_TEST(name) REACTOR_LOOP_TEST_IN(ServerTest, name)

namespace {

template <class Call>
std::string refusal(Call call) {
    return support::refusal<std::system_error>(call);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(server_listening)

// Host and socket at once cannot be said here: the calls take one or the other.
SERVER_TEST(SV_06_contradictory_arguments_are_refused) {
    create_server(loop, factory(), any_port);  // what a loop makes once is made
    const std::size_t before = reactor::testing::open_descriptors();
    BOOST_CHECK_THROW(create_server(loop, factory(), std::vector<Endpoint>()),
                      std::invalid_argument);
    BOOST_CHECK_THROW(create_server(loop, factory(), std::vector<std::string>(), 80),
                      std::invalid_argument);
    BOOST_CHECK_THROW(create_server(loop, factory(), Endpoint()), std::invalid_argument);
    BOOST_CHECK_THROW(create_server(loop, factory(), ListeningSockets()), std::invalid_argument);
    BOOST_CHECK_THROW(create_server(loop, ProtocolFactory(), any_port), std::invalid_argument);
    const Descriptor datagrams(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ListeningSockets sockets;
    BOOST_CHECK_THROW(sockets.add(datagrams.number), std::invalid_argument);
    BOOST_TEST(reactor::testing::open_descriptors() == before + 1);  // `datagrams`
    BOOST_TEST(loop.watch_count() == 0u);
}

SERVER_TEST(SV_06_ports_in_use_are_refused_without_a_descriptor_left_over) {
    serve();
    const std::string in_use = "listen on " + address.str() + ": Address already in use";
    BOOST_TEST(refusal([&] { create_server(loop, factory(), address); }) == in_use);
    const std::size_t before = reactor::testing::open_descriptors();
    const auto second = [&] {
        create_server(loop, factory(), {Endpoint("127.0.0.1", 0), address});
    };
    BOOST_TEST(refusal(second) == in_use);
    const std::vector<std::string> hosts = {"127.0.0.1", "127.0.0.1"};
    const auto by_name = [&] {
        loop.run_until_complete(create_server(loop, factory(), hosts, address.port()));
    };
    BOOST_TEST(refusal(by_name) == in_use);
    BOOST_TEST(reactor::testing::open_descriptors() == before);
    BOOST_TEST(loop.watch_count() == 1u);
}

// Both can be bound with SO_REUSEADDR, but only one of them may listen.
SERVER_TEST(SV_06_a_server_that_cannot_start_is_closed) {
    serve(ServerOptions().start_serving(false));
    const Descriptor rival(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    ::setsockopt(rival.number, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    BOOST_REQUIRE(::bind(rival.number, static_cast<const ::sockaddr*>(address.data()),
                         static_cast<::socklen_t>(address.size())) == 0);
    BOOST_REQUIRE(::listen(rival.number, 1) == 0);
    BOOST_TEST(refusal([&] { server.start_serving(); }) ==
               "listen on " + address.str() + ": Address already in use");
    BOOST_TEST(!server.is_serving());
    BOOST_TEST(server.endpoints().empty());
    BOOST_CHECK_THROW(server.start_serving(), StateError);
}

SERVER_TEST(SV_07_one_socket_for_each_address_with_the_usual_options) {
    server = loop.run_until_complete(create_server(
        loop, factory(), std::vector<std::string>{"127.0.0.1", "127.0.0.2", "127.0.0.1"}, 0));
    const std::vector<Endpoint> at = server.endpoints();
    BOOST_REQUIRE(at.size() == 2u);
    BOOST_TEST(at[0].address() == "127.0.0.1");
    BOOST_TEST(at[1].address() == "127.0.0.2");
    const std::vector<int> sockets = listening();
    BOOST_REQUIRE(sockets.size() == 2u);
    for (const int fd : sockets) {
        BOOST_TEST(socket_option(fd, SOL_SOCKET, SO_REUSEADDR) == 1);
        BOOST_TEST(socket_option(fd, SOL_SOCKET, SO_REUSEPORT) == 0);
    }
    BOOST_TEST(ServerOptions().backlog() == 100);
    for (const Endpoint& one : at) {
        address = one;
        connect();
    }
    run_until_open(2);
}

SERVER_TEST(SV_07_without_a_host_both_families_listen) {
    server = loop.run_until_complete(create_server(loop, factory(), "", 0));
    const std::vector<Endpoint> at = server.endpoints();
    BOOST_REQUIRE(at.size() == (has_ipv6() ? 2u : 1u));
    BOOST_TEST(at[0].address() == "0.0.0.0");
    address = Endpoint("127.0.0.1", at[0].port());
    connect();
    if (has_ipv6()) {
        BOOST_TEST(at[1].address() == "::");
        int v6_only = 0;
        BOOST_TEST(listening().size() == 2u);
        for (const int fd : listening()) {
            if (socket_option(fd, IPPROTO_IPV6, IPV6_V6ONLY) == 1) ++v6_only;
        }
        BOOST_TEST(v6_only == 1);
        address = Endpoint("::1", at[1].port());
        connect();
    }
    run_until_open(at.size());
}

SERVER_TEST(SV_07_a_port_is_shared_only_if_that_was_asked_for) {
    const ServerOptions shared = ServerOptions().reuse_port(true);
    serve(shared);
    const Server other = create_server(loop, factory(), address, shared);
    BOOST_TEST(other.is_serving());
    const std::vector<int> sockets = listening();
    BOOST_TEST(sockets.size() == 2u);
    for (const int fd : sockets) BOOST_TEST(socket_option(fd, SOL_SOCKET, SO_REUSEPORT) == 1);
}

SERVER_TEST(names_are_looked_up_all_their_addresses_and_a_missing_family_is_left_out) {
    loop.selector().set_patience(seconds(10));  // the look-ups are on a thread
    loop.service<Resolver>().set_lookup([](const std::string& host) {
        BOOST_TEST(host == "both.test");
        return std::vector<Endpoint>{Endpoint("::1", 0), Endpoint("127.0.0.1", 0),
                                     Endpoint("127.0.0.1", 0)};
    });
    loop.service<Resolver>().set_service_lookup(
        [](const std::string&) { return std::uint16_t(0); });
    server = loop.run_until_complete(create_server(loop, factory(), "both.test", "any"));
    BOOST_TEST(server.endpoints().size() == (has_ipv6() ? 2u : 1u));
    loop.service<Resolver>().set_lookup([](const std::string&) {
        return std::vector<Endpoint>{Endpoint("127.0.0.1", 0), Endpoint("192.0.2.1", 0)};
    });
    // No address of this machine is a mistake, and none that may be passed over.
    BOOST_TEST(refusal([&] {
                   loop.run_until_complete(create_server(loop, factory(), "x.test", 0));
               }).find("listen on 192.0.2.1:0") == 0u);
}

SERVER_TEST(a_server_that_was_given_up_before_it_was_there_does_not_listen) {
    Promise<Server> coming = create_server(loop, factory(), "127.0.0.1", 0);
    coming.cancel();
    loop.run_until_idle();
    BOOST_TEST(coming.cancelled());
    Promise<Server> dropped = create_server(loop, factory(), "127.0.0.1", 0);
    loop.run_until_idle();
    BOOST_TEST(dropped.done());
    BOOST_TEST(listening().size() == 1u);
    dropped = Promise<Server>();
    loop.run_iterations(2);
    BOOST_TEST(listening().empty());
}

SERVER_TEST(UX_02_contradictory_arguments_are_refused) {
    // By path and by socket at once, or neither, cannot be said.
    ListeningSockets sockets;
    Descriptor stream(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    BOOST_CHECK_THROW(sockets.add(stream.number), std::invalid_argument);  // does not listen
    Descriptor datagrams(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    BOOST_CHECK_THROW(sockets.add(datagrams.number), std::invalid_argument);
    BOOST_CHECK_THROW(Endpoint::local_path(""), std::invalid_argument);
    BOOST_CHECK_THROW(ServerOptions().permissions(01000), std::invalid_argument);
}

SERVER_TEST(listening_sockets_of_others_are_taken_over) {
    Descriptor first = listening_socket(any_port), second = listening_socket(any_port);
    ListeningSockets sockets;
    sockets.add(first.release(), "web");
    sockets.add(second.release(), "web");
    address = sockets.endpoint(1);
    server = create_server(loop, factory(), std::move(sockets));
    BOOST_TEST(server.endpoints().size() == 2u);
    connect().send("hello");
    run_until([&] { return last_bytes() == "hello"; });
    server.close();
    BOOST_TEST(listening().empty());
}

SERVER_TEST(options_that_make_no_sense_are_refused) {
    ServerOptions options;
    BOOST_CHECK_THROW(options.backlog(0), std::invalid_argument);
    BOOST_CHECK_THROW(options.max_connections(0), std::invalid_argument);
    BOOST_CHECK_THROW(options.max_per_address(0), std::invalid_argument);
    BOOST_CHECK_THROW(options.idle_timeout(seconds(0)), std::invalid_argument);
    BOOST_CHECK_THROW(options.read_timeout(seconds(-1)), std::invalid_argument);
    BOOST_CHECK_THROW(options.write_timeout(milliseconds(0)), std::invalid_argument);
    BOOST_CHECK_THROW(options.write_limits(WriteLimits(1, 2)), std::invalid_argument);
    BOOST_CHECK_THROW(options.stream_limit(0), std::invalid_argument);
    BOOST_TEST((options.idle_timeout() == reactor::forever()));
}

// Epoll tells nobody, and its server stays deaf.
SERVER_TEST(a_socket_closed_behind_its_back_is_left_alone_and_the_others_serve_on) {
    Descriptor first = listening_socket(any_port), second = listening_socket(any_port);
    const int gone = first.number;
    ListeningSockets sockets;
    sockets.add(first.release());
    sockets.add(second.release());
    address = sockets.endpoint(1);
    server = create_server(loop, factory(), std::move(sockets));
    loop.run_iterations(2);
    BOOST_TEST(loop.watch_count() == 2u);
    // It is the server's.
    BOOST_CHECK_THROW(loop.remove_reader(gone), StateError);
    BOOST_CHECK_THROW(loop.add_reader(gone, [] {}), StateError);
    BOOST_CHECK_THROW(reactor::net::Listener::adopt(loop, gone), StateError);

    const bool told = !support::forgets_what_is_closed(loop.selector_name());
    if (told) ::close(gone);
    loop.run_iterations(5);
    BOOST_TEST(take_reports().size() == (told ? 1u : 0u));
    const Descriptor other(told ? ::open("/dev/null", O_RDONLY | O_CLOEXEC) : ::dup(0));
    if (told) BOOST_TEST(other.number == gone);
    BOOST_TEST(server.endpoints().size() == (told ? 1u : 2u));
    connect().send("hello");
    run_until([&] { return last_bytes() == "hello"; });
    server.close();
    BOOST_TEST(is_open(other.number));
    BOOST_TEST(listening().empty());
}

SERVER_TEST(in_debug_mode_a_socket_that_blocks_is_refused) {
    Descriptor socket = listening_socket(any_port);
    const int fd = socket.number;
    ListeningSockets sockets;
    sockets.add(socket.release());
    server =
        create_server(loop, factory(), std::move(sockets), ServerOptions().start_serving(false));
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    loop.set_debug(true);
    BOOST_CHECK_EXCEPTION(
        server.start_serving(), std::invalid_argument, [&](const std::invalid_argument& error) {
            return std::string(error.what())
                       .find("accept: descriptor " + std::to_string(fd) + " blocks") == 0;
        });
    BOOST_TEST(!server.is_serving());
}

BOOST_AUTO_TEST_SUITE_END()
