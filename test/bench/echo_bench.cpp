// SPDX-License-Identifier: BSL-1.0
//
// An echo server on the loopback: the CPU time of the server for one round trip of 64 bytes, or 16
// KiB ("16k"), over so many connections; in "pipelined" it is one connection with 16 messages of 64
// bytes under way, and the time for each. Ours is a Protocol on a Transport; "ours-tasks" is a Task
// for each Stream, "ours-streams" a Stream with callbacks, "ours-sockets" a chain of promises on
// net::Socket, "ours-watch" the bare add_reader() with recv() and send(). The limit is a loop
// around epoll_wait(), written by hand.
#include <net/listener.hpp>
#include <net/protocol.hpp>
#include <net/socket.hpp>
#include <net/stream.hpp>
#include <net/transport.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>
#include <reactor/task.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <test/bench/echo_peer.hpp>
#include <test/bench/measure.hpp>
#include <test/bench/peer_process.hpp>
#include <test/bench/raw_echo.hpp>

namespace {

using bench::EchoLoad;
using bench::Measurement;
using bench::RawConnections;
using bench::RawEcho;
using reactor::Promise;
using reactor::net::Stream;

const char* program;  // this one, to run the peer with

constexpr std::size_t small = 64;
constexpr std::size_t large = 16 * 1024;

/// Runs `server`, a callable of (loop, sockets, open), between the start and the end of a peer; the
/// server stops the loop when the last of the `open` connections is gone.
template <class Server>
std::uint64_t serve(const EchoLoad& load, std::uint64_t operations, Measurement& measured,
                    Server server) {
    RawConnections connections(program, load, operations);
    reactor::EventLoop loop;
    std::size_t open = load.connections;
    measured([&] {
        server(loop, connections.sockets, open);
        loop.run_forever();
    });
    connections.join();
    return operations;
}

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
    bench::PeerProcess peer(program, EchoLoad{connections, small, 1}.numbers(
                                         listener.local_endpoint().port(), operations));
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
    explicit StreamSession(std::size_t& open) : open_(open) {}

    void begin(const Promise<Stream>& made) {
        stream_ = made.take();
        turn();
    }

private:
    void turn() { stream_.read().add_done_callback(&StreamSession::answer, this); }
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

    Stream stream_;
    std::size_t& open_;
};

template <std::size_t connections>
std::uint64_t on_streams(std::uint64_t operations, Measurement& measured) {
    std::vector<std::unique_ptr<StreamSession>> sessions;
    return serve(
        {connections, small, 1}, operations, measured,
        [&sessions](reactor::EventLoop& loop, const std::vector<int>& sockets, std::size_t& open) {
            for (const int fd : sockets) {
                sessions.emplace_back(new StreamSession(open));
                reactor::net::make_stream(loop, fd).add_done_callback(&StreamSession::begin,
                                                                      sessions.back().get());
            }
        });
}

/// What a program would write that has one connection to deal with.
class EchoTask : public reactor::Task<void> {
public:
    EchoTask(Promise<Stream> made, std::size_t& open) : made_(std::move(made)), open_(open) {}

private:
    Next start() override { return await(std::move(made_), &EchoTask::begin); }
    Next begin(Stream stream) {
        stream_ = std::move(stream);
        return read();
    }
    Next read() { return await(stream_.read(), &EchoTask::answer); }
    Next answer(std::string bytes) {
        if (bytes.empty()) return finish();
        stream_.write(std::move(bytes));
        return await(stream_.drain(), &EchoTask::read);
    }
    Next finally() override { return await(stream_.close(), &EchoTask::closed); }
    Next closed() {
        if (--open_ == 0) loop().stop();
        return end();
    }

    Promise<Stream> made_;
    Stream stream_;
    std::size_t& open_;
};

template <std::size_t connections, std::size_t size = small, std::size_t depth = 1>
std::uint64_t by_tasks(std::uint64_t operations, Measurement& measured) {
    return serve({connections, size, depth}, operations, measured,
                 [](reactor::EventLoop& loop, const std::vector<int>& sockets, std::size_t& open) {
                     for (const int fd : sockets) {
                         loop.create_task<EchoTask>(reactor::net::make_stream(loop, fd), open);
                     }
                 });
}

// ---- system calls ---------------------------------------------------------------------------

template <std::size_t connections>
std::uint64_t by_watches(std::uint64_t operations, Measurement& measured) {
    RawEcho echo;
    return serve(
        {connections, small, 1}, operations, measured,
        [&echo](reactor::EventLoop& loop, const std::vector<int>& sockets, std::size_t& open) {
            for (const int fd : sockets) {
                loop.add_reader(reactor::Options().owned_descriptor(), fd,
                                [&echo, &loop, &open, fd] {
                                    if (echo(fd)) return;
                                    loop.forget_descriptor(fd);
                                    close(fd);
                                    if (--open == 0) loop.stop();
                                });
            }
        });
}

template <std::size_t connections, std::size_t size = small, std::size_t depth = 1>
std::uint64_t limit(std::uint64_t operations, Measurement& measured) {
    RawConnections accepted(program, {connections, size, depth}, operations);
    bench::echo_by_epoll(accepted.sockets, measured);
    accepted.join();
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

template <std::size_t connections, std::size_t size = small, std::size_t depth = 1>
std::uint64_t by_protocols(std::uint64_t operations, Measurement& measured) {
    return serve({connections, size, depth}, operations, measured,
                 [](reactor::EventLoop& loop, const std::vector<int>& sockets, std::size_t& open) {
                     for (const int fd : sockets) {
                         std::unique_ptr<reactor::net::Protocol> echo(new Echo(open));
                         make_transport(loop, fd, std::move(echo));
                     }
                 });
}

template <std::size_t connections>
std::vector<bench::Implementation> small_messages() {
    return {{"ours", by_protocols<connections>},       {"ours-tasks", by_tasks<connections>},
            {"ours-streams", on_streams<connections>}, {"ours-sockets", on_sockets<connections>},
            {"ours-watch", by_watches<connections>},   {"limit", limit<connections>}};
}

template <std::size_t connections, std::size_t size, std::size_t depth = 1>
std::vector<bench::Implementation> messages() {
    return {{"ours", by_protocols<connections, size, depth>},
            {"ours-tasks", by_tasks<connections, size, depth>},
            {"limit", limit<connections, size, depth>}};
}

std::vector<bench::Workload> workloads() {
    return {
        {"echo-1", 50000, 3000, small_messages<1>()},
        {"echo-64", 100000, 3000, small_messages<64>()},
        {"echo-1000", 50000, 20000, messages<1000, small>()},
        {"echo-16k-1", 10000, 1000, messages<1, large>()},
        {"echo-16k-64", 20000, 1000, messages<64, large>()},
        {"echo-16k-1000", 20000, 5000, messages<1000, large>()},
        {"echo-pipelined", 500000, 20000, messages<1, small, 16>()},
    };
}

}  // namespace

int main(int argc, char** argv) {
    program = argv[0];
    try {
        const std::uint64_t descriptors = bench::raise_descriptor_limit();
        if (argc == 7 && std::strcmp(argv[1], "peer") == 0) {
            bench::exchange_messages(argv + 2);
            return 0;
        }
        std::vector<bench::Workload> possible;
        for (const bench::Workload& workload : workloads()) {
            const std::string count = workload.name.substr(workload.name.rfind('-') + 1);
            if (std::strtoull(count.c_str(), nullptr, 10) + 32 <= descriptors) {
                possible.push_back(workload);
            } else {
                std::fprintf(stderr, "%s: left out, %llu descriptors are too few (ulimit -n)\n",
                             workload.name.c_str(), static_cast<unsigned long long>(descriptors));
            }
        }
        return bench::run(possible, argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "echo_bench: %s\n", error.what());
        return 1;
    }
}
