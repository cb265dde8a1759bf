// SPDX-License-Identifier: BSL-1.0
#include <net/detail/transport_service.hpp>
#include <net/detail/transport_state.hpp>
#include <reactor/detail/loop_state.hpp>

#include <algorithm>
#include <utility>

namespace reactor {
namespace net {
namespace detail {

TransportService::TransportService(EventLoop& loop)
    : watches(reactor::detail::watches_of(loop.core())) {}

TransportService::~TransportService() {
    // Protocols that are destroyed here may ask transports for anything, but make none: the loop is
    // closed.
    for (std::size_t i = 0; i < transports_.size(); ++i) {
        if (transports_[i]) transports_[i]->loop_closed();
    }
    while (!parted_.empty()) parted_.back()->loop_closed();
}

void TransportService::add(int descriptor, TransportState& transport) {
    const auto index = static_cast<std::size_t>(descriptor);
    if (index >= transports_.size()) transports_.resize(index + 1 + index / 2);
    transports_[index] = &transport;
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
    if (find(descriptor) == &transport) {
        transports_[static_cast<std::size_t>(descriptor)] = nullptr;
    } else {
        const auto parted = std::find(parted_.begin(), parted_.end(), &transport);
        if (parted != parted_.end()) {
            parted_.erase(parted);
        } else {  // there was no memory to part
            std::replace(transports_.begin(), transports_.end(), &transport,
                         static_cast<TransportState*>(nullptr));
        }
    }
}

void TransportService::part(int descriptor, TransportState& transport) noexcept {
    if (find(descriptor) != &transport) return;
    try {
        parted_.push_back(&transport);
    } catch (...) {
        return;  // no memory: the number stays taken for so long
    }
    transports_[static_cast<std::size_t>(descriptor)] = nullptr;
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
