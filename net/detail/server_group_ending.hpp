// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_SERVER_GROUP_ENDING_HPP
#define REACTOR_NET_DETAIL_SERVER_GROUP_ENDING_HPP

#include <net/detail/server_group_state.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace reactor {
namespace net {
namespace detail {

/// Each loop accepts who waits, and stops listening. The first one, if it accepts for all, after
/// what the others have on their way to it: that they have room.
void stop_accepting(const std::shared_ptr<ServerGroupState>& group);

/// The same, and then each loop forgets the group. Says so if it cannot tell them.
void end(const std::shared_ptr<ServerGroupState>& group) noexcept;

/// While it lives the loops know the group, also when it has ended. Any thread.
class ServerSitesHold {
public:
    explicit ServerSitesHold(std::shared_ptr<ServerGroupState> group) noexcept
        : group_(std::move(group)) {}
    ServerSitesHold(const ServerSitesHold&) = delete;
    ServerSitesHold& operator=(const ServerSitesHold&) = delete;
    ~ServerSitesHold();

    /// Begins it, before an end() that is called later.
    static std::shared_ptr<ServerSitesHold> take(const std::shared_ptr<ServerGroupState>& group);

    const std::shared_ptr<ServerGroupState>& group() const noexcept { return group_; }

private:
    const std::shared_ptr<ServerGroupState> group_;
    std::size_t held_ = 0;  // loops that were told
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
