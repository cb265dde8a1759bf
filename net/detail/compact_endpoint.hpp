// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_COMPACT_ENDPOINT_HPP
#define REACTOR_NET_DETAIL_COMPACT_ENDPOINT_HPP

#include <net/endpoint.hpp>

#include <cstdint>
#include <cstring>

#include <netinet/in.h>
#include <sys/socket.h>

namespace reactor {
namespace net {
namespace detail {

/// An Endpoint in eight bytes, as an idle connection keeps its peer's name: an IPv4 address, or the
/// family of a Unix socket without a name, in place, any other in a block as large as it is. A
/// value that stays where it is.
class CompactEndpoint {
public:
    explicit CompactEndpoint(const Endpoint& endpoint) {
        const std::size_t size = endpoint.size();
        if (endpoint.family() == Endpoint::Family::ipv4) {
            ::sockaddr_in address;
            std::memcpy(&address, endpoint.data(), sizeof address);
            word_ = ipv4 | static_cast<std::uint64_t>(address.sin_port) << 16 |
                    static_cast<std::uint64_t>(address.sin_addr.s_addr) << 32;
        } else if (size == sizeof(::sa_family_t)) {
            ::sa_family_t family;
            std::memcpy(&family, endpoint.data(), sizeof family);
            word_ = family_only | static_cast<std::uint64_t>(family) << 16;
        } else if (size != 0) {
            unsigned char* const block = new unsigned char[1 + size];
            block[0] = static_cast<unsigned char>(size);
            std::memcpy(block + 1, endpoint.data(), size);
            word_ = reinterpret_cast<std::uintptr_t>(block);
        }
    }
    CompactEndpoint(const CompactEndpoint&) = delete;
    CompactEndpoint& operator=(const CompactEndpoint&) = delete;
    ~CompactEndpoint() {
        if ((word_ & kind_mask) == block_or_none) delete[] block();
    }

    Endpoint get() const {
        switch (word_ & kind_mask) {
            case ipv4: {
                ::sockaddr_in address = ::sockaddr_in();
                address.sin_family = AF_INET;
                address.sin_port = static_cast<::in_port_t>(word_ >> 16);
                address.sin_addr.s_addr = static_cast<::in_addr_t>(word_ >> 32);
                return Endpoint::from_sockaddr(&address, sizeof address);
            }
            case family_only: {
                const ::sa_family_t family = static_cast<::sa_family_t>(word_ >> 16);
                return Endpoint::from_sockaddr(&family, sizeof family);
            }
            default:
                return block() ? Endpoint::from_sockaddr(block() + 1, *block()) : Endpoint();
        }
    }

private:
    // Blocks are aligned: the lowest bits of a pointer to one are free to say that it is none.
    enum : std::uint64_t { block_or_none, ipv4, family_only, kind_mask };

    unsigned char* block() const noexcept {
        return reinterpret_cast<unsigned char*>(static_cast<std::uintptr_t>(word_));
    }

    std::uint64_t word_ = 0;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
