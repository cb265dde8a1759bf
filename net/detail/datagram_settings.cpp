// SPDX-License-Identifier: BSL-1.0
#include <net/detail/datagram_settings.hpp>

#include <net/detail/socket_service.hpp>

#include <boost/asio/ip/multicast.hpp>
#include <boost/asio/ip/unicast.hpp>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

#include <netinet/in.h>
#include <sys/socket.h>

namespace reactor {
namespace net {
namespace detail {

namespace {

[[noreturn]] void fail(const DatagramDescriptor& socket, int code, const std::string& step) {
    throw socket_error(code, step + " on", socket.address());
}

template <class Option>
void set(const DatagramDescriptor& socket, const Option& option, const char* step) {
    boost::system::error_code error;
    socket.socket().set_option(option, error);
    if (error) fail(socket, error.value(), step);
}

template <class Option>
Option get(const DatagramDescriptor& socket, const char* step) {
    Option option;
    boost::system::error_code error;
    socket.socket().get_option(option, error);
    if (error) fail(socket, error.value(), step);
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

void change_group(const DatagramDescriptor& socket, const Endpoint& group, unsigned interface_index,
                  int option, const char* call, const char* step) {
    if (!group.is_ip()) {
        throw std::invalid_argument(std::string(call) + ": " + group.str() +
                                    " is no address of a multicast group");
    }
    // One call for both families (RFC 3678), which names the interface by its number.
    ::group_req request = ::group_req();
    request.gr_interface = interface_index != 0 ? interface_index : group.scope_id();
    std::memcpy(&request.gr_group, group.data(), group.size());
    const int level = group.family() == Endpoint::Family::ipv4 ? IPPROTO_IP : IPPROTO_IPV6;
    if (::setsockopt(socket.number(), level, option, &request, sizeof request) != 0) {
        const int code = errno;  // before the text is made, which may change it
        fail(socket, code, std::string(step) + ' ' + group.address());
    }
}

}  // namespace

void DatagramSettings::set_broadcast(bool on) const {
    set(socket_, Broadcast(on), "set SO_BROADCAST");
}
bool DatagramSettings::broadcast() const {
    return get<Broadcast>(socket_, "get SO_BROADCAST").value();
}

void DatagramSettings::set_ttl(int hops) const {
    set(socket_, Hops(checked_hops(hops, "set_ttl")), "set the TTL");
}
int DatagramSettings::ttl() const { return get<Hops>(socket_, "get the TTL").value(); }

void DatagramSettings::set_send_buffer_size(int bytes) const {
    set(socket_, SendBuffer(bytes), "set SO_SNDBUF");
}
int DatagramSettings::send_buffer_size() const {
    return get<SendBuffer>(socket_, "get SO_SNDBUF").value();
}

void DatagramSettings::set_receive_buffer_size(int bytes) const {
    set(socket_, ReceiveBuffer(bytes), "set SO_RCVBUF");
}
int DatagramSettings::receive_buffer_size() const {
    return get<ReceiveBuffer>(socket_, "get SO_RCVBUF").value();
}

// ---- multicast ------------------------------------------------------------------------------

void DatagramSettings::join_group(const Endpoint& group, unsigned interface_index) const {
    change_group(socket_, group, interface_index, MCAST_JOIN_GROUP, "join_group", "join");
}

void DatagramSettings::leave_group(const Endpoint& group, unsigned interface_index) const {
    change_group(socket_, group, interface_index, MCAST_LEAVE_GROUP, "leave_group", "leave");
}

void DatagramSettings::set_multicast_interface(unsigned interface_index) const {
    const int descriptor = socket_.number();
    const int index = static_cast<int>(interface_index);
    ::ip_mreqn request = ::ip_mreqn();
    request.imr_ifindex = index;
    const bool ipv6 = socket_.address().family() == Endpoint::Family::ipv6;
    const int failed =
        ipv6 ? ::setsockopt(descriptor, IPPROTO_IPV6, IPV6_MULTICAST_IF, &index, sizeof index)
             : ::setsockopt(descriptor, IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request);
    if (failed) {
        const int code = errno;
        fail(socket_, code, "set the multicast interface " + std::to_string(interface_index));
    }
}

void DatagramSettings::set_multicast_ttl(int hops) const {
    set(socket_, MulticastHops(checked_hops(hops, "set_multicast_ttl")), "set the multicast TTL");
}
int DatagramSettings::multicast_ttl() const {
    return get<MulticastHops>(socket_, "get the multicast TTL").value();
}

void DatagramSettings::set_multicast_loop(bool on) const {
    set(socket_, MulticastLoop(on), "set the multicast loop");
}
bool DatagramSettings::multicast_loop() const {
    return get<MulticastLoop>(socket_, "get the multicast loop").value();
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
