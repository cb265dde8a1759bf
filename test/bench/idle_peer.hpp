// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_IDLE_PEER_HPP
#define REACTOR_TEST_BENCH_IDLE_PEER_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <test/bench/peer_process.hpp>

namespace bench {

/// What it takes besides one descriptor for each connection.
constexpr std::size_t other_descriptors = 32;

struct TooFewDescriptors : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What the servers of idle clients talk to: connects so many times, and says nothing until it is
/// killed. `numbers`: the port, connections.
inline void connect_and_wait(char** numbers) {
    const sockaddr_in server = loopback(static_cast<std::uint16_t>(std::atoi(numbers[0])));
    const std::size_t count = std::strtoull(numbers[1], nullptr, 10);
    for (std::size_t i = 0; i < count; ++i) {
        const int fd = checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
        checked(connect(fd, reinterpret_cast<const sockaddr*>(&server), sizeof server), "connect");
    }
    for (;;) pause();
}

/// Lets this process have so many connections, or throws TooFewDescriptors.
inline void require_descriptors(std::size_t connections) {
    const std::uint64_t descriptors = raise_descriptor_limit();
    if (descriptors >= connections + other_descriptors) return;
    throw TooFewDescriptors(std::to_string(connections) + " connections need " +
                            std::to_string(connections + other_descriptors) +
                            " descriptors, the system allows " + std::to_string(descriptors) +
                            " (ulimit -Hn)");
}

}  // namespace bench

#endif
