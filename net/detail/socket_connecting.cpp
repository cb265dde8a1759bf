// SPDX-License-Identifier: BSL-1.0
#include <net/detail/socket_state.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include <netinet/in.h>
#include <sys/socket.h>

namespace reactor {
namespace net {
namespace detail {

using reactor::detail::PromiseAccess;
using reactor::detail::StateOwner;

namespace {

// How often a Unix listener with a full backlog is asked: there is nothing to wait for.
constexpr Duration first_pause = std::chrono::milliseconds(1);
constexpr Duration longest_pause = std::chrono::milliseconds(100);

bool has_peer(int descriptor) noexcept {
    ::sockaddr_storage peer;
    ::socklen_t size = sizeof peer;
    return ::getpeername(descriptor, static_cast<::sockaddr*>(static_cast<void*>(&peer)), &size) ==
           0;
}

}  // namespace

void ConnectOperation::abandon() noexcept { owner->forget(*this); }

Promise<void> SocketState::connect(const Endpoint& to, const Endpoint& from,
                                   const Deadline& deadline, const Here& here) {
    core.check("connect");
    if (connected_ || connecting_) {
        throw StateError("connect: the socket is connected or connecting: close() it first");
    }
    StateOwner<ConnectOperation> connect(reactor::detail::make_state<ConnectOperation>(core, here));
    const Promise<void> promise = PromiseAccess::share<Promise<void>>(&*connect);
    peer_ = to;
    make_socket();
    boost::system::error_code error;
    socket_->open(to_asio(to).protocol(), error);
    if (!error) hold();
    if (!error && !from.empty()) {
        connect->from = from.str();
        if (const int code = bind(from)) {
            close_descriptor();
            fail(*connect, socket_error(code, "bind " + connect->from + " to connect to", to));
            return promise;
        }
    }
    if (advance(*connect, error ? error.value() : begin_connect())) return promise;

    limit(*connect, deadline, &SocketState::connect_late);
    connect->owner = this;
    connect->keep();
    connecting_ = &*connect;
    return promise;
}

int SocketState::bind(const Endpoint& from) noexcept {
#ifdef IP_BIND_ADDRESS_NO_PORT
    if (from.is_ip() && from.port() == 0) {
        // The port is chosen when the peer is known, so that it need be free towards that one only
        // (ip(7)). An old kernel does without; it counts for both families.
        const int on = 1;
        ::setsockopt(socket_->native_handle(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    }
#endif
    boost::system::error_code error;
    socket_->bind(to_asio(from), error);
    return error.value();
}

int SocketState::begin_connect() noexcept {
    // Asio's own connect would wait here, however long it takes, also on a non-blocking socket.
    const ::sockaddr* const address = static_cast<const ::sockaddr*>(peer_.data());
    const int descriptor = socket_->native_handle();
    if (::connect(descriptor, address, static_cast<::socklen_t>(peer_.size())) == 0) return 0;
    // Interrupted, it goes on in the background all the same.
    return errno == EINTR ? EINPROGRESS : errno;
}

/// True: it is done.
bool SocketState::advance(ConnectOperation& connect, int code) {
    if (code == 0) {
        connected_ = true;
        drained_ = true;  // who was connected just now has hardly said anything yet
        if (peer_.is_ip()) {
            boost::system::error_code ignored;  // the peer may be gone again
            socket_->set_option(boost::asio::ip::tcp::no_delay(true), ignored);
        }
        connect.set();
        return true;
    }
    if (code == EINPROGRESS) {
        if (watch_writing(connect, connect.step())) return false;
        close_descriptor();
        return true;
    }
    // A Unix listener's backlog is full, and no event will tell when it is not (tokio-rs/mio#1560).
    if (would_block(code) && peer_.family() == Endpoint::Family::local) {
        connect.pause = connect.pause == Duration::zero()
                            ? first_pause
                            : std::min(connect.pause * 2, longest_pause);
        retry_ = core.loop->call_later(connect.pause, &SocketState::try_again, this);
        return false;
    }
    close_descriptor();
    fail(connect, socket_error(code, connect.step(), peer_));
    return true;
}

void SocketState::try_again() {
    if (connecting_ && advance(*connecting_, begin_connect())) detach(connecting_);
}

void SocketState::connect_ready() {
    int code = 0;
    ::socklen_t size = sizeof code;
    if (::getsockopt(socket_->native_handle(), SOL_SOCKET, SO_ERROR, &code, &size) != 0) {
        code = errno;
    }
    // Without an error, but without a peer either: it was woken for nothing. Asked for again, the
    // connect that goes on says so, and one that is over for whatever reason says that.
    if (code == 0 && !has_peer(socket_->native_handle())) code = begin_connect();
    if (code == EALREADY) code = EINPROGRESS;
    // The writer stays for now: what the callbacks of this promise start in the next iteration
    // replaces it, so that the selector hears of one change instead of two.
    if (advance(*connecting_, code)) detach(connecting_);
}

void SocketState::connect_late() {
    const StateOwner<ConnectOperation> connect = detach(connecting_);
    close_descriptor();
    const bool full = connect->pause != Duration::zero();
    fail_late(*connect, connect->step(full ? " (the listener's backlog is full)" : ""));
}

void SocketState::forget(ConnectOperation&) noexcept {
    detach(connecting_);
    close_descriptor();
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
