// SPDX-License-Identifier: BSL-1.0
#include <net/detail/transport_service.hpp>
#include <net/detail/transport_state.hpp>
#include <reactor/detail/loop_state.hpp>

#include <algorithm>
#include <utility>

namespace reactor {
namespace net {
namespace detail {

namespace {

// So many may lose their descriptors at once without memory for it.
constexpr std::size_t room_to_part = 16;

}  // namespace

TransportService::TransportService(EventLoop& loop)
    : watches(reactor::detail::watches_of(loop.core())) {
    parted_.reserve(room_to_part);
}

TransportService::~TransportService() {
    // Protocols that are destroyed here may ask transports for anything, but make none: the loop is
    // closed.
    for_each([](TransportState& transport) { transport.loop_closed(); });
    while (!parted_.empty()) parted_.back()->loop_closed();
}

TransportState& TransportService::transport_of(reactor::detail::DescriptorHolder& listed) noexcept {
    return static_cast<TransportState&>(listed);
}

void TransportService::add(const char* call, int descriptor, TransportState& transport) {
    watches.hold(call, descriptor, transport, reactor::detail::WatchTable::Hold::listed);
}

SocketCalls socket_calls(const EventLoop& loop) noexcept {
    const auto* const service = loop.service_if_made<TransportService>();
    return service ? service->calls : SocketCalls();
}

void TransportService::remove_shortage(const DescriptorShortage& waits) noexcept {
    shortages_.erase(std::remove(shortages_.begin(), shortages_.end(), &waits), shortages_.end());
}

void TransportService::tell_shortages() noexcept {
    const std::vector<DescriptorShortage*> told = std::move(shortages_);
    shortages_.clear();
    for (DescriptorShortage* const waits : told) waits->descriptor_closed();
}

void TransportService::remove(int descriptor, TransportState& transport) noexcept {
    watches.let_go(descriptor, transport);
    const auto parted = std::find(parted_.begin(), parted_.end(), &transport);
    if (parted != parted_.end()) parted_.erase(parted);
}

void TransportService::part(TransportState& transport) noexcept {
    try {
        parted_.push_back(&transport);
        if (parted_.capacity() - parted_.size() < room_to_part / 2) {
            parted_.reserve(2 * parted_.capacity());
        }
    } catch (...) {
        // Out of memory for so many: one more would not hear of the loop's end if that came before
        // its own.
    }
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
