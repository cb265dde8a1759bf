// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_DATAGRAM_TRANSPORT_SERVICE_HPP
#define REACTOR_NET_DETAIL_DATAGRAM_TRANSPORT_SERVICE_HPP

#include <net/detail/datagram_batch.hpp>
#include <net/detail/datagram_gathering.hpp>
#include <reactor/detail/watch_table.hpp>
#include <reactor/event_loop.hpp>

#include <vector>

namespace reactor {
namespace net {
namespace detail {

class DatagramTransportState;

/// What the datagram transports of a loop share: a service of the loop. Knows them all, so that the
/// loop's end is theirs.
class DatagramTransportService {
public:
    explicit DatagramTransportService(EventLoop& loop);
    ~DatagramTransportService();
    DatagramTransportService(const DatagramTransportService&) = delete;
    DatagramTransportService& operator=(const DatagramTransportService&) = delete;

    void add(DatagramTransportState& transport);
    void remove(DatagramTransportState& transport) noexcept;

    /// Of all their watches. Who waits is told by the label, not by a place in here.
    const Options watch_options = Options(Here("", "", 0)).owned_descriptor();
    reactor::detail::WatchTable& watches;
    DatagramBatch batch;
    DatagramGathering gathering;

private:
    std::vector<DatagramTransportState*> transports_;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
