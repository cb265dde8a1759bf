// SPDX-License-Identifier: BSL-1.0
#include <net/server.hpp>

#include "server_fixture.hpp"

#include <test/support/refusal.hpp>

#include <sys/syscall.h>

#include <string>
#include <system_error>
#include <vector>

using namespace served;

namespace {

// Families that the kernel was built without, and one that it has, but no interface.
bool without_ipv4 = false;
bool without_ipv6 = false;
bool without_ipv6_addresses = false;

}  // namespace

// Instead of the C library's, for the whole program.
extern "C" int socket(int domain, int type, int protocol) noexcept {
    if ((domain == AF_INET && without_ipv4) || (domain == AF_INET6 && without_ipv6)) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_socket, domain, type, protocol));
}

extern "C" int bind(int fd, const ::sockaddr* address, ::socklen_t size) noexcept {
    if (address->sa_family == AF_INET6 && without_ipv6_addresses) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_bind, fd, address, size));
}

namespace {

struct FamiliesTest : ServerTest {
    explicit FamiliesTest(const std::string& selector = std::string()) : ServerTest(selector) {
        all_there();
    }
    ~FamiliesTest() { all_there(); }
    static void all_there() { without_ipv4 = without_ipv6 = without_ipv6_addresses = false; }

    /// The addresses where it listens, each followed by a blank; or what is thrown.
    std::string serve_at(const std::vector<std::string>& hosts,
                         const ServerOptions& options = ServerOptions()) {
        try {
            server = loop.run_until_complete(create_server(loop, factory(), hosts, 0, options));
        } catch (const std::system_error& error) {
            return error.what();
        }
        return addresses();
    }
    std::string addresses() const {
        std::string all;
        for (const Endpoint& one : server.endpoints()) all += one.address() + " ";
        return all;
    }
    /// A client of the server's first socket that comes by this address is served.
    void serves(const std::string& by) {
        const std::size_t before = made();
        address = Endpoint(by, server.endpoints().front().port());
        connect();
        run_until([&] { return made() == before + 1; });
    }
};

}  // namespace

#define FAMILIES_TEST(name) REACTOR_LOOP_TEST_IN(FamiliesTest, name)

BOOST_AUTO_TEST_SUITE(server_families)

FAMILIES_TEST(addresses_that_come_more_than_once_count_once) {
    server = create_server(loop, factory(), {any_port, Endpoint("127.0.0.2", 0), any_port});
    BOOST_TEST(addresses() == "127.0.0.1 127.0.0.2 ");
    BOOST_TEST(listening().size() == 2u);
    // With a port that is no choice of the system's, the second one could not be bound.
    const Endpoint fixed = server.endpoints().front();
    server = Server();
    server = create_server(loop, factory(), {fixed, fixed});
    BOOST_TEST((server.endpoints() == std::vector<Endpoint>{fixed}));
    BOOST_TEST(serve_at({"127.0.0.1", "127.0.0.1"}) == "127.0.0.1 ");
    if (!has_ipv6()) return;
    BOOST_TEST(serve_at({"", "0.0.0.0", "::", ""}) == "0.0.0.0 :: ");
}

FAMILIES_TEST(an_empty_host_is_one_socket_for_both_families_if_it_may_be) {
    if (!has_ipv6()) return;
    BOOST_TEST(serve_at({""}, ServerOptions().v6_only(false)) == ":: ");
    const std::vector<int> sockets = listening();
    BOOST_REQUIRE(sockets.size() == 1u);
    BOOST_TEST(socket_option(sockets[0], IPPROTO_IPV6, IPV6_V6ONLY) == 0);
    serves("127.0.0.1");
    BOOST_TEST(courses[0].transport.remote_endpoint().address() == "::ffff:127.0.0.1");
    serves("::1");
    BOOST_TEST(courses[1].transport.remote_endpoint().address() == "::1");
}

FAMILIES_TEST(reuse_address_is_an_option_of_all_sockets_of_an_empty_host) {
    for (const bool reuse : {true, false}) {
        serve_at({""}, ServerOptions().reuse_address(reuse));
        const std::vector<int> sockets = listening();
        BOOST_TEST(sockets.size() == (has_ipv6() ? 2u : 1u));
        for (const int fd : sockets) {
            BOOST_TEST(socket_option(fd, SOL_SOCKET, SO_REUSEADDR) == (reuse ? 1 : 0));
        }
        server = Server();
    }
}

FAMILIES_TEST(a_family_that_the_kernel_does_not_have_is_left_out) {
    without_ipv6 = true;
    BOOST_TEST(serve_at({""}) == "0.0.0.0 ");
    BOOST_TEST(serve_at({"::1", "127.0.0.1"}) == "127.0.0.1 ");
    serves("127.0.0.1");
    without_ipv6 = false;
    without_ipv6_addresses = true;
    BOOST_TEST(serve_at({""}) == "0.0.0.0 ");
    BOOST_TEST(serve_at({"::1", "127.0.0.1"}) == "127.0.0.1 ");
    // Another address that is not there is a mistake.
    BOOST_TEST(serve_at({"127.0.0.1", "2001:db8::1"}) ==
               "listen on [2001:db8::1]:0: Cannot assign requested address");
    without_ipv6_addresses = false;
    if (!has_ipv6()) return;
    without_ipv4 = true;
    BOOST_TEST(serve_at({""}) == ":: ");
    serves("::1");
}

FAMILIES_TEST(where_no_family_is_left_the_first_error_is_told) {
    const std::string reason = ": Address family not supported by protocol";
    without_ipv6 = true;
    BOOST_TEST(serve_at({"::1"}) == "listen on [::1]:0" + reason);
    BOOST_TEST(serve_at({""}, ServerOptions().v6_only(false)) == "listen on [::]:0" + reason);
    without_ipv4 = true;
    BOOST_TEST(serve_at({""}) == "listen on 0.0.0.0:0" + reason);
    BOOST_TEST(listening().empty());
}

FAMILIES_TEST(addresses_that_are_given_as_such_are_bound_all_or_none) {
    serve();
    without_ipv6 = true;
    const std::size_t before = reactor::testing::open_descriptors();
    const auto both = [&] { create_server(loop, factory(), {any_port, Endpoint("::1", 0)}); };
    BOOST_TEST(support::refusal<std::system_error>(both) ==
               "listen on [::1]:0: Address family not supported by protocol");
    BOOST_TEST(reactor::testing::open_descriptors() == before);
}

BOOST_AUTO_TEST_SUITE_END()
