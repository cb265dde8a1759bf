// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_SIMULATED_ATTEMPT_HPP
#define REACTOR_NET_DETAIL_SIMULATED_ATTEMPT_HPP

#include <net/detail/new_connection.hpp>
#include <net/detail/socket_calls.hpp>
#include <net/endpoint.hpp>
#include <reactor/clock.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

namespace reactor {
namespace net {
namespace detail {

/// Connects in a network in memory: Socket::connect() for those who have no sockets, with its
/// errors. `from` may be empty.
Promise<NewConnection> simulated_attempt(EventLoop& loop, const SocketCalls& calls,
                                         const Endpoint& to, const Endpoint& from,
                                         TimePoint deadline);

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
