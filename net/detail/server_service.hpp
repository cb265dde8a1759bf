// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_SERVER_SERVICE_HPP
#define REACTOR_NET_DETAIL_SERVER_SERVICE_HPP

#include <reactor/event_loop.hpp>

namespace reactor {
namespace net {
namespace detail {

class ServerState;

/// The servers of a loop, closed ones included, so that the loop's end is theirs: a service of the
/// loop.
class ServerService {
public:
    explicit ServerService(EventLoop& loop);
    ~ServerService();
    ServerService(const ServerService&) = delete;
    ServerService& operator=(const ServerService&) = delete;

    void add(ServerState& server) noexcept;
    void remove(ServerState& server) noexcept;

private:
    ServerState* first_ = nullptr;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
