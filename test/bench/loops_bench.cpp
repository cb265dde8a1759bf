// SPDX-License-Identifier: BSL-1.0
//
// An echo server on several loops: the CPU time of all its threads together for one round trip of
// 64 bytes, over 64 connections. Ours is a net::ServerGroup, whose clients are handed over in turn.
// The limit is the same by hand: one thread accepts, and gives each client to the next thread's
// epoll_wait(). All share one CPU here, as everything does that is measured: what more threads cost
// is seen, and not what they gain.
#include <net/protocol.hpp>
#include <net/server_group.hpp>
#include <net/transport.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/loop_group.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <test/bench/echo_peer.hpp>
#include <test/bench/measure.hpp>
#include <test/bench/peer_process.hpp>
#include <test/bench/raw_echo.hpp>

namespace {

using bench::checked;
using bench::EchoLoad;
using bench::Measurement;
using bench::PeerProcess;
using reactor::net::Protocol;
using reactor::net::ServerGroup;

const char* program;  // this one, to run the peer with

constexpr std::size_t connections = 64;
constexpr EchoLoad load = {connections, 64, 1};

// ---- on net::ServerGroup --------------------------------------------------------------------

/// The clients that are still to go, on whatever loop.
class Clients {
public:
    void one_has_gone() {
        if (--left_ == 0) over_.set_value();
    }
    void wait() { over_.get_future().wait(); }

private:
    std::atomic<std::size_t> left_{connections};
    std::promise<void> over_;
};

class Echo : public Protocol {
public:
    explicit Echo(Clients& clients) : clients_(clients) {}

private:
    void connection_made(const reactor::net::Transport& transport) override {
        transport_ = transport;
    }
    void data_received(reactor::net::ByteView bytes) override { transport_.write(bytes); }
    void connection_lost(std::exception_ptr) override { clients_.one_has_gone(); }

    reactor::net::Transport transport_;
    Clients& clients_;
};

template <std::size_t count>
std::uint64_t on_loops(std::uint64_t operations, Measurement& measured) {
    Clients clients;
    reactor::LoopGroup loops(count);
    loops.start();
    reactor::EventLoop loop;
    const ServerGroup server = loop.run_until_complete(reactor::net::create_server_group(
        loop, loops,
        [&clients](reactor::EventLoop&) {
            return [&clients] { return std::unique_ptr<Protocol>(new Echo(clients)); };
        },
        {reactor::net::Endpoint("127.0.0.1", 0)}, reactor::net::ServerOptions(),
        reactor::net::Spread::in_turn));
    PeerProcess peer(program, load.numbers(server.endpoints().front().port(), operations));
    measured([&clients] { clients.wait(); });
    peer.join();
    return operations;
}

// ---- the limit ------------------------------------------------------------------------------

template <std::size_t count>
std::uint64_t limit(std::uint64_t operations, Measurement& measured) {
    std::uint16_t port = 0;
    const int listener = bench::listen_on_loopback(port);
    const int on = 1;
    checked(setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "setsockopt");
    std::vector<int> epolls;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i) {
        epolls.push_back(checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1"));
        threads.emplace_back(bench::echo_until_closed, epolls[i], connections / count);
    }
    PeerProcess peer(program, load.numbers(port, operations));
    measured([&] {
        for (std::size_t i = 0; i < connections; ++i) {
            epoll_event event = {};
            event.events = EPOLLIN;
            event.data.fd = checked(
                accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK), "accept4");
            checked(epoll_ctl(epolls[i % count], EPOLL_CTL_ADD, event.data.fd, &event),
                    "epoll_ctl");
        }
        for (std::thread& thread : threads) thread.join();
    });
    peer.join();
    for (const int epoll : epolls) close(epoll);
    close(listener);
    return operations;
}

}  // namespace

int main(int argc, char** argv) {
    program = argv[0];
    if (argc == 7 && std::strcmp(argv[1], "peer") == 0) {
        try {
            bench::exchange_messages(argv + 2);
            return 0;
        } catch (const std::exception& error) {
            std::fprintf(stderr, "loops_bench, peer: %s\n", error.what());
            return 1;
        }
    }
    // The work is on threads of the library's own, whose instructions are not to be told apart.
    return bench::run(
        {
            {"echo-loops-1", 200000, 0, {{"ours", on_loops<1>}, {"limit", limit<1>}}},
            {"echo-loops-2", 200000, 0, {{"ours", on_loops<2>}, {"limit", limit<2>}}},
        },
        argc, argv);
}
