// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DATAGRAM_OPTIONS_HPP
#define REACTOR_NET_DATAGRAM_OPTIONS_HPP

namespace reactor {
namespace net {

/// What a datagram socket may be told before it takes its address; a value. What can be changed
/// later is set on the DatagramSocket.
class DatagramOptions {
public:
    /// SO_REUSEADDR, off by default: other sockets that have it may take the same address. Every
    /// multicast or broadcast datagram comes to each of them; any other one to the last of them, so
    /// that a stranger can take them away. No effect on a Unix socket.
    DatagramOptions& reuse_address(bool on) noexcept {
        reuse_address_ = on;
        return *this;
    }
    /// SO_REUSEPORT, off by default: several sockets of one user, in one process or many, share the
    /// address, and the system spreads the senders among them. No effect on a Unix socket.
    DatagramOptions& reuse_port(bool on) noexcept {
        reuse_port_ = on;
        return *this;
    }
    /// IPV6_V6ONLY, on by default: "[::]" does not take IPv4 datagrams, which get a socket of their
    /// own.
    DatagramOptions& v6_only(bool on) noexcept {
        v6_only_ = on;
        return *this;
    }
    /// Who may send to a Unix path, as for chmod: 0 to 0777. By default what the umask leaves.
    DatagramOptions& permissions(int mode) noexcept {
        permissions_ = mode;
        return *this;
    }

    bool reuse_address() const noexcept { return reuse_address_; }
    bool reuse_port() const noexcept { return reuse_port_; }
    bool v6_only() const noexcept { return v6_only_; }
    int permissions() const noexcept { return permissions_; }

private:
    bool reuse_address_ = false;
    bool reuse_port_ = false;
    bool v6_only_ = true;
    int permissions_ = -1;
};

}  // namespace net
}  // namespace reactor

#endif
