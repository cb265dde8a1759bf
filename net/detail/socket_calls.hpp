// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_SOCKET_CALLS_HPP
#define REACTOR_NET_DETAIL_SOCKET_CALLS_HPP

#include <net/detail/simulated_network.hpp>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <utility>

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
    }
    /// Whether the system knows nothing of that socket.
    bool simulates(int descriptor) const noexcept {
        return simulated_ && simulated_->owns(descriptor);
    }

    ::ssize_t receive(int descriptor, char* room, std::size_t size) const noexcept {
        if (simulates(descriptor)) return simulated_->receive(descriptor, room, size);
        return uninterrupted([&] { return ::recv(descriptor, room, size, 0); });
    }

    ::ssize_t send(int descriptor, const char* bytes, std::size_t size) const noexcept {
        if (simulates(descriptor)) {
            const ::iovec piece = {const_cast<char*>(bytes), size};
            return simulated_->send(descriptor, &piece, 1);
        }
        return uninterrupted([&] { return ::send(descriptor, bytes, size, MSG_NOSIGNAL); });
    }

    ::ssize_t send(int descriptor, ::iovec* pieces, std::size_t count) const noexcept {
        if (simulates(descriptor)) return simulated_->send(descriptor, pieces, count);
        ::msghdr message = ::msghdr();
        message.msg_iov = pieces;
        message.msg_iovlen = count;
        return uninterrupted([&] { return ::sendmsg(descriptor, &message, MSG_NOSIGNAL); });
    }

    int end_sending(int descriptor) const noexcept {
        return simulates(descriptor) ? simulated_->end_sending(descriptor)
                                     : ::shutdown(descriptor, SHUT_WR);
    }

    /// The peer of a TCP connection is to see a reset when it is closed.
    int reset_on_close(int descriptor) const noexcept {
        if (simulates(descriptor)) return simulated_->reset_on_close(descriptor);
        const ::linger at_once = {1, 0};
        return ::setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }

    int close(int descriptor) const noexcept {
        return simulates(descriptor) ? simulated_->close(descriptor) : ::close(descriptor);
    }

private:
    template <class Call>
    static ::ssize_t uninterrupted(Call call) noexcept {
        ::ssize_t result;
        do {
            result = call();
        } while (result < 0 && errno == EINTR);
        return result;
    }

    std::shared_ptr<SimulatedNetwork> simulated_;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
