// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_COMPACT_ENDPOINT_HPP
#define REACTOR_NET_DETAIL_COMPACT_ENDPOINT_HPP

#include <net/endpoint.hpp>

#include <cstdint>
#include <cstring>
#include <memory>

namespace reactor {
namespace net {
namespace detail {

/// An Endpoint in a third of the room: an idle connection keeps its peer's name, and among a
/// million peers hardly one has a Unix path. A value that stays where it is.
class CompactEndpoint {
public:
    explicit CompactEndpoint(const Endpoint& endpoint) {
        if (endpoint.size() <= sizeof bytes_) {
            size_ = static_cast<std::uint8_t>(endpoint.size());
            std::memcpy(bytes_, endpoint.data(), endpoint.size());
        } else {
            long_.reset(new Endpoint(endpoint));
        }
    }

    Endpoint get() const {
        if (long_) return *long_;
        return size_ == 0 ? Endpoint() : Endpoint::from_sockaddr(bytes_, size_);
    }

private:
    std::unique_ptr<const Endpoint> long_;
    std::uint8_t size_ = 0;
    alignas(4) unsigned char bytes_[28];  // a sockaddr_in6
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
