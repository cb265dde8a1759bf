// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_ECHO_PEER_HPP
#define REACTOR_TEST_BENCH_ECHO_PEER_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <test/bench/peer_process.hpp>

namespace bench {

/// What goes over the connections of an echo server. A value.
struct EchoLoad {
    std::size_t connections;
    std::size_t size;   // of a message, in bytes
    std::size_t depth;  // messages under way on each connection

    std::vector<std::uint64_t> numbers(std::uint16_t port, std::uint64_t messages) const {
        return {port, messages, connections, size, depth};
    }
};

/// So many connections, watched for input.
inline std::vector<int> connect_all(const sockaddr_in& address, std::size_t connections,
                                    int epoll) {
    std::vector<int> sockets;
    for (std::size_t i = 0; i < connections; ++i) {
        const int fd = checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
        checked(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address),
                "connect");
        const int on = 1;
        checked(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "setsockopt");
        epoll_event event = {};
        event.events = EPOLLIN;
        event.data.fd = fd;
        checked(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
        sockets.push_back(fd);
    }
    return sockets;
}

/// What the echo servers talk to: connects so many times, then sends so many messages on each
/// connection and the next one for each that has come back, as many altogether as it shall, and
/// closes. `numbers` are those of EchoLoad::numbers().
inline void exchange_messages(char** numbers) {
    const sockaddr_in address = loopback(static_cast<std::uint16_t>(std::atoi(numbers[0])));
    const std::uint64_t messages = std::strtoull(numbers[1], nullptr, 10);
    const EchoLoad load = {std::strtoul(numbers[2], nullptr, 10),
                           std::strtoul(numbers[3], nullptr, 10),
                           std::strtoul(numbers[4], nullptr, 10)};
    const std::string bytes(load.size * load.depth, 'x');
    std::string room(std::max<std::size_t>(bytes.size(), 65536), '\0');
    const int epoll = checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    const std::vector<int> sockets = connect_all(address, load.connections, epoll);
    std::vector<std::size_t> received;  // of the current message, by descriptor
    if (!sockets.empty()) {
        received.resize(std::size_t(*std::max_element(sockets.begin(), sockets.end())) + 1);
    }
    std::uint64_t sent = 0;
    std::uint64_t pending = 0;
    const auto send_some = [&](int fd, std::uint64_t count) {
        count = std::min(count, messages - sent);
        if (count == 0) return;
        checked(int(send(fd, bytes.data(), count * load.size, MSG_NOSIGNAL)), "send");
        sent += count;
        pending += count;
    };
    for (const int fd : sockets) send_some(fd, load.depth);
    while (pending != 0) {
        epoll_event events[64];
        const int count = checked(epoll_wait(epoll, events, 64, -1), "epoll_wait");
        for (int i = 0; i < count; ++i) {
            const int fd = events[i].data.fd;
            const int got = checked(int(recv(fd, &room[0], room.size(), 0)), "recv");
            if (got == 0) throw std::runtime_error("the server closed a connection");
            std::size_t& so_far = received[std::size_t(fd)];
            so_far += std::size_t(got);
            const std::uint64_t complete = so_far / load.size;
            so_far %= load.size;
            pending -= complete;
            send_some(fd, complete);
        }
    }
    for (const int fd : sockets) close(fd);
    close(epoll);
}

}  // namespace bench

#endif
