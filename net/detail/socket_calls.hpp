// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_SOCKET_CALLS_HPP
#define REACTOR_NET_DETAIL_SOCKET_CALLS_HPP

#include <net/detail/simulated_network.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

namespace reactor {
namespace net {
namespace detail {

/// The system calls that move the bytes of the connections of one loop, of the system or of a
/// network in memory. Each is repeated where a signal interrupts it; a negative number, and errno,
/// for an error. None raises SIGPIPE. A copy keeps the network that it knows.
class SocketCalls {
public:
    /// What opens new sockets; null: the system.
    SimulatedNetwork* simulated() const noexcept { return simulated_.get(); }
    void simulate(std::shared_ptr<SimulatedNetwork> network) noexcept {
        simulated_ = std::move(network);
        note();
    }
    /// The system opens new sockets again. The network is over, and answers for those that are open
    /// until the last of them is closed: to the system they are none.
    void end_simulation() {
        if (simulated_ && simulated_->in_use()) ended_.push_back(simulated_);
        simulated_.reset();
        note();
    }
    /// Whose socket that is, also if it is over; null: the system's.
    SimulatedNetwork* network_of(int descriptor) const noexcept {
        return none_ ? nullptr : find_network(descriptor);
    }
    /// Whether the system knows nothing of that socket.
    bool simulates(int descriptor) const noexcept { return network_of(descriptor) != nullptr; }

    ::ssize_t receive(int descriptor, char* room, std::size_t size) const noexcept {
        if (none_) {
            const ::ssize_t got = ::recv(descriptor, room, size, 0);
            if (got >= 0 || errno != EINTR) return got;
        }
        return receive_otherwise(descriptor, room, size);
    }

    ::ssize_t send(int descriptor, const char* bytes, std::size_t size) const noexcept {
        if (none_) {
            const ::ssize_t took = ::send(descriptor, bytes, size, MSG_NOSIGNAL);
            if (took >= 0 || errno != EINTR) return took;
        }
        return send_otherwise(descriptor, bytes, size);
    }

    ::ssize_t send(int descriptor, ::iovec* pieces, std::size_t count) const noexcept {
        if (auto* const network = network_of(descriptor)) {
            return network->send(descriptor, pieces, count);
        }
        ::msghdr message = ::msghdr();
        message.msg_iov = pieces;
        message.msg_iovlen = count;
        return uninterrupted([&] { return ::sendmsg(descriptor, &message, MSG_NOSIGNAL); });
    }

    int end_sending(int descriptor) const noexcept {
        auto* const network = network_of(descriptor);
        return network ? network->end_sending(descriptor) : ::shutdown(descriptor, SHUT_WR);
    }

    /// The peer of a TCP connection is to see a reset when it is closed.
    int reset_on_close(int descriptor) const noexcept {
        if (auto* const network = network_of(descriptor)) {
            return network->reset_on_close(descriptor);
        }
        const ::linger at_once = {1, 0};
        return ::setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }

    int close(int descriptor) noexcept {
        auto* const network = network_of(descriptor);
        const int result = network ? network->close(descriptor) : ::close(descriptor);
        if (!ended_.empty()) forget_unused();
        return result;
    }

private:
    // Of a network in memory, or interrupted. Apart, so that the usual call is all that its caller
    // has in line.
    __attribute__((noinline)) ::ssize_t receive_otherwise(int descriptor, char* room,
                                                          std::size_t size) const noexcept {
        if (auto* const network = network_of(descriptor)) {
            return network->receive(descriptor, room, size);
        }
        return uninterrupted([&] { return ::recv(descriptor, room, size, 0); });
    }

    __attribute__((noinline)) ::ssize_t send_otherwise(int descriptor, const char* bytes,
                                                       std::size_t size) const noexcept {
        if (auto* const network = network_of(descriptor)) {
            const ::iovec piece = {const_cast<char*>(bytes), size};
            return network->send(descriptor, &piece, 1);
        }
        return uninterrupted([&] { return ::send(descriptor, bytes, size, MSG_NOSIGNAL); });
    }

    template <class Call>
    static ::ssize_t uninterrupted(Call call) noexcept {
        ::ssize_t result;
        do {
            result = call();
        } while (result < 0 && errno == EINTR);
        return result;
    }

    SimulatedNetwork* find_network(int descriptor) const noexcept {
        if (simulated_ && simulated_->owns(descriptor)) return simulated_.get();
        for (const auto& network : ended_) {
            if (network->owns(descriptor)) return network.get();
        }
        return nullptr;
    }

    void note() noexcept { none_ = !simulated_ && ended_.empty(); }

    void forget_unused() noexcept {
        ended_.erase(std::remove_if(ended_.begin(), ended_.end(),
                                    [](const std::shared_ptr<SimulatedNetwork>& network) {
                                        return !network->in_use();
                                    }),
                     ended_.end());
        note();
    }

    std::shared_ptr<SimulatedNetwork> simulated_;
    std::vector<std::shared_ptr<SimulatedNetwork>> ended_;
    bool none_ = true;  // of these: all sockets are the system's
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
