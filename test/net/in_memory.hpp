// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_NET_IN_MEMORY_HPP
#define REACTOR_TEST_NET_IN_MEMORY_HPP

#include <boost/test/unit_test.hpp>

#include <net/detail/memory_sockets.hpp>
#include <net/testing.hpp>

#include "transport_fixture.hpp"

#include <sys/uio.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>

/// What tests of the network in memory share: a loop with one, and its calls by hand.
namespace in_memory {

using reactor::Duration;
using reactor::TimePoint;
using reactor::net::detail::SimulatedNetwork;
using reactor::net::testing::MemoryNetwork;
using reactor::net::testing::MemoryNetworkCounters;
using reactor::net::testing::MemoryNetworkOptions;

/// The system calls that it answers.
inline SimulatedNetwork& calls(MemoryNetwork& network) {
    return reactor::net::detail::MemoryNetworkAccess::calls(network);
}

/// A descriptor of the network that belongs to the test.
class Socket {
public:
    explicit Socket(MemoryNetwork& network, int descriptor = -1)
        : network_(&network), descriptor_(descriptor) {}
    Socket(Socket&& other) noexcept : network_(other.network_), descriptor_(other.release()) {}
    Socket& operator=(Socket&& other) noexcept {
        std::swap(network_, other.network_);
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~Socket() { close(); }

    int number() const { return descriptor_; }
    int release() {
        const int given = descriptor_;
        descriptor_ = -1;
        return given;
    }
    void close() {
        if (descriptor_ >= 0) network_->close(release());
    }
    void reset() {
        calls(*network_).reset_on_close(descriptor_);
        close();
    }
    void end_sending() { BOOST_TEST(calls(*network_).end_sending(descriptor_) == 0); }

    /// How many bytes were taken; -1: none now. Other errors fail the test.
    ::ssize_t send(const std::string& bytes) {
        const ::iovec piece = {const_cast<char*>(bytes.data()), bytes.size()};
        const ::ssize_t took = calls(*network_).send(descriptor_, &piece, 1);
        if (took < 0) BOOST_TEST(errno == EAGAIN);
        return took;
    }
    /// What there is at once; a call may give less.
    std::string take(std::size_t most = 1 << 20, bool* ended = nullptr) {
        std::string all;
        char part[4096];
        while (all.size() < most) {
            const std::size_t wanted = std::min(sizeof part, most - all.size());
            const ::ssize_t got = calls(*network_).receive(descriptor_, part, wanted);
            if (ended && got == 0) *ended = true;
            if (got <= 0) break;
            all.append(part, static_cast<std::size_t>(got));
        }
        return all;
    }
    /// 0: bytes, or the end.
    int error_of_reading() {
        char part[1];
        return calls(*network_).receive(descriptor_, part, 1) < 0 ? errno : 0;
    }

private:
    MemoryNetwork* network_;
    int descriptor_;
};

/// A loop with a network that is as the test says.
struct NetTest : support::LoopTest {
    explicit NetTest(const std::string& selector, std::uint64_t seed = 1,
                     const MemoryNetworkOptions& options = MemoryNetworkOptions())
        : LoopTest(selector), network(loop, seed, options) {}

    std::pair<Socket, Socket> pair() {
        const std::pair<int, int> ends = network.pair();
        return std::make_pair(Socket(network, ends.first), Socket(network, ends.second));
    }
    std::pair<Socket, Socket> local_pair() {
        const std::pair<int, int> ends = network.local_pair();
        return std::make_pair(Socket(network, ends.first), Socket(network, ends.second));
    }
    /// A transport at that socket, whose life the course tells.
    transports::Transport open(Socket& socket, transports::Course& course) {
        const int number = socket.number();
        const auto made = transports::make_transport(loop, number, transports::told(course));
        socket.release();
        loop.run_until_complete(made);
        return course.transport;
    }
    /// Long enough for a few round trips.
    void settle() { loop.run_for(support::milliseconds(20)); }

    MemoryNetwork network;
};

/// The same fixture with other options.
template <class Choose>
struct With : NetTest {
    explicit With(const std::string& selector) : NetTest(selector, 7, options()) {}
    static MemoryNetworkOptions options() {
        MemoryNetworkOptions chosen;
        Choose()(chosen);
        return chosen;
    }
};

}  // namespace in_memory

/// A test case on every selector, with a `network` in which nothing goes wrong by itself.
#define REACTOR_NET_TEST(name) REACTOR_LOOP_TEST_IN(in_memory::NetTest, name)

#endif
