// SPDX-License-Identifier: BSL-1.0
#include <net/server.hpp>

#include "server_fixture.hpp"
#include "unix_sockets.hpp"

#include <test/support/refusal.hpp>
#include <test/support/temporary_directory.hpp>

#include <sys/stat.h>

#include <system_error>

using namespace served;

#define SERVER_TEST(name) REACTOR_LOOP_TEST_IN(ServerTest, name)

BOOST_AUTO_TEST_SUITE(server_unix)

SERVER_TEST(a_unix_path_is_served_and_its_file_goes_with_the_server) {
    const support::TemporaryDirectory folder;
    const Endpoint at = Endpoint::local_path(folder / "socket");
    serve(ServerOptions().permissions(0600), at);
    connect().send("hello");
    run_until([&] { return last_bytes() == "hello"; });
    server.close();
    BOOST_TEST(::access(at.address().c_str(), F_OK) != 0);
    // What is left behind by one that was killed is taken over, one that lives is not.
    unix_sockets::leave_stale(at.address());
    serve(ServerOptions(), at);
    BOOST_TEST(support::refusal<std::system_error>([&] { create_server(loop, factory(), at); }) ==
               "listen on " + at.str() + ": Address already in use");
    server.close();
}

SERVER_TEST(a_client_with_the_longest_path_of_all_is_served_as_one_without_a_name) {
    const support::TemporaryDirectory directory;
    const Endpoint at = Endpoint::local_path(directory / "socket");
    serve(ServerOptions(), at);
    unix_sockets::PlainSocket client;
    BOOST_REQUIRE(client.bind(unix_sockets::longest_path(directory.path())) == 0);
    BOOST_REQUIRE(client.connect(at.address()) == 0);
    run_until_open(1);
    BOOST_TEST(courses[0].transport.remote_endpoint().str() == "unix:");
    put(client.fd, "served");
    run_until([&] { return last_bytes() == "served"; });
}

SERVER_TEST(permissions_are_those_asked_for_where_a_stale_file_was_too) {
    const support::TemporaryDirectory folder;
    const std::string path = folder / "socket";
    unix_sockets::leave_stale(path);
    BOOST_REQUIRE(::chmod(path.c_str(), 0777) == 0);
    serve(ServerOptions().permissions(0600), Endpoint::local_path(path));
    struct ::stat found;
    BOOST_REQUIRE(::lstat(path.c_str(), &found) == 0);
    BOOST_TEST((found.st_mode & 07777) == 0600u);
}

SERVER_TEST(options_of_addresses_have_no_effect) {
    const support::TemporaryDirectory folder;
    const Endpoint at = Endpoint::local_path(folder / "socket");
    const ServerOptions options =
        ServerOptions().reuse_address(true).reuse_port(true).max_per_address(1);
    serve(options, at);
    const std::vector<int> sockets = listening();
    BOOST_REQUIRE(sockets.size() == 1u);
    BOOST_TEST(socket_option(sockets[0], SOL_SOCKET, SO_REUSEADDR) == 0);
    BOOST_TEST(socket_option(sockets[0], SOL_SOCKET, SO_REUSEPORT) == 0);
    BOOST_TEST(support::code_of([&] { create_server(loop, factory(), at, options); }) ==
               EADDRINUSE);
    for (int i = 0; i < 3; ++i) connect();
    run_until_open(3);
    BOOST_TEST(server.counters().refused_by_limit == 0u);
    clients.clear();
    run_until([&] { return server.counters().open == 0; });
}

BOOST_AUTO_TEST_SUITE_END()
