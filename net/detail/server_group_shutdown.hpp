// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_SERVER_GROUP_SHUTDOWN_HPP
#define REACTOR_NET_DETAIL_SERVER_GROUP_SHUTDOWN_HPP

#include <net/server.hpp>
#include <reactor/clock.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/here.hpp>
#include <reactor/promise.hpp>

#include <memory>

namespace reactor {
namespace net {
namespace detail {

class ServerGroupState;

/// ServerGroup::shutdown(). Goes on if the ServerGroup goes.
Promise<ShutdownSummary> shut_down(EventLoop& loop, const std::shared_ptr<ServerGroupState>& group,
                                   Duration grace, Duration flush, const Here& here);

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
