// SPDX-License-Identifier: BSL-1.0
#include <net/detail/socket_state.hpp>
#include <net/socket.hpp>
#include <reactor/detail/loop_state.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>

namespace reactor {
namespace net {

using detail::SocketState;

constexpr std::size_t Socket::read_size;

namespace {

static_assert(Socket::read_size == detail::SocketService::buffer_size,
              "what the header promises is what the loop's buffer holds");

[[noreturn]] void throw_errno(const char* step) {
    throw std::system_error(errno, std::system_category(), step);
}

int integer_option(int descriptor, int name) {
    int value = 0;
    ::socklen_t size = sizeof value;
    if (::getsockopt(descriptor, SOL_SOCKET, name, &value, &size) != 0) throw_errno("adopt");
    return value;
}

template <class Option>
void set(SocketState& state, const Option& option, const char* step) {
    boost::system::error_code error;
    state.socket().set_option(option, error);
    if (error) throw detail::socket_error(error, step, state.peer());
}

template <class Option>
Option get(SocketState& state, const char* step) {
    Option option;
    boost::system::error_code error;
    state.socket().get_option(option, error);
    if (error) throw detail::socket_error(error, step, state.peer());
    return option;
}

using NoDelay = boost::asio::ip::tcp::no_delay;
using KeepAlive = boost::asio::socket_base::keep_alive;
using SendBuffer = boost::asio::socket_base::send_buffer_size;
using ReceiveBuffer = boost::asio::socket_base::receive_buffer_size;

}  // namespace

Socket detail::SocketAccess::wrap(std::unique_ptr<SocketState> state) noexcept {
    return Socket(std::move(state));
}

Socket::Socket() noexcept = default;
Socket::Socket(EventLoop& loop) : state_(new SocketState(loop)) {}
Socket::Socket(std::unique_ptr<SocketState> state) noexcept : state_(std::move(state)) {}
Socket::Socket(Socket&&) noexcept = default;
Socket& Socket::operator=(Socket&&) noexcept = default;
Socket::~Socket() = default;

Socket Socket::adopt(EventLoop& loop, int descriptor) {
    if (integer_option(descriptor, SO_TYPE) != SOCK_STREAM) {
        throw std::invalid_argument("adopt: descriptor " + std::to_string(descriptor) +
                                    " is no stream socket");
    }
    ::sockaddr_storage address;
    ::socklen_t size = sizeof address;
    auto* const generic = static_cast<::sockaddr*>(static_cast<void*>(&address));
    if (::getpeername(descriptor, generic, &size) != 0) throw_errno("adopt");
    const int status = ::fcntl(descriptor, F_GETFL);
    if (status < 0 || ::fcntl(descriptor, F_SETFL, status | O_NONBLOCK) != 0 ||
        ::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0) {
        throw_errno("adopt");
    }
    std::unique_ptr<SocketState> state(new SocketState(loop));
    reactor::detail::watches_of(loop.core()).require_free("adopt", descriptor);
    state->assign(descriptor, integer_option(descriptor, SO_DOMAIN),
                  Endpoint::from_sockaddr(&address, size));
    return Socket(std::move(state));
}

SocketState& Socket::state(const char* call) const {
    if (!state_) throw StateError(std::string(call) + ": the Socket is empty: make one of a loop");
    return *state_;
}

SocketState& Socket::connected(const char* call) const {
    SocketState& socket = state(call);
    socket.core.check(call);
    if (!socket.connected()) {
        throw StateError(std::string(call) + ": the socket is not connected: connect() it first");
    }
    return socket;
}

// ---- operations -----------------------------------------------------------------------------

Promise<void> Socket::connect(const Endpoint& to, Deadline deadline, Here here) {
    return state("connect").connect(to, Endpoint(), deadline, here);
}

Promise<void> Socket::connect(const Endpoint& to, const Endpoint& from, Deadline deadline,
                              Here here) {
    return state("connect").connect(to, from, deadline, here);
}

Promise<void> Socket::send(std::string bytes, Deadline deadline, Here here) {
    return connected("send").send(std::move(bytes), nullptr, false, deadline, here);
}

Promise<void> Socket::send(std::shared_ptr<const std::string> bytes, Deadline deadline, Here here) {
    if (!bytes) throw std::invalid_argument("send: the shared bytes are a null pointer");
    return connected("send").send(std::string(), std::move(bytes), false, deadline, here);
}

Promise<std::string> Socket::read(std::size_t max, Deadline deadline, Here here) {
    if (max == 0) {
        throw std::invalid_argument("read: at most 0 bytes would look like the end of the stream");
    }
    return connected("read").read(max, false, deadline, here);
}

Promise<std::string> Socket::read_all(std::size_t limit, Deadline deadline, Here here) {
    return connected("read_all").read(limit, true, deadline, here);
}

Promise<void> Socket::shutdown_send(Here here) {
    return connected("shutdown_send").send(std::string(), nullptr, true, Deadline(), here);
}

Promise<void> Socket::close(Here here) {
    SocketState& socket = state("close");
    socket.core.check_thread("close");
    auto* const closed =
        reactor::detail::make_state<reactor::detail::PlainState<void>>(socket.core, here);
    const Promise<void> promise = reactor::detail::PromiseAccess::adopt<Promise<void>>(closed);
    closed->set();
    socket.close();
    return promise;
}

void Socket::abort() noexcept {
    if (!state_) return;
    if (state_->connected()) {
        boost::system::error_code ignored;  // closed it will be all the same
        state_->socket().set_option(boost::asio::socket_base::linger(true, 0), ignored);
    }
    state_->close();
}

int Socket::release() { return connected("release").release(); }

// ---- what it is -----------------------------------------------------------------------------

bool Socket::is_connected() const noexcept { return state_ && state_->connected(); }

int Socket::native_handle() const noexcept { return state_ ? state_->descriptor() : -1; }

EventLoop& Socket::loop() const {
    EventLoop* const loop = state("loop").core.loop;
    if (!loop) throw StateError("loop: the event loop of this Socket is gone");
    return *loop;
}

Endpoint Socket::local_endpoint() const {
    SocketState& socket = connected("local_endpoint");
    boost::system::error_code error;
    const detail::StreamProtocol::endpoint local = socket.socket().local_endpoint(error);
    if (error) throw detail::socket_error(error, "local endpoint of", socket.peer());
    return detail::from_asio(local);
}

Endpoint Socket::remote_endpoint() const { return connected("remote_endpoint").peer(); }

void Socket::set_no_delay(bool on) {
    SocketState& socket = connected("set_no_delay");
    if (socket.peer().is_ip()) set(socket, NoDelay(on), "set TCP_NODELAY to");
}
bool Socket::no_delay() const {
    SocketState& socket = connected("no_delay");
    return socket.peer().is_ip() && get<NoDelay>(socket, "get TCP_NODELAY to").value();
}

void Socket::set_keep_alive(bool on) {
    set(connected("set_keep_alive"), KeepAlive(on), "set SO_KEEPALIVE to");
}
bool Socket::keep_alive() const {
    return get<KeepAlive>(connected("keep_alive"), "get SO_KEEPALIVE to").value();
}

void Socket::set_send_buffer_size(int bytes) {
    set(connected("set_send_buffer_size"), SendBuffer(bytes), "set SO_SNDBUF to");
}
int Socket::send_buffer_size() const {
    return get<SendBuffer>(connected("send_buffer_size"), "get SO_SNDBUF to").value();
}

void Socket::set_receive_buffer_size(int bytes) {
    set(connected("set_receive_buffer_size"), ReceiveBuffer(bytes), "set SO_RCVBUF to");
}
int Socket::receive_buffer_size() const {
    return get<ReceiveBuffer>(connected("receive_buffer_size"), "get SO_RCVBUF to").value();
}

}  // namespace net
}  // namespace reactor
