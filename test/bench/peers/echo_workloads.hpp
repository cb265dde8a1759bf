// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_PEERS_ECHO_WORKLOADS_HPP
#define REACTOR_TEST_BENCH_PEERS_ECHO_WORKLOADS_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <test/bench/churn_peer.hpp>
#include <test/bench/echo_peer.hpp>
#include <test/bench/idle_peer.hpp>
#include <test/bench/measure.hpp>
#include <test/bench/memory_now.hpp>
#include <test/bench/peer_process.hpp>
#include <test/bench/peers/peer_program.hpp>
#include <test/bench/raw_echo.hpp>

/// What is measured of a peer's `Server`. That is constructed with a Clients, whom it tells of each
/// client that has come and gone, and which is asked whether that was the last one to wait for;
/// add(fd) lets it echo on a connection, listen(fd) on those that a listening socket will have;
/// run() runs its loop until the last one. It closes what it was given. The descriptors do not
/// block.
namespace bench {

/// Counts the clients of a server. Owned by the workload.
class Clients {
public:
    static Clients until_gone(std::uint64_t count) { return Clients(0, count); }
    static Clients until_come(std::uint64_t count) { return Clients(count, 0); }

    /// One more has. Whether it was the last to wait for.
    bool come() noexcept { return --to_come_ == 0; }
    bool gone() noexcept { return --to_go_ == 0; }

private:
    Clients(std::uint64_t to_come, std::uint64_t to_go) : to_come_(to_come), to_go_(to_go) {}

    std::uint64_t to_come_;
    std::uint64_t to_go_;
};

/// A listener that does not block, for clients without Nagle's delay: they inherit it.
inline int listen_without_delay(std::uint16_t& port) {
    const int listener = listen_on_loopback(port);
    const int on = 1;
    checked(setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "setsockopt");
    checked(fcntl(listener, F_SETFL, O_NONBLOCK), "fcntl");
    return listener;
}

template <class Server, std::size_t connections, std::size_t size, std::size_t depth>
std::uint64_t peer_echo(std::uint64_t operations, Measurement& measured) {
    RawConnections accepted(program_name(), {connections, size, depth}, operations);
    Clients clients = Clients::until_gone(connections);
    Server server(clients);
    measured([&] {
        for (const int fd : accepted.sockets) server.add(fd);
        server.run();
    });
    accepted.join();
    return operations;
}

template <class Server>
std::uint64_t peer_churn(std::uint64_t operations, Measurement& measured) {
    std::uint16_t port = 0;
    const int listener = listen_without_delay(port);
    Clients clients = Clients::until_gone(operations);
    Server server(clients);
    server.listen(listener);
    PeerProcess peer(program_name(), {port, operations});
    measured([&server] { server.run(); });
    peer.join();
    return operations;
}

/// Memory of idle connections, in bytes for each. Ends with status 3 if the system allows too few
/// descriptors.
template <class Server>
int peer_idle_connections(const char* implementation, std::size_t count) {
    try {
        require_descriptors(count);
    } catch (const TooFewDescriptors& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 3;
    }
    std::uint16_t port = 0;
    const int listener = listen_without_delay(port);
    Clients clients = Clients::until_come(count);
    Server server(clients);
    server.listen(listener);
    {
        const PeerProcess peer(program_name(), {port, count}, "idle");
        const Memory before = memory_now();
        server.run();
        print("memory-connections", implementation, count, before);
    }
    std::fflush(stdout);
    _exit(0);  // with the clients that are there: none of the servers is made to be left alone
}

template <class Server>
std::vector<PeerWorkload> echo_workloads(const char* implementation) {
    constexpr std::size_t small = 64;
    constexpr std::size_t large = 16 * 1024;
    constexpr std::uint64_t many = 1064;
    const char* const me = implementation;
    return {
        {"echo-1", me, 50000, 3000, peer_echo<Server, 1, small, 1>, few},
        {"echo-64", me, 100000, 3000, peer_echo<Server, 64, small, 1>, few},
        {"echo-1000", me, 50000, 20000, peer_echo<Server, 1000, small, 1>, many},
        {"echo-16k-1", me, 10000, 1000, peer_echo<Server, 1, large, 1>, few},
        {"echo-16k-64", me, 20000, 1000, peer_echo<Server, 64, large, 1>, few},
        {"echo-16k-1000", me, 20000, 5000, peer_echo<Server, 1000, large, 1>, many},
        {"echo-pipelined", me, 500000, 20000, peer_echo<Server, 1, small, 16>, few},
        {"churn", me, 8000, 2000, peer_churn<Server>, few},
    };
}

inline void idle_until_killed(char** numbers) {
    raise_descriptor_limit();
    connect_and_wait(numbers);
}

/// The main() of a program with these: `IdleServer` is what idle connections are measured with.
template <class Server, class IdleServer = Server>
int run_echo_peer(const char* implementation, const std::string& version, int argc, char** argv) {
    const std::string command = argc > 1 ? argv[1] : "";
    if (argc == 2 && command == "list") {
        std::printf("memory-connections %s 10000 0 exact\n", implementation);
    }
    if (argc == 4 && command == "memory-connections" && std::string(argv[2]) == implementation) {
        program_name() = argv[0];
        return peer_idle_connections<IdleServer>(implementation,
                                                 std::strtoull(argv[3], nullptr, 10));
    }
    return run_peer(
        version, echo_workloads<Server>(implementation),
        {{"peer", 5, exchange_messages}, {"peer", 2, come_and_go}, {"idle", 2, idle_until_killed}},
        argc, argv);
}

}  // namespace bench

#endif
