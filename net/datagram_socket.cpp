// SPDX-License-Identifier: BSL-1.0
#include <net/datagram_socket.hpp>
#include <net/detail/datagram_state.hpp>
#include <net/detail/transport_service.hpp>

#include <boost/asio/ip/multicast.hpp>
#include <boost/asio/ip/unicast.hpp>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>

#include <netinet/in.h>
#include <sys/socket.h>

namespace reactor {
namespace net {

using detail::DatagramDescriptor;
using detail::DatagramState;

constexpr std::size_t DatagramSocket::max_size;

namespace {

static_assert(DatagramSocket::max_size == detail::SocketService::buffer_size,
              "what the header promises is what the loop's buffer holds");

EventLoop& checked(EventLoop& loop) {
    loop.core().check("DatagramSocket");
    if (detail::socket_calls(loop).simulated()) {
        throw StateError(
            "DatagramSocket: this loop has a network in memory, which has streams and no "
            "datagrams");
    }
    return loop;
}

void check_address(const Endpoint& to, const char* call) {
    if (to.empty()) throw std::invalid_argument(std::string(call) + ": the address is empty");
}

[[noreturn]] void fail(const DatagramState& state, int code, const std::string& step) {
    throw detail::socket_error(code, step + " on", state.address());
}

template <class Option>
void set(DatagramState& state, const Option& option, const char* step) {
    boost::system::error_code error;
    state.socket().socket().set_option(option, error);
    if (error) fail(state, error.value(), step);
}

template <class Option>
Option get(DatagramState& state, const char* step) {
    Option option;
    boost::system::error_code error;
    state.socket().socket().get_option(option, error);
    if (error) fail(state, error.value(), step);
    return option;
}

using Broadcast = boost::asio::socket_base::broadcast;
using SendBuffer = boost::asio::socket_base::send_buffer_size;
using ReceiveBuffer = boost::asio::socket_base::receive_buffer_size;
using Hops = boost::asio::ip::unicast::hops;
using MulticastHops = boost::asio::ip::multicast::hops;
using MulticastLoop = boost::asio::ip::multicast::enable_loopback;

int checked_hops(int hops, const char* call) {
    if (hops < 0 || hops > 255) {
        throw std::invalid_argument(std::string(call) + ": " + std::to_string(hops) +
                                    " is no number of hops: 0 to 255");
    }
    return hops;
}

void change_group(DatagramState& state, const Endpoint& group, unsigned interface_index, int option,
                  const char* call, const char* step) {
    if (!group.is_ip()) {
        throw std::invalid_argument(std::string(call) + ": " + group.str() +
                                    " is no address of a multicast group");
    }
    // One call for both families (RFC 3678), which names the interface by its number.
    ::group_req request = ::group_req();
    request.gr_interface = interface_index != 0 ? interface_index : group.scope_id();
    std::memcpy(&request.gr_group, group.data(), group.size());
    const int level = group.family() == Endpoint::Family::ipv4 ? IPPROTO_IP : IPPROTO_IPV6;
    if (::setsockopt(state.socket().number(), level, option, &request, sizeof request) != 0) {
        const int code = errno;  // before the text is made, which may change it
        fail(state, code, std::string(step) + ' ' + group.address());
    }
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
    made.state_->socket() = DatagramDescriptor::adopt(loop, descriptor);
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

void DatagramSocket::set_broadcast(bool on) {
    set(opened("set_broadcast"), Broadcast(on), "set SO_BROADCAST");
}
bool DatagramSocket::broadcast() const {
    return get<Broadcast>(opened("broadcast"), "get SO_BROADCAST").value();
}

void DatagramSocket::set_ttl(int hops) {
    set(opened("set_ttl"), Hops(checked_hops(hops, "set_ttl")), "set the TTL");
}
int DatagramSocket::ttl() const { return get<Hops>(opened("ttl"), "get the TTL").value(); }

void DatagramSocket::set_send_buffer_size(int bytes) {
    set(opened("set_send_buffer_size"), SendBuffer(bytes), "set SO_SNDBUF");
}
int DatagramSocket::send_buffer_size() const {
    return get<SendBuffer>(opened("send_buffer_size"), "get SO_SNDBUF").value();
}

void DatagramSocket::set_receive_buffer_size(int bytes) {
    set(opened("set_receive_buffer_size"), ReceiveBuffer(bytes), "set SO_RCVBUF");
}
int DatagramSocket::receive_buffer_size() const {
    return get<ReceiveBuffer>(opened("receive_buffer_size"), "get SO_RCVBUF").value();
}

// ---- multicast ------------------------------------------------------------------------------

void DatagramSocket::join_group(const Endpoint& group, unsigned interface_index) {
    change_group(opened("join_group"), group, interface_index, MCAST_JOIN_GROUP, "join_group",
                 "join");
}

void DatagramSocket::leave_group(const Endpoint& group, unsigned interface_index) {
    change_group(opened("leave_group"), group, interface_index, MCAST_LEAVE_GROUP, "leave_group",
                 "leave");
}

void DatagramSocket::set_multicast_interface(unsigned interface_index) {
    DatagramState& socket = opened("set_multicast_interface");
    const int descriptor = socket.socket().number();
    const int index = static_cast<int>(interface_index);
    ::ip_mreqn request = ::ip_mreqn();
    request.imr_ifindex = index;
    const bool ipv6 = socket.address().family() == Endpoint::Family::ipv6;
    const int failed =
        ipv6 ? ::setsockopt(descriptor, IPPROTO_IPV6, IPV6_MULTICAST_IF, &index, sizeof index)
             : ::setsockopt(descriptor, IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request);
    if (failed) {
        const int code = errno;
        fail(socket, code, "set the multicast interface " + std::to_string(interface_index));
    }
}

void DatagramSocket::set_multicast_ttl(int hops) {
    set(opened("set_multicast_ttl"), MulticastHops(checked_hops(hops, "set_multicast_ttl")),
        "set the multicast TTL");
}
int DatagramSocket::multicast_ttl() const {
    return get<MulticastHops>(opened("multicast_ttl"), "get the multicast TTL").value();
}

void DatagramSocket::set_multicast_loop(bool on) {
    set(opened("set_multicast_loop"), MulticastLoop(on), "set the multicast loop");
}
bool DatagramSocket::multicast_loop() const {
    return get<MulticastLoop>(opened("multicast_loop"), "get the multicast loop").value();
}

}  // namespace net
}  // namespace reactor
