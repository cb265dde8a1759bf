// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_ENDPOINT_HPP
#define REACTOR_NET_ENDPOINT_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace reactor {
namespace net {

/// Where a socket can be reached: an IPv4 or IPv6 address with a port, or the name of a Unix
/// socket. A value, without heap memory: any thread may hold one.
///
///     127.0.0.1:80    [::1]:80    [fe80::1%eth0]:80    unix:/run/app.sock    unix:@abstract
class Endpoint {
public:
    enum class Family : std::uint8_t { none, ipv4, ipv6, local };

    /// No address; empty().
    Endpoint() noexcept = default;

    /// An IP address, without brackets, and a port: ("::1", 80). An IPv6 address may have a zone
    /// ("fe80::1%eth0"). Throws std::invalid_argument for anything else, names of hosts included:
    /// those are for resolve().
    Endpoint(const std::string& address, std::uint16_t port);

    /// Takes the text apart that str() gives. Throws std::invalid_argument, which says what is
    /// wrong with it; std::system_error (ENAMETOOLONG) for a Unix name that does not fit.
    static Endpoint parse(const std::string& text);

    /// A Unix socket's file. Throws std::system_error (ENAMETOOLONG) beyond 107 bytes: a path is
    /// never cut; std::invalid_argument for an empty one and for one with a zero byte.
    static Endpoint local_path(const std::string& path);
    /// A name in Linux's abstract space, of any bytes, as it is: ("app") is the system's "\0app".
    /// Throws std::system_error (ENAMETOOLONG) beyond 107 bytes.
    static Endpoint local_abstract(const std::string& name);

    /// From the system's sockaddr. A Unix socket whose path does not fit, which has 108 bytes then,
    /// is one without a name: a client is not lost for what it is called. Throws
    /// std::invalid_argument for a family other than these.
    static Endpoint from_sockaddr(const void* address, std::size_t size);

    bool empty() const noexcept { return size_ == 0; }
    Family family() const noexcept;
    bool is_ip() const noexcept { return family() == Family::ipv4 || family() == Family::ipv6; }
    /// Whether it is a Unix name in the abstract space.
    bool is_abstract() const noexcept;

    /// The IP address without brackets, with its zone if it has one; a Unix socket's path or
    /// abstract name. Empty for a Unix socket without a name, such as a client's.
    std::string address() const;
    /// 0 for a Unix socket.
    std::uint16_t port() const noexcept;
    /// The IPv6 zone as the number of a network interface; 0 for none.
    std::uint32_t scope_id() const noexcept;

    /// The same IP address with another port. A Unix name stays as it is.
    Endpoint with_port(std::uint16_t port) const noexcept;

    /// The whole as one text, for messages and for parse(). "unix:" for a Unix socket without a
    /// name, "(no address)" for an empty one.
    std::string str() const;

    /// The system's sockaddr and how many bytes of it count, for calls of the system.
    const void* data() const noexcept { return bytes_; }
    std::size_t size() const noexcept { return size_; }

    /// By family, then by the bytes of the sockaddr: an order, without further meaning.
    friend bool operator==(const Endpoint& a, const Endpoint& b) noexcept {
        return a.compare(b) == 0;
    }
    friend bool operator!=(const Endpoint& a, const Endpoint& b) noexcept { return !(a == b); }
    friend bool operator<(const Endpoint& a, const Endpoint& b) noexcept {
        return a.compare(b) < 0;
    }

private:
    friend struct std::hash<Endpoint>;

    int compare(const Endpoint& other) const noexcept;
    std::size_t hash() const noexcept;

    // Room for the longest of the three, sockaddr_un with its 110 bytes.
    alignas(8) unsigned char bytes_[112] = {};
    std::uint8_t size_ = 0;
};

}  // namespace net
}  // namespace reactor

namespace std {

template <>
struct hash<reactor::net::Endpoint> {
    size_t operator()(const reactor::net::Endpoint& endpoint) const noexcept {
        return endpoint.hash();
    }
};

}  // namespace std

#endif
