// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_RAW_DATAGRAMS_HPP
#define REACTOR_TEST_BENCH_RAW_DATAGRAMS_HPP

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>

#include <test/bench/peer_process.hpp>

namespace bench {

/// A socket on the loopback, on a port that the system has chosen.
inline int bind_on_loopback(std::uint16_t& port) {
    const int fd = checked(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket");
    sockaddr_in address = loopback(0);
    sockaddr* const bytes = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    checked(bind(fd, bytes, size), "bind");
    checked(getsockname(fd, bytes, &size), "getsockname");
    port = ntohs(address.sin_port);
    return fd;
}

/// For what the system does not take: the peer repeats it.
inline int sent(int result, const char* what) {
    return result < 0 && errno == EAGAIN ? 0 : checked(result, what);
}

/// Sends back what comes, one after the other, until nothing is left.
class OneByOne {
public:
    void operator()(int fd) {
        for (;;) {
            sockaddr_in sender;
            sockaddr* const address = reinterpret_cast<sockaddr*>(&sender);
            socklen_t size = sizeof sender;
            const ::ssize_t got = recvfrom(fd, bytes_.data(), bytes_.size(), 0, address, &size);
            if (got < 0 && errno == EAGAIN) return;
            checked(int(got), "recvfrom");
            sent(int(sendto(fd, bytes_.data(), std::size_t(got), 0, address, size)), "sendto");
        }
    }

private:
    std::vector<char> bytes_ = std::vector<char>(65536);
};

}  // namespace bench

#endif
