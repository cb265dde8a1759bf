// SPDX-License-Identifier: BSL-1.0
//
// An echo server on the loopback and messages of 64 bytes: the CPU time of the server for one round
// trip. Ours is a chain of promises on net::Socket; "echo-protocol" is a Protocol on a Transport,
// "echo-streams" a Stream, "echo-watch" the bare add_reader() with recv() and send(). The limit is
// a loop around epoll_wait(), written by hand.
#include <net/listener.hpp>
#include <net/protocol.hpp>
#include <net/socket.hpp>
#include <net/stream.hpp>
#include <net/transport.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <test/bench/echo_peer.hpp>
#include <test/bench/measure.hpp>

namespace {

using bench::checked;
using bench::EchoPeer;
using bench::Measurement;
using reactor::Promise;

const char* program;  // this one, to run the peer with

// ---- on net::Socket -------------------------------------------------------------------------

class Session {
public:
    Session(reactor::net::Socket socket, std::size_t& open)
        : socket_(std::move(socket)), open_(open) {}

    void turn() { socket_.read().then(&Session::answer, this).then(&Session::next, this); }

private:
    Promise<void> answer(std::string bytes) {
        if (!bytes.empty()) return socket_.send(std::move(bytes));
        ended_ = true;
        return socket_.close();
    }
    void next() {
        if (!ended_) {
            turn();
        } else if (--open_ == 0) {
            reactor::get_running_loop().stop();
        }
    }

    reactor::net::Socket socket_;
    std::size_t& open_;
    bool ended_ = false;
};

template <std::size_t connections>
std::uint64_t on_sockets(std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    reactor::net::Listener listener(loop, reactor::net::Endpoint("127.0.0.1", 0));
    EchoPeer peer(program, listener.local_endpoint().port(), connections, operations);
    std::size_t open = connections;
    std::vector<std::unique_ptr<Session>> sessions;
    for (std::size_t i = 0; i < connections; ++i) {
        sessions.emplace_back(new Session(loop.run_until_complete(listener.accept()), open));
    }
    measured([&] {
        for (const std::unique_ptr<Session>& session : sessions) session->turn();
        loop.run_forever();
    });
    peer.join();
    return operations;
}

// ---- on net::Stream -------------------------------------------------------------------------

class StreamSession {
public:
    StreamSession(reactor::net::Stream stream, std::size_t& open)
        : stream_(std::move(stream)), open_(open) {}

    void turn() { stream_.read().add_done_callback(&StreamSession::answer, this); }

private:
    void answer(const Promise<std::string>& read) {
        if (!read.result().empty()) {
            stream_.write(read.take());
            turn();
        } else {
            stream_.close().add_done_callback(&StreamSession::closed, this);
        }
    }
    void closed(const Promise<void>&) {
        if (--open_ == 0) reactor::get_running_loop().stop();
    }

    reactor::net::Stream stream_;
    std::size_t& open_;
};

template <std::size_t connections>
std::uint64_t on_streams(std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    reactor::net::Listener listener(loop, reactor::net::Endpoint("127.0.0.1", 0));
    EchoPeer peer(program, listener.local_endpoint().port(), connections, operations);
    std::size_t open = connections;
    std::vector<std::unique_ptr<StreamSession>> sessions;
    for (std::size_t i = 0; i < connections; ++i) {
        const int descriptor = loop.run_until_complete(listener.accept()).release();
        sessions.emplace_back(new StreamSession(
            loop.run_until_complete(reactor::net::make_stream(loop, descriptor)), open));
    }
    measured([&] {
        for (const std::unique_ptr<StreamSession>& session : sessions) session->turn();
        loop.run_forever();
    });
    peer.join();
    return operations;
}

// ---- system calls ---------------------------------------------------------------------------

/// The connections of a peer, accepted without any loop.
class RawServer {
public:
    RawServer(std::size_t connections, std::uint64_t messages) {
        const int listener = checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
        sockaddr_in address = {};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        sockaddr* const bytes = reinterpret_cast<sockaddr*>(&address);
        socklen_t size = sizeof address;
        checked(bind(listener, bytes, size), "bind");
        checked(listen(listener, 128), "listen");
        checked(getsockname(listener, bytes, &size), "getsockname");
        peer_.reset(new EchoPeer(program, ntohs(address.sin_port), connections, messages));
        const int on = 1;
        for (std::size_t i = 0; i < connections; ++i) {
            const int fd = checked(
                accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK), "accept4");
            checked(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "setsockopt");
            sockets.push_back(fd);
        }
        close(listener);
    }

    /// Sends back what has come; false at the end of the stream.
    bool echo(int fd) {
        const int got = checked(int(recv(fd, buffer_.get(), buffer_size, 0)), "recv");
        if (got == 0) return false;
        // A peer that waits for each answer leaves room for it.
        checked(int(send(fd, buffer_.get(), std::size_t(got), MSG_NOSIGNAL)), "send");
        return true;
    }
    void join() { peer_->join(); }

    std::vector<int> sockets;

private:
    static constexpr std::size_t buffer_size = 65536;

    std::unique_ptr<EchoPeer> peer_;
    std::unique_ptr<char[]> buffer_{new char[buffer_size]};
};

template <std::size_t connections>
std::uint64_t by_watches(std::uint64_t operations, Measurement& measured) {
    RawServer server(connections, operations);
    reactor::EventLoop loop;
    std::size_t open = connections;
    measured([&] {
        for (const int fd : server.sockets) {
            loop.add_reader(reactor::Options().owned_descriptor(), fd, [&server, &loop, &open, fd] {
                if (server.echo(fd)) return;
                loop.forget_descriptor(fd);
                close(fd);
                if (--open == 0) loop.stop();
            });
        }
        loop.run_forever();
    });
    server.join();
    return operations;
}

// ---- on net::Transport ----------------------------------------------------------------------

class Echo : public reactor::net::Protocol {
public:
    explicit Echo(std::size_t& open) : open_(open) {}

private:
    void connection_made(const reactor::net::Transport& transport) override {
        transport_ = transport;
    }
    void data_received(reactor::net::ByteView bytes) override { transport_.write(bytes); }
    void connection_lost(std::exception_ptr) override {
        if (--open_ == 0) transport_.loop().stop();
    }

    reactor::net::Transport transport_;
    std::size_t& open_;
};

template <std::size_t connections>
std::uint64_t by_protocols(std::uint64_t operations, Measurement& measured) {
    RawServer server(connections, operations);
    reactor::EventLoop loop;
    std::size_t open = connections;
    measured([&] {
        for (const int fd : server.sockets) {
            std::unique_ptr<reactor::net::Protocol> echo(new Echo(open));
            make_transport(loop, fd, std::move(echo));
        }
        loop.run_forever();
    });
    server.join();
    return operations;
}

template <std::size_t connections>
std::uint64_t limit(std::uint64_t operations, Measurement& measured) {
    RawServer server(connections, operations);
    const int epoll = checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    std::size_t open = connections;
    measured([&] {
        for (const int fd : server.sockets) {
            epoll_event event = {};
            event.events = EPOLLIN;
            event.data.fd = fd;
            checked(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
        }
        while (open != 0) {
            epoll_event events[64];
            const int count = checked(epoll_wait(epoll, events, 64, -1), "epoll_wait");
            for (int i = 0; i < count; ++i) {
                if (server.echo(events[i].data.fd)) continue;
                close(events[i].data.fd);
                --open;
            }
        }
    });
    close(epoll);
    server.join();
    return operations;
}

}  // namespace

int main(int argc, char** argv) {
    program = argv[0];
    if (argc == 5 && std::strcmp(argv[1], "peer") == 0) {
        try {
            bench::exchange_messages(static_cast<std::uint16_t>(std::atoi(argv[2])),
                                     std::strtoul(argv[3], nullptr, 10),
                                     std::strtoull(argv[4], nullptr, 10));
            return 0;
        } catch (const std::exception& error) {
            std::fprintf(stderr, "echo peer: %s\n", error.what());
            return 1;
        }
    }
    return bench::run(
        {
            {"echo-1", "limit", 50000, 3000, on_sockets<1>, limit<1>},
            {"echo-64", "limit", 100000, 3000, on_sockets<64>, limit<64>},
            {"echo-streams-1", "limit", 50000, 3000, on_streams<1>, limit<1>},
            {"echo-streams-64", "limit", 100000, 3000, on_streams<64>, limit<64>},
            {"echo-protocol-1", "limit", 50000, 3000, by_protocols<1>, limit<1>},
            {"echo-protocol-64", "limit", 100000, 3000, by_protocols<64>, limit<64>},
            {"echo-watch-1", "limit", 50000, 3000, by_watches<1>, limit<1>},
            {"echo-watch-64", "limit", 100000, 3000, by_watches<64>, limit<64>},
        },
        argc, argv);
}
