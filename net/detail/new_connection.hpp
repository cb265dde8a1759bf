// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_NEW_CONNECTION_HPP
#define REACTOR_NET_DETAIL_NEW_CONNECTION_HPP

#include <net/detail/socket_calls.hpp>
#include <net/endpoint.hpp>
#include <net/protocol.hpp>
#include <net/socket.hpp>
#include <net/transport.hpp>
#include <reactor/event_loop.hpp>

#include <memory>
#include <utility>

namespace reactor {
namespace net {
namespace detail {

/// An outgoing connection that has just come about, and is neither a Socket nor a transport yet: of
/// the system, or of a network in memory. Owns it; closes it unless it is taken.
class NewConnection {
public:
    explicit NewConnection(Socket socket) noexcept : socket_(std::move(socket)) {}
    /// Of a network in memory: takes over the descriptor.
    NewConnection(const SocketCalls& calls, int descriptor, const Endpoint& remote) noexcept
        : calls_(calls), descriptor_(descriptor), remote_(remote) {}
    NewConnection(NewConnection&& other) noexcept;
    NewConnection& operator=(NewConnection&& other) noexcept;
    ~NewConnection();

    /// Of the system's only.
    Socket take_socket() noexcept { return std::move(socket_); }
    /// Hands it to the protocol. If it throws, the connection is still here.
    Transport start(EventLoop& loop, std::unique_ptr<Protocol> protocol);

private:
    void swap(NewConnection& other) noexcept;

    Socket socket_;
    SocketCalls calls_;
    int descriptor_ = -1;  // -1 while it is the socket's
    Endpoint remote_;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
