// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_ECHO_PEER_HPP
#define REACTOR_TEST_BENCH_ECHO_PEER_HPP

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {

constexpr std::size_t message_size = 64;

inline int checked(int result, const char* what) {
    if (result < 0) throw std::system_error(errno, std::system_category(), what);
    return result;
}

/// What the echo servers talk to: connects so many times, then sends a message on each connection
/// and the next one when the last has come back, so many messages altogether, and closes.
inline void exchange_messages(std::uint16_t port, std::size_t connections, std::uint64_t messages) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const std::string message(message_size, 'x');
    const int epoll = checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    std::vector<std::size_t> received;  // of the current message, by descriptor
    std::vector<int> sockets;
    for (std::size_t i = 0; i < connections; ++i) {
        const int fd = checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
        checked(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), "connect");
        const int on = 1;
        checked(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "setsockopt");
        epoll_event event = {};
        event.events = EPOLLIN;
        event.data.fd = fd;
        checked(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
        sockets.push_back(fd);
        received.resize(std::size_t(fd) + 1);
    }
    std::uint64_t sent = 0;
    std::uint64_t pending = 0;
    const auto send_one = [&](int fd) {
        if (sent == messages) return;
        checked(int(send(fd, message.data(), message.size(), MSG_NOSIGNAL)), "send");
        ++sent;
        ++pending;
    };
    for (const int fd : sockets) send_one(fd);
    while (pending != 0) {
        epoll_event events[64];
        const int count = checked(epoll_wait(epoll, events, 64, -1), "epoll_wait");
        for (int i = 0; i < count; ++i) {
            const int fd = events[i].data.fd;
            char buffer[message_size];
            const int got = checked(int(recv(fd, buffer, sizeof buffer, 0)), "recv");
            if (got == 0) throw std::runtime_error("the server closed a connection");
            std::size_t& so_far = received[std::size_t(fd)];
            so_far += std::size_t(got);
            if (so_far < message_size) continue;
            so_far = 0;
            --pending;
            send_one(fd);
        }
    }
    for (const int fd : sockets) close(fd);
    close(epoll);
}

/// The same as another process, so that only the server's CPU time is measured; on the server's
/// CPU, as affinity is inherited: on two, the wake-up of an idle CPU would be all one sees.
class EchoPeer {
public:
    EchoPeer(const char* program, std::uint16_t port, std::size_t connections,
             std::uint64_t messages) {
        const std::string arguments[] = {std::to_string(port), std::to_string(connections),
                                         std::to_string(messages)};
        process_ = checked(fork(), "fork");
        if (process_ != 0) return;
        execl(program, program, "peer", arguments[0].c_str(), arguments[1].c_str(),
              arguments[2].c_str(), static_cast<char*>(nullptr));
        _exit(127);
    }
    EchoPeer(const EchoPeer&) = delete;
    EchoPeer& operator=(const EchoPeer&) = delete;
    ~EchoPeer() {
        if (process_ == 0) return;
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }

    /// Waits for its end; throws if it was not a good one.
    void join() {
        int status = 0;
        checked(waitpid(process_, &status, 0), "waitpid");
        process_ = 0;
        if (status != 0) throw std::runtime_error("the peer of the echo server failed");
    }

private:
    pid_t process_;
};

}  // namespace bench

#endif
