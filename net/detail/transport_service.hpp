// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_TRANSPORT_SERVICE_HPP
#define REACTOR_NET_DETAIL_TRANSPORT_SERVICE_HPP

#include <net/detail/read_buffer.hpp>
#include <net/detail/socket_calls.hpp>
#include <reactor/detail/watch_table.hpp>
#include <reactor/event_loop.hpp>

#include <cstddef>
#include <vector>

namespace reactor {
namespace net {
namespace detail {

class TransportState;

/// What the transports of a loop share: a service of the loop. Knows them all, by descriptor, so
/// that no two have the same one, and that the loop's end is theirs.
class TransportService {
public:
    explicit TransportService(EventLoop& loop);
    ~TransportService();
    TransportService(const TransportService&) = delete;
    TransportService& operator=(const TransportService&) = delete;

    /// The transport of that descriptor, null if there is none.
    TransportState* find(int descriptor) const noexcept {
        const auto index = static_cast<std::size_t>(descriptor);
        return index < transports_.size() ? transports_[index] : nullptr;
    }
    void add(int descriptor, TransportState& transport);
    void remove(int descriptor, TransportState& transport) noexcept;
    /// The descriptor was closed behind its back, and the number may be another transport's soon.
    void part(int descriptor, TransportState& transport) noexcept;

    /// Of all their watches. Who waits is told by the label, not by a place in here.
    const Options watch_options = Options(Here("", "", 0)).owned_descriptor();
    reactor::detail::WatchTable& watches;
    SocketCalls calls;
    ReadBuffer buffer;

private:
    std::vector<TransportState*> transports_;
    std::vector<TransportState*> parted_;  // from their descriptors, until they are lost
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
