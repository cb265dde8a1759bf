// SPDX-License-Identifier: BSL-1.0
//
// What a connection costs while so many others are open and silent, on the loopback: a message of
// 64 bytes that is sent back, and to accept one, send back its message and lose it again. By a
// Protocol, and by a Task with a Stream. The peer is a process of its own; only the server's CPU
// time is measured.
#include <net/protocol.hpp>
#include <net/server.hpp>
#include <net/stream.hpp>
#include <net/transport.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>
#include <reactor/task.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <test/bench/growth.hpp>
#include <test/bench/growth_descriptors.hpp>
#include <test/bench/peer_process.hpp>

namespace {

using bench::checked;
using bench::Measurement;
using reactor::Next;

const char* program;  // this one, to run the peer with

constexpr std::size_t message = 64;

// ---- the peer -------------------------------------------------------------------------------

enum class Peer : std::uint64_t { echo, churn };

/// From the so-manieth address of the loopback: one has ports for less than 30,000 connections.
int connect_to(const sockaddr_in& address, std::size_t from) {
    const int fd = checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    sockaddr_in own = bench::loopback(0);
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK + static_cast<std::uint32_t>(from));
    const int on = 1;
    checked(setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on), "setsockopt");
    checked(bind(fd, reinterpret_cast<const sockaddr*>(&own), sizeof own), "bind");
    checked(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), "connect");
    return fd;
}

void exchange(int fd) {
    char bytes[message] = {};
    checked(static_cast<int>(send(fd, bytes, sizeof bytes, MSG_NOSIGNAL)), "send");
    if (checked(static_cast<int>(recv(fd, bytes, sizeof bytes, MSG_WAITALL)), "recv") !=
        static_cast<int>(sizeof bytes)) {
        throw std::runtime_error("the server closed a connection");
    }
}

/// `numbers`: port, connections, operations, which of the two.
void be_peer(char** numbers) {
    const sockaddr_in address = bench::loopback(static_cast<std::uint16_t>(std::atoi(numbers[0])));
    const std::size_t connections = std::strtoul(numbers[1], nullptr, 10);
    const std::uint64_t operations = std::strtoull(numbers[2], nullptr, 10);
    const bool churn =
        std::strtoull(numbers[3], nullptr, 10) == static_cast<std::uint64_t>(Peer::churn);
    std::vector<int> all;
    for (std::size_t i = 0; i < connections; ++i) all.push_back(connect_to(address, i / 20000));
    for (const int fd : all) exchange(fd);  // so the server has accepted them all
    bench::Pick pick;
    for (std::uint64_t i = 0; i < operations; ++i) {
        if (!churn) {
            exchange(all[pick(connections)]);
            continue;
        }
        const int fd = connect_to(address, 100);
        exchange(fd);
        // By a reset: else the loopback is out of ports after some ten thousand.
        const linger at_once = {1, 0};
        checked(setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), "setsockopt");
        close(fd);
    }
    // The loop of the server is left once all that counts has come; then this process may go.
    for (const int fd : all) close(fd);
}

// ---- the servers ----------------------------------------------------------------------------

/// What was sent back, and who has gone; stops the loop when it is as many as wanted.
struct Progress {
    void stop_at(std::uint64_t& counter, std::uint64_t value) {
        counter_ = &counter;
        wanted_ = value;
        if (counter < value) loop.run_forever();
    }
    void count(std::uint64_t& counter) {
        if (++counter == wanted_ && &counter == counter_) loop.stop();
    }

    reactor::EventLoop& loop;
    std::uint64_t answered = 0;
    std::uint64_t lost = 0;

    explicit Progress(reactor::EventLoop& l) : loop(l) {}

private:
    const std::uint64_t* counter_ = nullptr;
    std::uint64_t wanted_ = 0;
};

class Echo : public reactor::net::Protocol {
public:
    explicit Echo(Progress& progress) : progress_(progress) {}

private:
    void connection_made(const reactor::net::Transport& transport) override {
        transport_ = transport;
    }
    void data_received(reactor::net::ByteView bytes) override {
        transport_.write(bytes);
        progress_.count(progress_.answered);
    }
    void connection_lost(std::exception_ptr) override { progress_.count(progress_.lost); }

    reactor::net::Transport transport_;
    Progress& progress_;
};

class EchoTask : public reactor::Task<void> {
public:
    EchoTask(reactor::net::Stream stream, Progress& progress)
        : stream_(std::move(stream)), progress_(progress) {}

private:
    Next start() override { return read(); }
    Next read() { return await(stream_.read(), &EchoTask::answer, &EchoTask::reset); }
    Next answer(std::string bytes) {
        if (bytes.empty()) return finish();
        stream_.write(std::move(bytes));
        progress_.count(progress_.answered);
        return await(stream_.drain(), &EchoTask::read);
    }
    Next reset(const std::system_error&) { return finish(); }
    Next finally() override {
        return await(stream_.close(), &EchoTask::closed, &EchoTask::closed_by_reset);
    }
    Next closed_by_reset(const std::system_error&) { return closed(); }
    Next closed() {
        progress_.count(progress_.lost);
        return end();
    }

    reactor::net::Stream stream_;
    Progress& progress_;
};

reactor::net::Server serve(reactor::EventLoop& loop, Progress& progress, bool by_task) {
    const std::vector<reactor::net::Endpoint> here = {reactor::net::Endpoint("127.0.0.1", 0)};
    const auto options = reactor::net::ServerOptions().backlog(4096);
    if (by_task) {
        return reactor::net::start_server(
            loop,
            [&loop, &progress](reactor::net::Stream stream) {
                loop.create_task<EchoTask>(std::move(stream), progress);
            },
            here, options);
    }
    return reactor::net::create_server(
        loop, [&progress] { return std::unique_ptr<reactor::net::Protocol>(new Echo(progress)); },
        here, options);
}

template <Peer kind, bool by_task>
std::uint64_t among(std::size_t size, std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    Progress progress(loop);
    reactor::net::Server server = serve(loop, progress, by_task);
    bench::PeerProcess peer(program, {server.endpoints().front().port(), size, operations,
                                      static_cast<std::uint64_t>(kind)});
    progress.stop_at(progress.answered, size);
    measured([&] {
        if (kind == Peer::churn) {
            progress.stop_at(progress.lost, operations);
        } else {
            progress.stop_at(progress.answered, size + operations);
        }
    });
    progress.stop_at(progress.lost, kind == Peer::churn ? size + operations : size);
    peer.join();
    return operations;
}

}  // namespace

int main(int argc, char** argv) {
    program = argv[0];
    try {
        const std::uint64_t most = bench::raise_descriptor_limit();
        if (argc == 6 && std::strcmp(argv[1], "peer") == 0) {
            be_peer(argv + 2);
            return 0;
        }
        return bench::run(
            bench::within_descriptors(
                most, argc == 2,
                {
                    {"connection-echo", "flat", 100000, 20000, 2000, among<Peer::echo, false>},
                    {"connection-echo-task", "flat", 100000, 20000, 2000, among<Peer::echo, true>},
                    {"connection-churn", "logarithmic", 100000, 5000, 1000,
                     among<Peer::churn, false>},
                    {"connection-churn-task", "logarithmic", 100000, 5000, 1000,
                     among<Peer::churn, true>},
                }),
            argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "growth_connections_bench: %s\n", error.what());
        return 1;
    }
}
