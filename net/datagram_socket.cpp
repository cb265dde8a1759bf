// SPDX-License-Identifier: BSL-1.0
#include <net/datagram_socket.hpp>
#include <net/detail/datagram_settings.hpp>
#include <net/detail/datagram_state.hpp>
#include <reactor/detail/loop_state.hpp>

#include <stdexcept>
#include <string>

namespace reactor {
namespace net {

using detail::DatagramDescriptor;
using detail::DatagramState;

constexpr std::size_t DatagramSocket::max_size;

namespace {

static_assert(DatagramSocket::max_size == detail::SocketService::buffer_size,
              "what the header promises is what the loop's buffer holds");

EventLoop& checked(EventLoop& loop) {
    DatagramDescriptor::check_loop(loop, "DatagramSocket");
    return loop;
}

void check_address(const Endpoint& to, const char* call) {
    if (to.empty()) throw std::invalid_argument(std::string(call) + ": the address is empty");
}

}  // namespace

// ---- made, and gone -------------------------------------------------------------------------

DatagramSocket::DatagramSocket() noexcept = default;
DatagramSocket::DatagramSocket(EventLoop& loop, const Endpoint& local, DatagramOptions options)
    : state_(new DatagramState(loop, DatagramDescriptor::bound(checked(loop), local, options))) {}
DatagramSocket::DatagramSocket(EventLoop& loop, Endpoint::Family family, DatagramOptions options)
    : state_(new DatagramState(loop, DatagramDescriptor::unbound(checked(loop), family, options))) {
}
DatagramSocket::DatagramSocket(DatagramSocket&&) noexcept = default;
DatagramSocket& DatagramSocket::operator=(DatagramSocket&&) noexcept = default;
DatagramSocket::~DatagramSocket() = default;

DatagramSocket DatagramSocket::adopt(EventLoop& loop, int descriptor) {
    checked(loop);
    DatagramSocket made;
    made.state_.reset(new DatagramState(loop, DatagramDescriptor()));
    DatagramDescriptor adopted = DatagramDescriptor::adopt(loop, descriptor);
    try {
        reactor::detail::watches_of(loop.core()).require_free("adopt", descriptor);
        made.state_->take_over(adopted);
    } catch (...) {
        adopted.release();  // the caller's still
        throw;
    }
    return made;
}

DatagramState& DatagramSocket::state(const char* call) const {
    if (!state_) {
        throw StateError(std::string(call) + ": the DatagramSocket is empty: make one of a loop");
    }
    return *state_;
}

DatagramState& DatagramSocket::opened(const char* call) const {
    DatagramState& socket = state(call);
    socket.core.check(call);
    if (!socket.socket().is_open()) {
        throw StateError(std::string(call) + ": the socket is closed");
    }
    return socket;
}

detail::DatagramSettings DatagramSocket::settings(const char* call) const {
    return detail::DatagramSettings(opened(call).socket());
}

DatagramState& DatagramSocket::connected(const char* call) const {
    DatagramState& socket = opened(call);
    if (!socket.socket().is_connected()) {
        throw StateError(std::string(call) + ": the socket is not connected: connect() it first");
    }
    return socket;
}

void DatagramSocket::close() noexcept {
    if (state_) state_->close();
}

int DatagramSocket::release() { return opened("release").release(); }

DatagramDescriptor detail::DatagramSocketAccess::take(DatagramSocket& socket, const char* call) {
    return socket.opened(call).take();
}

// ---- operations -----------------------------------------------------------------------------

void DatagramSocket::connect(const Endpoint& remote) {
    check_address(remote, "connect");
    opened("connect").connect(remote);
}

Promise<Datagram> DatagramSocket::receive_from(std::size_t max, Deadline deadline, Here here) {
    return opened("receive_from").receive<Datagram>(nullptr, max, deadline, here);
}

Promise<DatagramInBuffer> DatagramSocket::receive_into(char* buffer, std::size_t size,
                                                       Deadline deadline, Here here) {
    if (!buffer && size != 0) {
        throw std::invalid_argument("receive_into: the buffer is a null pointer");
    }
    return opened("receive_into").receive<DatagramInBuffer>(buffer, size, deadline, here);
}

Promise<std::string> DatagramSocket::receive(std::size_t max, Deadline deadline, Here here) {
    return connected("receive").receive<std::string>(nullptr, max, deadline, here);
}

Promise<std::size_t> DatagramSocket::send_to(ByteView bytes, const Endpoint& to, Deadline deadline,
                                             Here here) {
    check_address(to, "send_to");
    return opened("send_to").send(bytes, to, deadline, here);
}

Promise<std::size_t> DatagramSocket::send(ByteView bytes, Deadline deadline, Here here) {
    return connected("send").send(bytes, Endpoint(), deadline, here);
}

// ---- what it is -----------------------------------------------------------------------------

bool DatagramSocket::is_open() const noexcept { return state_ && state_->socket().is_open(); }

bool DatagramSocket::is_connected() const noexcept {
    return state_ && state_->socket().is_connected();
}

int DatagramSocket::native_handle() const noexcept {
    return state_ ? state_->socket().number() : -1;
}

EventLoop& DatagramSocket::loop() const {
    EventLoop* const loop = state("loop").core.loop;
    if (!loop) throw StateError("loop: the event loop of this DatagramSocket is gone");
    return *loop;
}

Endpoint DatagramSocket::local_endpoint() const {
    return opened("local_endpoint").socket().local();
}

Endpoint DatagramSocket::remote_endpoint() const {
    return connected("remote_endpoint").socket().peer();
}

// ---- options --------------------------------------------------------------------------------

void DatagramSocket::set_broadcast(bool on) { settings("set_broadcast").set_broadcast(on); }
bool DatagramSocket::broadcast() const { return settings("broadcast").broadcast(); }
void DatagramSocket::set_ttl(int hops) { settings("set_ttl").set_ttl(hops); }
int DatagramSocket::ttl() const { return settings("ttl").ttl(); }
void DatagramSocket::set_send_buffer_size(int bytes) {
    settings("set_send_buffer_size").set_send_buffer_size(bytes);
}
int DatagramSocket::send_buffer_size() const {
    return settings("send_buffer_size").send_buffer_size();
}
void DatagramSocket::set_receive_buffer_size(int bytes) {
    settings("set_receive_buffer_size").set_receive_buffer_size(bytes);
}
int DatagramSocket::receive_buffer_size() const {
    return settings("receive_buffer_size").receive_buffer_size();
}
void DatagramSocket::join_group(const Endpoint& group, unsigned interface_index) {
    settings("join_group").join_group(group, interface_index);
}
void DatagramSocket::leave_group(const Endpoint& group, unsigned interface_index) {
    settings("leave_group").leave_group(group, interface_index);
}
void DatagramSocket::set_multicast_interface(unsigned interface_index) {
    settings("set_multicast_interface").set_multicast_interface(interface_index);
}
void DatagramSocket::set_multicast_ttl(int hops) {
    settings("set_multicast_ttl").set_multicast_ttl(hops);
}
int DatagramSocket::multicast_ttl() const { return settings("multicast_ttl").multicast_ttl(); }
void DatagramSocket::set_multicast_loop(bool on) {
    settings("set_multicast_loop").set_multicast_loop(on);
}
bool DatagramSocket::multicast_loop() const { return settings("multicast_loop").multicast_loop(); }

}  // namespace net
}  // namespace reactor
