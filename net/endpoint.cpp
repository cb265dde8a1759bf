// SPDX-License-Identifier: BSL-1.0
#include <net/endpoint.hpp>

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace reactor {
namespace net {

namespace {

constexpr std::size_t path_offset = offsetof(::sockaddr_un, sun_path);
// One byte less than there is room for: an abstract name has a zero byte before it; a path, one
// behind it, without which other programs read on.
constexpr std::size_t longest_name = sizeof(::sockaddr_un::sun_path) - 1;

static_assert(sizeof(::sockaddr_un) <= 112, "Endpoint's buffer holds every sockaddr");

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
    throw std::invalid_argument("\"" + text + "\" is no endpoint: " + why);
}

void check_length(const std::string& name) {
    if (name.size() <= longest_name) return;
    throw std::system_error(ENAMETOOLONG, std::system_category(),
                            "name of a Unix socket with " + std::to_string(name.size()) +
                                " bytes, at most " + std::to_string(longest_name) +
                                " fit: " + name);
}

std::uint16_t parse_port(const std::string& text, std::size_t from) {
    const std::string digits = text.substr(from);
    const bool number = !digits.empty() && digits.size() <= 5 &&
                        digits.find_first_not_of("0123456789") == std::string::npos;
    const unsigned long port = number ? std::stoul(digits) : 0x10000;
    if (port > 0xffff) refuse(text, "a port is a number from 0 to 65535");
    return static_cast<std::uint16_t>(port);
}

// The bytes are copied in and out: a pointer to a sockaddr_in that points to bytes is an alias that
// the compiler need not respect.
template <class Sockaddr>
Sockaddr read_as(const void* bytes) noexcept {
    Sockaddr address;
    std::memcpy(&address, bytes, sizeof address);
    return address;
}

}  // namespace

Endpoint::Endpoint(const std::string& address, std::uint16_t port) {
    boost::system::error_code error;
    const boost::asio::ip::address parsed = boost::asio::ip::make_address(address, error);
    const bool zero_byte = address.find('\0') != std::string::npos;
    if (error || zero_byte) {
        refuse(address, "neither an IPv4 nor an IPv6 address; resolve() takes names");
    }
    if (parsed.is_v4()) {
        ::sockaddr_in ipv4 = ::sockaddr_in();
        ipv4.sin_family = AF_INET;
        ipv4.sin_port = htons(port);
        ipv4.sin_addr.s_addr = htonl(parsed.to_v4().to_uint());
        std::memcpy(bytes_, &ipv4, sizeof ipv4);
        size_ = sizeof ipv4;
        return;
    }
    const boost::asio::ip::address_v6 v6 = parsed.to_v6();
    // Asio takes a zone that it does not know for 0, which is another address.
    if (address.find('%') != std::string::npos && v6.scope_id() == 0) {
        refuse(address, "no network interface has the name or number of its zone");
    }
    ::sockaddr_in6 ipv6 = ::sockaddr_in6();
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = htons(port);
    ipv6.sin6_scope_id = static_cast<std::uint32_t>(v6.scope_id());
    const boost::asio::ip::address_v6::bytes_type raw = v6.to_bytes();
    std::memcpy(&ipv6.sin6_addr, raw.data(), raw.size());
    std::memcpy(bytes_, &ipv6, sizeof ipv6);
    size_ = sizeof ipv6;
}

Endpoint Endpoint::parse(const std::string& text) {
    if (text.compare(0, 6, "unix:@") == 0) return local_abstract(text.substr(6));
    if (text.compare(0, 5, "unix:") == 0) return local_path(text.substr(5));
    const std::size_t colon = text.rfind(':');
    const bool bracket = !text.empty() && text[0] == '[';
    if (bracket) {
        const std::size_t end = text.find(']');
        if (end == std::string::npos || end + 1 != colon) refuse(text, "expected [address]:port");
        const std::string address = text.substr(1, end - 1);
        if (address.find(':') == std::string::npos) refuse(text, "no IPv6 address in brackets");
        return Endpoint(address, parse_port(text, colon + 1));
    }
    if (colon == std::string::npos) refuse(text, "expected address:port, [address]:port or unix:");
    if (text.find(':') != colon) refuse(text, "an IPv6 address stands in brackets");
    return Endpoint(text.substr(0, colon), parse_port(text, colon + 1));
}

Endpoint Endpoint::local_path(const std::string& path) {
    if (path.empty()) refuse(path, "the path of a Unix socket is empty");
    if (path.find('\0') != std::string::npos) refuse(path, "a path has no zero byte");
    check_length(path);
    Endpoint made;
    const ::sa_family_t family = AF_UNIX;
    std::memcpy(made.bytes_, &family, sizeof family);
    std::memcpy(made.bytes_ + path_offset, path.data(), path.size());
    // With its zero byte, as unix(7) has it and getsockname() gives it back.
    made.size_ = static_cast<std::uint8_t>(path_offset + path.size() + 1);
    return made;
}

Endpoint Endpoint::local_abstract(const std::string& name) {
    check_length(name);
    Endpoint made;
    const ::sa_family_t family = AF_UNIX;
    std::memcpy(made.bytes_, &family, sizeof family);
    std::copy(name.begin(), name.end(), made.bytes_ + path_offset + 1);
    // Every byte counts here, a zero byte at the end too.
    made.size_ = static_cast<std::uint8_t>(path_offset + 1 + name.size());
    return made;
}

Endpoint Endpoint::from_sockaddr(const void* address, std::size_t size) {
    ::sa_family_t family = AF_UNSPEC;
    if (size >= sizeof family) std::memcpy(&family, address, sizeof family);
    Endpoint made;
    if (family == AF_INET && size >= sizeof(::sockaddr_in)) {
        ::sockaddr_in ipv4 = read_as<::sockaddr_in>(address);
        // Not every source clears the padding, and endpoints are compared by their bytes.
        std::memset(ipv4.sin_zero, 0, sizeof ipv4.sin_zero);
        std::memcpy(made.bytes_, &ipv4, sizeof ipv4);
        made.size_ = sizeof ipv4;
        return made;
    }
    if (family == AF_INET6 && size >= sizeof(::sockaddr_in6)) {
        ::sockaddr_in6 ipv6 = read_as<::sockaddr_in6>(address);
        ipv6.sin6_flowinfo = 0;  // says something of a packet, not of a place
        std::memcpy(made.bytes_, &ipv6, sizeof ipv6);
        made.size_ = sizeof ipv6;
        return made;
    }
    if (family == AF_UNIX) {
        std::memcpy(made.bytes_, &family, sizeof family);
        made.size_ = sizeof family;
        const char* const name = static_cast<const char*>(address) + path_offset;
        const std::size_t length = size > path_offset ? size - path_offset : 0;
        const bool abstract = length != 0 && name[0] == '\0';
        const std::size_t counted =
            abstract ? length
                     : static_cast<std::size_t>(std::find(name, name + length, '\0') - name);
        // Linux lets a path have all 108 bytes, and gives it back with a zero byte behind them: 111
        // bytes in all, more than a sockaddr_un has.
        if (counted > longest_name + (abstract ? 1 : 0) || counted == 0) return made;
        std::memcpy(made.bytes_ + path_offset, name, counted);
        made.size_ = static_cast<std::uint8_t>(path_offset + counted + (abstract ? 0 : 1));
        return made;
    }
    throw std::invalid_argument("address family " + std::to_string(family) + " with " +
                                std::to_string(size) +
                                " bytes is no endpoint: IPv4, IPv6 and Unix are");
}

Endpoint::Family Endpoint::family() const noexcept {
    if (size_ == 0) return Family::none;
    switch (read_as<::sa_family_t>(bytes_)) {
        case AF_INET:
            return Family::ipv4;
        case AF_INET6:
            return Family::ipv6;
        default:
            return Family::local;
    }
}

bool Endpoint::is_abstract() const noexcept {
    return family() == Family::local && size_ > path_offset && bytes_[path_offset] == 0;
}

std::string Endpoint::address() const {
    switch (family()) {
        case Family::none:
            break;
        case Family::ipv4: {
            const ::sockaddr_in ipv4 = read_as<::sockaddr_in>(bytes_);
            return boost::asio::ip::address_v4(ntohl(ipv4.sin_addr.s_addr)).to_string();
        }
        case Family::ipv6: {
            const ::sockaddr_in6 ipv6 = read_as<::sockaddr_in6>(bytes_);
            boost::asio::ip::address_v6::bytes_type raw;
            std::memcpy(raw.data(), &ipv6.sin6_addr, raw.size());
            return boost::asio::ip::address_v6(raw, ipv6.sin6_scope_id).to_string();
        }
        case Family::local: {
            if (size_ <= path_offset) break;
            const auto* const name = static_cast<const char*>(data()) + path_offset;
            return is_abstract() ? std::string(name + 1, size_ - path_offset - 1)
                                 : std::string(name, size_ - path_offset - 1);
        }
    }
    return std::string();
}

std::uint16_t Endpoint::port() const noexcept {
    if (!is_ip()) return 0;
    // The port stands at the same place in both.
    static_assert(offsetof(::sockaddr_in, sin_port) == offsetof(::sockaddr_in6, sin6_port), "");
    return ntohs(read_as<::sockaddr_in>(bytes_).sin_port);
}

std::uint32_t Endpoint::scope_id() const noexcept {
    return family() == Family::ipv6 ? read_as<::sockaddr_in6>(bytes_).sin6_scope_id : 0;
}

Endpoint Endpoint::with_port(std::uint16_t port) const noexcept {
    Endpoint made = *this;
    if (is_ip()) {
        const std::uint16_t raw = htons(port);
        std::memcpy(made.bytes_ + offsetof(::sockaddr_in, sin_port), &raw, sizeof raw);
    }
    return made;
}

std::string Endpoint::str() const {
    switch (family()) {
        case Family::none:
            break;
        case Family::ipv4:
            return address() + ':' + std::to_string(port());
        case Family::ipv6:
            return '[' + address() + "]:" + std::to_string(port());
        case Family::local: {
            const std::string name = address();
            if (is_abstract()) return "unix:@" + name;
            return (!name.empty() && name[0] == '@' ? "unix:./" : "unix:") + name;
        }
    }
    return "(no address)";
}

int Endpoint::compare(const Endpoint& other) const noexcept {
    if (family() != other.family()) return family() < other.family() ? -1 : 1;
    const int bytes = std::memcmp(bytes_, other.bytes_, std::min(size_, other.size_));
    return bytes != 0 ? bytes : static_cast<int>(size_) - static_cast<int>(other.size_);
}

std::size_t Endpoint::hash() const noexcept {
    // FNV-1a.
    std::uint64_t hash = 14695981039346656037u;
    for (std::size_t i = 0; i < size_; ++i) hash = (hash ^ bytes_[i]) * 1099511628211u;
    return static_cast<std::size_t>(hash);
}

}  // namespace net
}  // namespace reactor
