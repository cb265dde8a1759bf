// SPDX-License-Identifier: BSL-1.0
//
// What a million of each costs in memory: pending promises with one callback each, armed timers and
// suspended tasks; and ten thousand idle connections of a net::Server, with a Protocol that holds
// its transport, or ("ours-streams") a Task that reads from its Stream. The figures are bytes for
// each, as handed out by malloc and as resident in the process. With too few descriptors for the
// connections it ends with status 3.
#include <net/protocol.hpp>
#include <net/server.hpp>
#include <net/stream.hpp>
#include <net/transport.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>
#include <reactor/task.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <test/bench/idle_peer.hpp>
#include <test/bench/memory_now.hpp>
#include <test/bench/peer_process.hpp>

namespace {

using bench::Memory;
using bench::memory_now;
using bench::TooFewDescriptors;

const char* program;  // this one, to run the peer with

/// What the figures are of.
struct Names {
    const char* workload;
    const char* implementation;
};

/// The caller's handles are part of the cost: nobody can complete a promise without one.
void promises(const Names& names, std::size_t count) {
    reactor::EventLoop loop;
    std::size_t called = 0;
    const Memory before = memory_now();
    std::vector<reactor::Promise<int>> held;
    held.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        held.push_back(loop.create_promise<int>());
        held.back().add_done_callback([&called](const reactor::Promise<int>&) { ++called; });
    }
    bench::print(names.workload, names.implementation, count, before);
}

void timers(const Names& names, std::size_t count) {
    reactor::EventLoop loop;
    std::size_t called = 0;
    const Memory before = memory_now();
    for (std::size_t i = 0; i < count; ++i) {
        loop.call_later(std::chrono::hours(1) + std::chrono::microseconds(i * 7919 % count),
                        [&called] { ++called; });
    }
    bench::print(names.workload, names.implementation, count, before);
}

/// Waits for what it is given; its own state is one number.
class Waiter : public reactor::Task<void> {
public:
    explicit Waiter(const reactor::Promise<void>& gate) : gate_(gate) {}

private:
    Next start() override { return await(gate_, &Waiter::opened); }
    Next opened() { return finish(); }

    const reactor::Promise<void>& gate_;
};

void tasks(const Names& names, std::size_t count) {
    reactor::EventLoop loop;
    const reactor::Promise<void> gate = loop.create_promise<void>();
    const Memory before = memory_now();
    // Nobody holds them: the gate does, as the one who can wake them.
    for (std::size_t i = 0; i < count; ++i) {
        loop.create_task<Waiter>(gate);
        if (i % 1024 == 0) loop.run_once(reactor::Duration::zero());
    }
    loop.run_once(reactor::Duration::zero());
    bench::print(names.workload, names.implementation, count, before);
    reactor::Promise<void>(gate).set_result();
    while (loop.ready_count() != 0) loop.run_once(reactor::Duration::zero());
}

// ---- connections ----------------------------------------------------------------------------

class IdleProtocol : public reactor::net::Protocol {
public:
    explicit IdleProtocol(const std::function<void()>& arrived) : arrived_(arrived) {}

private:
    void connection_made(const reactor::net::Transport& transport) override {
        transport_ = transport;
        arrived_();
    }
    void data_received(reactor::net::ByteView) override {}

    reactor::net::Transport transport_;
    const std::function<void()>& arrived_;
};

class IdleTask : public reactor::Task<void> {
public:
    IdleTask(reactor::net::Stream stream, const std::function<void()>& arrived)
        : stream_(std::move(stream)), arrived_(arrived) {}

private:
    Next start() override {
        arrived_();
        return await(stream_.read(), &IdleTask::ended);
    }
    Next ended() {
        stream_.abort();
        return finish();
    }

    reactor::net::Stream stream_;
    const std::function<void()>& arrived_;
};

/// `make` makes a server that calls a function for each client.
template <class Make>
void idle_connections(const Names& names, std::size_t count, Make make) {
    bench::require_descriptors(count);
    reactor::EventLoop loop;
    std::size_t left = count;
    const std::function<void()> arrived = [&loop, &left] {
        if (--left == 0) loop.stop();
    };
    const reactor::net::Server server = make(loop, arrived);
    const bench::PeerProcess peer(program, {server.endpoints().front().port(), count});
    const Memory before = memory_now();
    loop.run_forever();
    // The last one has begun, but does not wait yet.
    for (int i = 0; i < 3; ++i) loop.run_once(reactor::Duration::zero());
    bench::print(names.workload, names.implementation, count, before);
}

const reactor::net::Endpoint any_port("127.0.0.1", 0);

/// A client that finds the queue full would try again after a second.
reactor::net::ServerOptions room_for_all() { return reactor::net::ServerOptions().backlog(4096); }

void connections(const Names& names, std::size_t count) {
    idle_connections(
        names, count, [](reactor::EventLoop& loop, const std::function<void()>& arrived) {
            return reactor::net::create_server(
                loop,
                [&arrived] {
                    return std::unique_ptr<reactor::net::Protocol>(new IdleProtocol(arrived));
                },
                any_port, room_for_all());
        });
}

void streams(const Names& names, std::size_t count) {
    idle_connections(names, count,
                     [](reactor::EventLoop& loop, const std::function<void()>& arrived) {
                         return reactor::net::start_server(
                             loop, reactor::net::serve_with<IdleTask>(std::cref(arrived)), any_port,
                             room_for_all());
                     });
}

/// The limit: the system's event says which connection it is of, and that is a descriptor and what
/// to call.
void bare_connections(const Names& names, std::size_t count) {
    struct Connection {
        int fd;
        void (*readable)(void*);
        void* data;
    };
    bench::require_descriptors(count);
    std::uint16_t port = 0;
    const int listener = bench::listen_on_loopback(port);
    const int epoll = bench::checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    std::vector<std::unique_ptr<Connection>> held;
    held.reserve(count);
    const bench::PeerProcess peer(program, {port, count});
    const Memory before = memory_now();
    while (held.size() != count) {
        const int fd = bench::checked(
            accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK), "accept4");
        held.emplace_back(new Connection{fd, nullptr, nullptr});
        epoll_event event = {};
        event.events = EPOLLIN;
        event.data.ptr = held.back().get();
        bench::checked(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
    }
    bench::print(names.workload, names.implementation, count, before);
    for (const std::unique_ptr<Connection>& connection : held) close(connection->fd);
    close(epoll);
    close(listener);
}

const struct {
    Names names;
    void (*run)(const Names&, std::size_t);
    std::size_t count;
} kinds[] = {{{"memory-promises", "ours"}, promises, 1000000},
             {{"memory-timers", "ours"}, timers, 1000000},
             {{"memory-tasks", "ours"}, tasks, 1000000},
             {{"memory-connections", "ours"}, connections, 10000},
             {{"memory-connections", "ours-streams"}, streams, 10000},
             {{"memory-connections", "limit"}, bare_connections, 10000}};

}  // namespace

int main(int argc, char** argv) {
    program = argv[0];
    const std::string command = argc > 1 ? argv[1] : "";
    try {
        if (argc == 4 && command == "peer") {
            bench::raise_descriptor_limit();
            bench::connect_and_wait(argv + 2);
        }
        if (argc == 2 && command == "list") {
            for (const auto& kind : kinds) {
                std::printf("%s %s %zu 0 exact\n", kind.names.workload, kind.names.implementation,
                            kind.count);
            }
            return 0;
        }
        if (argc == 2 && command == "version") return 0;
        for (const auto& kind : kinds) {
            if (argc < 3 || command != kind.names.workload) continue;
            if (std::strcmp(argv[2], kind.names.implementation) != 0) continue;
            const std::size_t count = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : kind.count;
            kind.run(kind.names, std::max<std::size_t>(count, 1));
            return 0;
        }
    } catch (const TooFewDescriptors& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 3;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "memory_bench: %s\n", error.what());
        return 1;
    }
    std::fprintf(stderr, "usage: %s list | version | WORKLOAD IMPLEMENTATION [COUNT]\n", argv[0]);
    return 2;
}
