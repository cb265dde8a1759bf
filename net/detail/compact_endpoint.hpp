// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_COMPACT_ENDPOINT_HPP
#define REACTOR_NET_DETAIL_COMPACT_ENDPOINT_HPP

#include <net/endpoint.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <netinet/in.h>

namespace reactor {
namespace net {
namespace detail {

/// An Endpoint in little room, as an idle connection keeps its peer's name: an IPv4 address, or no
/// name, in place, any other in a block as large as it is. A value that stays where it is.
class CompactEndpoint {
public:
    explicit CompactEndpoint(const Endpoint& endpoint)
        : size_(static_cast<std::uint8_t>(endpoint.size())),
          in_place_(size_ <= room || endpoint.family() == Endpoint::Family::ipv4) {
        if (in_place_) {
            std::memcpy(bytes_, endpoint.data(), size_ < room ? size_ : room);
        } else {
            block_ = new unsigned char[size_];
            std::memcpy(block_, endpoint.data(), size_);
        }
    }
    CompactEndpoint(const CompactEndpoint&) = delete;
    CompactEndpoint& operator=(const CompactEndpoint&) = delete;
    ~CompactEndpoint() {
        if (!in_place_) delete[] block_;
    }

    Endpoint get() const {
        if (size_ == 0) return Endpoint();
        if (!in_place_) return Endpoint::from_sockaddr(block_, size_);
        ::sockaddr_in address = ::sockaddr_in();
        std::memcpy(&address, bytes_, size_ < room ? size_ : room);
        return Endpoint::from_sockaddr(&address, size_);
    }

private:
    // Family, port and address; the rest of a sockaddr_in is zero.
    static constexpr std::size_t room = 8;
    static_assert(offsetof(::sockaddr_in, sin_zero) == room, "the whole of an IPv4 address");

    union {
        unsigned char bytes_[room];
        unsigned char* block_;
    };
    std::uint8_t size_;
    bool in_place_;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
