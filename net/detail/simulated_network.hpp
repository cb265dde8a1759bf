// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_SIMULATED_NETWORK_HPP
#define REACTOR_NET_DETAIL_SIMULATED_NETWORK_HPP

#include <net/endpoint.hpp>

#include <cstddef>

#include <sys/types.h>

struct iovec;

namespace reactor {
namespace net {
namespace detail {

/// What stands in for the system's sockets where a test has put a network in memory: then all that
/// transports, servers and connects ask goes here, see SocketCalls, which keeps it as long as
/// somebody may ask: beyond its own end, after which every call but close() is ENETDOWN. Its
/// descriptors are real ones, so that their numbers clash with no other's.
///
/// Each function answers as the system call does that its comment names, on sockets that do not
/// block: a negative number, and errno, for an error. Only for descriptors that it owns.
class SimulatedNetwork {
public:
    virtual bool owns(int descriptor) const noexcept = 0;
    /// Whether it has an open socket.
    virtual bool in_use() const noexcept = 0;
    virtual ::ssize_t receive(int descriptor, char* room, std::size_t size) noexcept = 0;  // recv
    virtual ::ssize_t send(int descriptor, const ::iovec* pieces,
                           std::size_t count) noexcept = 0;   // sendmsg with MSG_NOSIGNAL
    virtual int end_sending(int descriptor) noexcept = 0;     // shutdown(SHUT_WR)
    virtual int reset_on_close(int descriptor) noexcept = 0;  // SO_LINGER, zero seconds
    virtual int close(int descriptor) noexcept = 0;

    /// socket(), bind() and listen(); the descriptor. Port 0 is given a number.
    virtual int listen(const Endpoint& at, int backlog) noexcept = 0;
    virtual int accept(int descriptor, Endpoint& peer) noexcept = 0;  // accept4
    /// socket(), bind() unless `from` is empty, and connect(), which begins; the descriptor. It
    /// becomes writable when connect_error() tells what has come of it.
    virtual int connect(const Endpoint& to, const Endpoint& from) noexcept = 0;
    /// SO_ERROR: a code, 0 if connected; EINPROGRESS before.
    virtual int connect_error(int descriptor) noexcept = 0;
    // Empty, and errno, for an error.
    virtual Endpoint local_endpoint(int descriptor) noexcept = 0;   // getsockname
    virtual Endpoint remote_endpoint(int descriptor) noexcept = 0;  // getpeername

protected:
    SimulatedNetwork() = default;
    SimulatedNetwork(const SimulatedNetwork&) = delete;
    SimulatedNetwork& operator=(const SimulatedNetwork&) = delete;
    ~SimulatedNetwork() = default;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
