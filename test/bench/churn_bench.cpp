// SPDX-License-Identifier: BSL-1.0
//
// Connections that come and go on the loopback: the CPU time of a server for one that is made,
// exchanges one message of 64 bytes and is closed by its peer, 16 of them at a time. Ours is
// net::Server, with a Protocol for each client, or a Task for each Stream ("ours-tasks"). The limit
// is a loop around epoll_wait(), written by hand.
#include <net/protocol.hpp>
#include <net/server.hpp>
#include <net/stream.hpp>
#include <net/transport.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/task.hpp>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <test/bench/churn_peer.hpp>
#include <test/bench/measure.hpp>
#include <test/bench/peer_process.hpp>
#include <test/bench/raw_echo.hpp>

namespace {

using bench::checked;
using bench::Measurement;
using bench::PeerProcess;

const char* program;  // this one, to run the peer with

// ---- on net::Server -------------------------------------------------------------------------

class Echo : public reactor::net::Protocol {
public:
    explicit Echo(std::uint64_t& left) : left_(left) {}

private:
    void connection_made(const reactor::net::Transport& transport) override {
        transport_ = transport;
    }
    void data_received(reactor::net::ByteView bytes) override { transport_.write(bytes); }
    void connection_lost(std::exception_ptr) override {
        if (--left_ == 0) transport_.loop().stop();
    }

    reactor::net::Transport transport_;
    std::uint64_t& left_;
};

class EchoTask : public reactor::Task<void> {
public:
    EchoTask(reactor::net::Stream stream, std::uint64_t& left)
        : stream_(std::move(stream)), left_(left) {}

private:
    Next start() override { return await(stream_.read(), &EchoTask::answer); }
    Next answer(std::string bytes) {
        if (bytes.empty()) return finish();
        stream_.write(std::move(bytes));
        return await(stream_.drain(), &EchoTask::start);
    }
    Next finally() override { return await(stream_.close(), &EchoTask::closed); }
    Next closed() {
        if (--left_ == 0) loop().stop();
        return end();
    }

    reactor::net::Stream stream_;
    std::uint64_t& left_;
};

/// Runs `make`, which makes a server that stops the loop after so many clients, and a peer.
template <class Make>
std::uint64_t serve(std::uint64_t operations, Measurement& measured, Make make) {
    reactor::EventLoop loop;
    std::uint64_t left = operations;
    const reactor::net::Server server = make(loop, left);
    PeerProcess peer(program, {server.endpoints().front().port(), operations});
    measured([&loop] { loop.run_forever(); });
    peer.join();
    return operations;
}

const reactor::net::Endpoint any_port("127.0.0.1", 0);

std::uint64_t by_protocols(std::uint64_t operations, Measurement& measured) {
    return serve(operations, measured, [](reactor::EventLoop& loop, std::uint64_t& left) {
        return reactor::net::create_server(
            loop, [&left] { return std::unique_ptr<reactor::net::Protocol>(new Echo(left)); },
            any_port);
    });
}

std::uint64_t by_tasks(std::uint64_t operations, Measurement& measured) {
    return serve(operations, measured, [](reactor::EventLoop& loop, std::uint64_t& left) {
        return reactor::net::start_server(loop, reactor::net::serve_with<EchoTask>(std::ref(left)),
                                          any_port);
    });
}

// ---- the limit ------------------------------------------------------------------------------

/// Accepts one client for each report, and looks at once whether it has sent something: as few
/// system calls as there can be.
std::uint64_t limit(std::uint64_t operations, Measurement& measured) {
    std::uint16_t port = 0;
    const int listener = bench::listen_on_loopback(port);
    const int on = 1;
    checked(setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "setsockopt");
    bench::RawEcho echo;
    const int epoll = checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    const auto watch = [epoll](int fd) {
        epoll_event event = {};
        event.events = EPOLLIN;
        event.data.fd = fd;
        checked(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
    };
    watch(listener);
    PeerProcess peer(program, {port, operations});
    std::uint64_t left = operations;
    measured([&] {
        while (left != 0) {
            epoll_event events[64];
            const int count = checked(epoll_wait(epoll, events, 64, -1), "epoll_wait");
            for (int i = 0; i < count; ++i) {
                int fd = events[i].data.fd;
                if (fd == listener) {
                    fd = checked(accept4(fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK),
                                 "accept4");
                    echo.look(fd);
                    watch(fd);
                } else if (!echo(fd)) {
                    close(fd);
                    --left;
                }
            }
        }
    });
    peer.join();
    close(epoll);
    close(listener);
    return operations;
}

}  // namespace

int main(int argc, char** argv) {
    program = argv[0];
    if (argc == 4 && std::strcmp(argv[1], "peer") == 0) {
        try {
            bench::come_and_go(argv + 2);
            return 0;
        } catch (const std::exception& error) {
            std::fprintf(stderr, "churn_bench, peer: %s\n", error.what());
            return 1;
        }
    }
    return bench::run(
        {
            {"churn",
             8000,
             2000,
             {{"ours", by_protocols}, {"ours-tasks", by_tasks}, {"limit", limit}}},
        },
        argc, argv);
}
