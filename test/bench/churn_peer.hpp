// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_CHURN_PEER_HPP
#define REACTOR_TEST_BENCH_CHURN_PEER_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <test/bench/peer_process.hpp>

namespace bench {

constexpr std::size_t churn_message_size = 64;
constexpr std::size_t churned_at_a_time = 16;

/// Where a process's connections come from: an address of the loopback of its own, as its ports
/// stay taken for a minute after the end of a run (TIME_WAIT).
inline sockaddr_in own_address() {
    sockaddr_in address = loopback(0);
    const auto process = static_cast<std::uint32_t>(getpid());
    address.sin_addr.s_addr = htonl(0x7f010000u + process % 0xfe0000u);
    return address;
}

inline int connect_and_send(const sockaddr_in& server, const sockaddr_in& own) {
    const std::string message(churn_message_size, 'x');
    const int on = 1;
    const int fd = checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    // The port is chosen with the peer's address in view.
    checked(setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on), "setsockopt");
    checked(bind(fd, reinterpret_cast<const sockaddr*>(&own), sizeof own), "bind");
    checked(connect(fd, reinterpret_cast<const sockaddr*>(&server), sizeof server), "connect");
    checked(int(send(fd, message.data(), message.size(), MSG_NOSIGNAL)), "send");
    return fd;
}

/// What the servers of churn talk to: connects so many times, some at a time; closes each
/// connection when its answer has come. `numbers`: the port, connections altogether.
inline void come_and_go(char** numbers) {
    const sockaddr_in server = loopback(static_cast<std::uint16_t>(std::atoi(numbers[0])));
    const std::uint64_t connections = std::strtoull(numbers[1], nullptr, 10);
    const sockaddr_in own = own_address();
    const int epoll = checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    std::uint64_t begun = 0;
    std::uint64_t open = 0;
    const auto begin = [&] {
        epoll_event event = {};
        event.events = EPOLLIN;
        event.data.fd = connect_and_send(server, own);
        checked(epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event), "epoll_ctl");
        ++begun;
        ++open;
    };
    while (begun != connections && open != churned_at_a_time) begin();
    while (open != 0) {
        epoll_event events[churned_at_a_time];
        const int count = checked(epoll_wait(epoll, events, churned_at_a_time, -1), "epoll_wait");
        for (int i = 0; i < count; ++i) {
            char room[churn_message_size];
            // What was sent in one piece over the loopback comes in one piece.
            const int got = checked(int(recv(events[i].data.fd, room, sizeof room, 0)), "recv");
            if (got != int(churn_message_size)) throw std::runtime_error("the answer is not whole");
            close(events[i].data.fd);
            --open;
            if (begun != connections) begin();
        }
    }
    close(epoll);
}

}  // namespace bench

#endif
