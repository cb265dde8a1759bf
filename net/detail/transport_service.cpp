// SPDX-License-Identifier: BSL-1.0
#include <net/detail/transport_service.hpp>
#include <net/detail/transport_state.hpp>
#include <reactor/detail/loop_state.hpp>

#include <algorithm>
#include <utility>

namespace reactor {
namespace net {
namespace detail {

constexpr std::size_t ReadBuffer::size;

TransportService::TransportService(EventLoop& loop)
    : watches(static_cast<reactor::detail::LoopState&>(loop.core()).watches) {}

TransportService::~TransportService() {
    // Protocols that are destroyed here may ask transports for anything, but make none: the loop is
    // closed.
    for (std::size_t i = 0; i < transports_.size(); ++i) {
        if (transports_[i]) transports_[i]->loop_closed();
    }
}

void TransportService::add(int descriptor, TransportState& transport) {
    const auto index = static_cast<std::size_t>(descriptor);
    if (index >= transports_.size()) transports_.resize(index + 1 + index / 2);
    transports_[index] = &transport;
}

void TransportService::remove_shortage(const DescriptorShortage& waits) noexcept {
    shortages_.erase(std::remove(shortages_.begin(), shortages_.end(), &waits), shortages_.end());
}

void TransportService::tell_shortages() noexcept {
    const std::vector<DescriptorShortage*> told = std::move(shortages_);
    shortages_.clear();
    for (DescriptorShortage* const waits : told) waits->descriptor_closed();
}

SocketCalls socket_calls(const EventLoop& loop) noexcept {
    const auto* const service = loop.service_if_made<TransportService>();
    return service ? service->calls : SocketCalls();
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
