// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_TRANSPORT_SERVICE_HPP
#define REACTOR_NET_DETAIL_TRANSPORT_SERVICE_HPP

#include <net/detail/read_buffer.hpp>
#include <net/detail/socket_calls.hpp>
#include <net/detail/spare_strings.hpp>
#include <reactor/detail/watch_table.hpp>
#include <reactor/event_loop.hpp>

#include <cstddef>
#include <vector>

namespace reactor {
namespace net {
namespace detail {

class TransportState;

/// Somebody who could not get a descriptor, and waits for one to be closed.
class DescriptorShortage {
public:
    /// One was closed just now. Told once; must not call anybody.
    virtual void descriptor_closed() noexcept = 0;

protected:
    DescriptorShortage() = default;
    DescriptorShortage(const DescriptorShortage&) = default;
    DescriptorShortage& operator=(const DescriptorShortage&) = default;
    ~DescriptorShortage() = default;
};

/// What the transports of a loop share: a service of the loop. Knows them all, so that no two have
/// the same descriptor, and that the loop's end is theirs: by descriptor from the table of watches,
/// where nobody else is listed, and those that have lost theirs.
class TransportService {
public:
    explicit TransportService(EventLoop& loop);
    ~TransportService();
    TransportService(const TransportService&) = delete;
    TransportService& operator=(const TransportService&) = delete;

    /// Makes it the one that is listed with that descriptor, and its holder. Throws what
    /// WatchTable::hold() does.
    void add(const char* call, int descriptor, TransportState& transport);
    /// The contrary, also of one that has parted.
    void remove(int descriptor, TransportState& transport) noexcept;
    /// The descriptor was closed behind its back, and the number is not its any more.
    void part(TransportState& transport) noexcept;

    /// Calls visit(TransportState&) for each that has its descriptor; what it calls may make and
    /// end transports.
    template <class F>
    void for_each(F visit) const {
        watches.for_each_listed(
            [&visit](reactor::detail::DescriptorHolder& holder) { visit(transport_of(holder)); });
    }

    /// Closes the descriptor of a connection, and tells who waits for one.
    void close(int descriptor) noexcept {
        calls.close(descriptor);
        if (!shortages_.empty()) tell_shortages();
    }
    void add_shortage(DescriptorShortage& waits) { shortages_.push_back(&waits); }
    void remove_shortage(const DescriptorShortage& waits) noexcept;

    /// Of all their watches. Who waits is told by the label, not by a place in here.
    const Options watch_options = Options(Here("", "", 0)).owned_descriptor();
    reactor::detail::WatchTable& watches;
    SocketCalls calls;
    ReadBuffer buffer;
    SpareStrings strings;

private:
    static TransportState& transport_of(reactor::detail::DescriptorHolder& listed) noexcept;
    void tell_shortages() noexcept;

    std::vector<DescriptorShortage*> shortages_;
    // From their descriptors, until they are lost. With room for those to come.
    std::vector<TransportState*> parted_;
};

/// How that loop's sockets are opened: by the system, unless it has a network in memory.
SocketCalls socket_calls(const EventLoop& loop) noexcept;

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
