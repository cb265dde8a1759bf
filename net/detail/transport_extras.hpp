// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_TRANSPORT_EXTRAS_HPP
#define REACTOR_NET_DETAIL_TRANSPORT_EXTRAS_HPP

#include <net/detail/output_queue.hpp>
#include <net/detail/time_limits.hpp>
#include <net/endpoint.hpp>
#include <net/protocol.hpp>
#include <net/transport.hpp>
#include <reactor/detail/node.hpp>
#include <reactor/handle.hpp>

#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace reactor {
namespace net {
namespace detail {

/// What of a transport waits to be sent, and the watch for room.
struct TransportOutput {
    OutputQueue queue;
    reactor::detail::Node* writer = nullptr;
};

/// What most connections do without: made when it is needed first. Owned by the TransportState.
struct TransportExtras {
    std::unique_ptr<TransportOutput> output;  // null: nothing waits
    std::exception_ptr error;                 // for connection_lost()
    WriteLimits limits;
    TimeLimits times;
    TimerHandle timer;
    std::unique_ptr<const Endpoint> local;
    std::vector<std::unique_ptr<Protocol>> retired;  // replaced inside a method of their own
    std::string pipe_name;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
