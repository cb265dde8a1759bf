// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_DATAGRAM_SETTINGS_HPP
#define REACTOR_NET_DETAIL_DATAGRAM_SETTINGS_HPP

#include <net/detail/datagram_descriptor.hpp>
#include <net/endpoint.hpp>

namespace reactor {
namespace net {
namespace detail {

/// The options of an open datagram socket, as DatagramSocket has them: what that and the
/// DatagramTransport have in common. A view of the socket, which outlives it.
class DatagramSettings {
public:
    explicit DatagramSettings(const DatagramDescriptor& socket) noexcept : socket_(socket) {}

    void set_broadcast(bool on) const;
    bool broadcast() const;
    void set_ttl(int hops) const;
    int ttl() const;
    void set_send_buffer_size(int bytes) const;
    int send_buffer_size() const;
    void set_receive_buffer_size(int bytes) const;
    int receive_buffer_size() const;
    void join_group(const Endpoint& group, unsigned interface_index) const;
    void leave_group(const Endpoint& group, unsigned interface_index) const;
    void set_multicast_interface(unsigned interface_index) const;
    void set_multicast_ttl(int hops) const;
    int multicast_ttl() const;
    void set_multicast_loop(bool on) const;
    bool multicast_loop() const;

private:
    const DatagramDescriptor& socket_;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
