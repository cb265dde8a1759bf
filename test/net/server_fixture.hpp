// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_NET_SERVER_FIXTURE_HPP
#define REACTOR_TEST_NET_SERVER_FIXTURE_HPP

#include "transport_fixture.hpp"

#include <net/server.hpp>

#include <test/support/socket_option.hpp>

#include <deque>
#include <functional>
#include <string>
#include <vector>

/// What tests of servers share: a server that records what its clients do, and clients that are
/// plain descriptors.
namespace served {

using namespace transports;
using reactor::CancelledError;
using reactor::Duration;
using reactor::Report;
using reactor::net::create_server;
using reactor::net::ProtocolFactory;
using reactor::net::Server;
using reactor::net::ServerCounters;
using reactor::net::ServerOptions;
using reactor::net::ShutdownSummary;
using reactor::net::start_server;
using reactor::net::Stream;
using reactor::net::StreamHandler;

using support::socket_option;

const Endpoint any_port("127.0.0.1", 0);

/// The descriptors of this process that listen, which its tests have none of otherwise.
inline std::vector<int> listening() {
    std::vector<int> found;
    for (int fd = 3; fd < 256; ++fd) {
        if (socket_option(fd, SOL_SOCKET, SO_ACCEPTCONN) == 1) found.push_back(fd);
    }
    return found;
}

inline bool has_ipv6() {
    const Descriptor probe(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const Endpoint at("::1", 0);
    return probe.number >= 0 && ::bind(probe.number, static_cast<const ::sockaddr*>(at.data()),
                                       static_cast<::socklen_t>(at.size())) == 0;
}

/// One that somebody else has opened.
inline Descriptor listening_socket(const Endpoint& at) {
    Descriptor made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    BOOST_REQUIRE(::bind(made.number, static_cast<const ::sockaddr*>(at.data()),
                         static_cast<::socklen_t>(at.size())) == 0);
    BOOST_REQUIRE(::listen(made.number, 5) == 0);
    return made;
}

/// A descriptor that has tried to connect: `error` says what came of it.
struct Client {
    explicit Client(const Endpoint& to)
        : descriptor(::socket(static_cast<const ::sockaddr*>(to.data())->sa_family,
                              SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        BOOST_REQUIRE(descriptor.number >= 0);
        const auto* const address = static_cast<const ::sockaddr*>(to.data());
        if (::connect(descriptor.number, address, static_cast<::socklen_t>(to.size())) != 0) {
            error = errno;
        }
    }
    Client(Client&&) = default;
    Client& operator=(Client&&) = default;

    void send(const std::string& bytes) const { put(descriptor.number, bytes); }
    std::string received() const { return take(descriptor.number); }
    /// Whether the server has ended the connection, one way or the other.
    bool ended() const {
        bool end = false;
        take(descriptor.number, 1 << 20, &end);
        return end || error_of_reading(descriptor.number) == ECONNRESET;
    }
    bool was_reset() const { return error_of_reading(descriptor.number) == ECONNRESET; }
    void end_sending() const { ::shutdown(descriptor.number, SHUT_WR); }
    /// Lets go with a reset.
    void reset() {
        const ::linger at_once = {1, 0};
        ::setsockopt(descriptor.number, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        descriptor.close();
    }

    Descriptor descriptor;
    int error = 0;
};

/// A loop in virtual time with a server, its clients, and what its protocols were told.
struct ServerTest : support::LoopTest {
    explicit ServerTest(const std::string& selector = std::string()) : LoopTest(selector) {}
    ~ServerTest() {
        if (loop.is_closed()) return;
        clients.clear();
        server.abort_clients();
        server = Server();
        for (int i = 0; i < 200 && (i < 5 || loop.watch_count() != 0); ++i) loop.run_iterations(1);
    }

    /// A protocol that writes down what it is told, into one more of `courses`.
    ProtocolFactory factory() {
        return [this] {
            courses.emplace_back();
            if (on_client) on_client(courses.back());
            return told(courses.back());
        };
    }
    void serve(const ServerOptions& options = ServerOptions(), const Endpoint& at = any_port) {
        server = create_server(loop, factory(), at, options);
        address = server.endpoints().front();
    }
    Client& connect() {
        clients.emplace_back(address);
        BOOST_TEST(clients.back().error == 0);
        return clients.back();
    }
    void run_until(const std::function<bool()>& reached) {
        bool there = reached();
        for (int i = 0; i < 10000 && !there; ++i) {
            ::poll(nullptr, 0, i < 10 ? 0 : 1);
            loop.run_iterations(1);
            there = reached();
        }
        BOOST_TEST(there);
    }
    /// Until so many clients have a connection.
    void run_until_open(std::size_t count) {
        run_until([&] { return server.counters().open == count && made() >= count; });
    }
    /// What the last client has sent.
    std::string last_bytes() const { return courses.empty() ? "" : courses.back().bytes; }
    std::size_t made() const {
        std::size_t count = 0;
        for (const Course& course : courses) count += course.calls.empty() ? 0 : 1;
        return count;
    }
    std::size_t lost() const {
        std::size_t count = 0;
        for (const Course& course : courses) count += course.lost ? 1 : 0;
        return count;
    }

    std::function<void(Course&)> on_client;
    std::deque<Course> courses;
    std::deque<Client> clients;
    Endpoint address;
    Server server;
};

}  // namespace served

#endif
