// SPDX-License-Identifier: BSL-1.0
#include <net/detail/new_connection.hpp>
#include <net/detail/transport_state.hpp>

#include <utility>

namespace reactor {
namespace net {
namespace detail {

NewConnection::NewConnection(NewConnection&& other) noexcept { swap(other); }

NewConnection& NewConnection::operator=(NewConnection&& other) noexcept {
    NewConnection moved(std::move(other));
    swap(moved);
    return *this;
}

NewConnection::~NewConnection() {
    if (descriptor_ >= 0) calls_.close(descriptor_);
}

void NewConnection::swap(NewConnection& other) noexcept {
    std::swap(socket_, other.socket_);
    std::swap(calls_, other.calls_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(remote_, other.remote_);
}

Transport NewConnection::start(EventLoop& loop, std::unique_ptr<Protocol> protocol) {
    if (socket_) {
        // Configured it is: TCP_NODELAY was set when it connected, the rest when it was opened.
        remote_ = socket_.remote_endpoint();
        descriptor_ = socket_.release();
        socket_ = Socket();
    }
    // Not to be read at once: who is connected just now has hardly said anything yet.
    const Transport made =
        TransportAccess::make(loop, descriptor_, remote_, std::move(protocol), false);
    descriptor_ = -1;
    return made;
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
