// SPDX-License-Identifier: BSL-1.0
//
// What a million of each costs in memory: `memory_bench promises|timers|tasks [COUNT]` makes COUNT
// (1,000,000) pending promises with one callback each, armed timers or suspended tasks and prints
// "what count allocated resident": bytes for each, as handed out by malloc and as resident in the
// process. `memory_bench connections|streams [COUNT]` has COUNT (10,000) idle connections of a
// net::Server: with a Protocol that holds its transport, or a Task that reads from its Stream; it
// ends with status 3 if the system allows too few descriptors. As it measures no time,
// `memory_bench list` is empty.
#include <net/protocol.hpp>
#include <net/server.hpp>
#include <net/stream.hpp>
#include <net/transport.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>
#include <reactor/task.hpp>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <test/bench/idle_peer.hpp>
#include <test/bench/memory_now.hpp>
#include <test/bench/peer_process.hpp>

namespace {

using bench::Memory;
using bench::memory_now;
using bench::TooFewDescriptors;

const char* program;  // this one, to run the peer with

/// The caller's handles are part of the cost: nobody can complete a promise without one.
void promises(const char* what, std::size_t count) {
    reactor::EventLoop loop;
    std::size_t called = 0;
    const Memory before = memory_now();
    std::vector<reactor::Promise<int>> held;
    held.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        held.push_back(loop.create_promise<int>());
        held.back().add_done_callback([&called](const reactor::Promise<int>&) { ++called; });
    }
    print(what, count, before);
}

void timers(const char* what, std::size_t count) {
    reactor::EventLoop loop;
    std::size_t called = 0;
    const Memory before = memory_now();
    for (std::size_t i = 0; i < count; ++i) {
        loop.call_later(std::chrono::hours(1) + std::chrono::microseconds(i * 7919 % count),
                        [&called] { ++called; });
    }
    print(what, count, before);
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

void tasks(const char* what, std::size_t count) {
    reactor::EventLoop loop;
    const reactor::Promise<void> gate = loop.create_promise<void>();
    const Memory before = memory_now();
    // Nobody holds them: the gate does, as the one who can wake them.
    for (std::size_t i = 0; i < count; ++i) {
        loop.create_task<Waiter>(gate);
        if (i % 1024 == 0) loop.run_once(reactor::Duration::zero());
    }
    loop.run_once(reactor::Duration::zero());
    print(what, count, before);
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
void idle_connections(const char* what, std::size_t count, Make make) {
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
    print(what, count, before);
}

const reactor::net::Endpoint any_port("127.0.0.1", 0);

void connections(const char* what, std::size_t count) {
    idle_connections(
        what, count, [](reactor::EventLoop& loop, const std::function<void()>& arrived) {
            return reactor::net::create_server(
                loop,
                [&arrived] {
                    return std::unique_ptr<reactor::net::Protocol>(new IdleProtocol(arrived));
                },
                any_port);
        });
}

void streams(const char* what, std::size_t count) {
    idle_connections(
        what, count, [](reactor::EventLoop& loop, const std::function<void()>& arrived) {
            return reactor::net::start_server(
                loop, reactor::net::serve_with<IdleTask>(std::cref(arrived)), any_port);
        });
}

}  // namespace

int main(int argc, char** argv) {
    program = argv[0];
    if (argc == 2 && std::strcmp(argv[1], "list") == 0) return 0;
    const struct {
        const char* name;
        void (*run)(const char*, std::size_t);
        std::size_t count;
    } kinds[] = {{"promises", promises, 1000000},
                 {"timers", timers, 1000000},
                 {"tasks", tasks, 1000000},
                 {"connections", connections, 10000},
                 {"streams", streams, 10000}};
    try {
        if (argc == 4 && std::strcmp(argv[1], "peer") == 0) {
            bench::raise_descriptor_limit();
            bench::connect_and_wait(argv + 2);
        }
        for (const auto& kind : kinds) {
            if (argc < 2 || std::strcmp(argv[1], kind.name) != 0) continue;
            const std::size_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : kind.count;
            if (count == 0) break;
            kind.run(kind.name, count);
            return 0;
        }
    } catch (const TooFewDescriptors& error) {
        std::fprintf(stderr, "memory_bench: %s is left out: %s\n", argv[1], error.what());
        return 3;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "memory_bench: %s\n", error.what());
        return 1;
    }
    std::fprintf(stderr, "usage: %s list | promises|timers|tasks|connections|streams [COUNT]\n",
                 argv[0]);
    return 2;
}
