// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_RAW_ECHO_HPP
#define REACTOR_TEST_BENCH_RAW_ECHO_HPP

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <system_error>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <test/bench/echo_peer.hpp>
#include <test/bench/measure.hpp>
#include <test/bench/peer_process.hpp>

namespace bench {

/// Sends back what comes, by system calls and nothing else: the limit for every echo.
class RawEcho {
public:
    /// One step: false at the end of the stream. The sockets do not block.
    bool operator()(int fd) {
        const int got = checked(int(recv(fd, buffer_.get(), size, 0)), "recv");
        if (got != 0) answer(fd, std::size_t(got));
        return got != 0;
    }
    /// Looks whether something has come, and sends it back.
    void look(int fd) {
        const ::ssize_t got = recv(fd, buffer_.get(), size, 0);
        if (got > 0) {
            answer(fd, std::size_t(got));
        } else if (got < 0 && errno != EAGAIN) {
            throw std::system_error(errno, std::system_category(), "recv");
        }
    }

private:
    static constexpr std::size_t size = 65536;

    /// A peer that waits for each answer leaves room for it, as a rule.
    void answer(int fd, std::size_t count) {
        for (std::size_t sent = 0; sent < count;) {
            const ::ssize_t more = send(fd, buffer_.get() + sent, count - sent, MSG_NOSIGNAL);
            if (more >= 0) {
                sent += std::size_t(more);
            } else if (errno == EAGAIN) {
                pollfd room = {fd, POLLOUT, 0};
                checked(poll(&room, 1, -1), "poll");
            } else {
                throw std::system_error(errno, std::system_category(), "send");
            }
        }
    }

    std::unique_ptr<char[]> buffer_{new char[size]};
};

/// The connections of a peer that is started for them, accepted without any loop.
class RawConnections {
public:
    RawConnections(const char* program, const EchoLoad& load, std::uint64_t messages) {
        std::uint16_t port = 0;
        const int listener = listen_on_loopback(port);
        peer_.reset(new PeerProcess(program, load.numbers(port, messages)));
        const int on = 1;
        for (std::size_t i = 0; i < load.connections; ++i) {
            const int fd = checked(
                accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK), "accept4");
            checked(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "setsockopt");
            sockets.push_back(fd);
        }
        close(listener);
    }

    void join() { peer_->join(); }

    std::vector<int> sockets;

private:
    std::unique_ptr<PeerProcess> peer_;
};

/// The loop by hand around epoll_wait(), until so many have been closed by their peer.
inline void echo_until_closed(int epoll, std::size_t open) {
    RawEcho echo;
    while (open != 0) {
        epoll_event events[64];
        const int count = checked(epoll_wait(epoll, events, 64, -1), "epoll_wait");
        for (int i = 0; i < count; ++i) {
            if (echo(events[i].data.fd)) continue;
            close(events[i].data.fd);
            --open;
        }
    }
}

/// The same for these connections, from the beginning.
inline void echo_by_epoll(const std::vector<int>& sockets, Measurement& measured) {
    const int epoll = checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    measured([&] {
        for (const int fd : sockets) {
            epoll_event event = {};
            event.events = EPOLLIN;
            event.data.fd = fd;
            checked(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
        }
        echo_until_closed(epoll, sockets.size());
    });
    close(epoll);
}

}  // namespace bench

#endif
