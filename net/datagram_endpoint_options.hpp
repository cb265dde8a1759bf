// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DATAGRAM_ENDPOINT_OPTIONS_HPP
#define REACTOR_NET_DATAGRAM_ENDPOINT_OPTIONS_HPP

#include <net/datagram_options.hpp>
#include <net/deadline.hpp>
#include <net/endpoint.hpp>
#include <net/port.hpp>

#include <string>

namespace reactor {
namespace net {

/// What create_datagram_endpoint() may be told; a value: any thread may hold one. Each function
/// without an argument says what the one of the same name has set.
class DatagramEndpointOptions {
public:
    /// An address, or the name of a host, which is looked up; neither if nothing was set.
    struct Address {
        Endpoint endpoint;
        std::string host;
        Port port;

        bool is_name() const noexcept { return !host.empty(); }
        bool empty() const noexcept { return endpoint.empty() && !is_name(); }
    };

    /// Where the endpoint receives; port 0 lets the system choose. Without it the first send gets
    /// an address from the system. asyncio: local_addr.
    DatagramEndpointOptions& local(const Endpoint& address) {
        local_ = {address, std::string(), Port()};
        return *this;
    }
    /// Throws std::invalid_argument for an empty host, as below: an endpoint has one socket, so
    /// that every interface is Endpoint("0.0.0.0", port) or, with DatagramOptions().v6_only(false)
    /// for both families, Endpoint("::", port).
    DatagramEndpointOptions& local(const std::string& host, const Port& port) {
        local_ = named("local", host, port);
        return *this;
    }
    /// The one that send() sends to, and that alone is heard. asyncio: remote_addr.
    DatagramEndpointOptions& remote(const Endpoint& address) {
        remote_ = {address, std::string(), Port()};
        return *this;
    }
    DatagramEndpointOptions& remote(const std::string& host, const Port& port) {
        remote_ = named("remote", host, port);
        return *this;
    }
    /// With neither address: an unbound endpoint of that family. With one: it must be of it.
    DatagramEndpointOptions& family(Endpoint::Family only) noexcept {
        family_ = only;
        return *this;
    }
    /// SO_BROADCAST, off by default: without it, sending to a broadcast address is EACCES. The
    /// socket is not connected to `remote` then: whoever answers is heard, and no ICMP.
    DatagramEndpointOptions& allow_broadcast(bool on) noexcept {
        allow_broadcast_ = on;
        return *this;
    }
    /// SO_REUSEPORT and other things that the socket is told before it takes its address.
    DatagramEndpointOptions& socket(const DatagramOptions& options) noexcept {
        socket_ = options;
        return *this;
    }
    /// By when names must have been looked up. Default: no limit.
    DatagramEndpointOptions& deadline(Deadline when) noexcept {
        deadline_ = when;
        return *this;
    }

    const Address& local() const noexcept { return local_; }
    const Address& remote() const noexcept { return remote_; }
    Endpoint::Family family() const noexcept { return family_; }
    bool allow_broadcast() const noexcept { return allow_broadcast_; }
    const DatagramOptions& socket() const noexcept { return socket_; }
    Deadline deadline() const noexcept { return deadline_; }

private:
    static Address named(const char* which, const std::string& host, const Port& port);

    Address local_;
    Address remote_;
    Endpoint::Family family_ = Endpoint::Family::none;
    bool allow_broadcast_ = false;
    DatagramOptions socket_;
    Deadline deadline_;
};

}  // namespace net
}  // namespace reactor

#endif
