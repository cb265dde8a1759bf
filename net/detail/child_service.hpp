// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_CHILD_SERVICE_HPP
#define REACTOR_NET_DETAIL_CHILD_SERVICE_HPP

#include <reactor/event_loop.hpp>

#include <map>
#include <memory>

#include <sys/types.h>

namespace reactor {
namespace net {
namespace detail {

class ChildState;

/// The children that a loop has started and whose status it has not taken yet: a service of the
/// loop, whose end is theirs.
class ChildService {
public:
    explicit ChildService(EventLoop& loop);
    ~ChildService();
    ChildService(const ChildService&) = delete;
    ChildService& operator=(const ChildService&) = delete;

    /// Ends an earlier one of the same number, which has ended without having been seen to.
    void add(std::shared_ptr<ChildState> child);
    std::shared_ptr<ChildState> take(const ChildState& state) noexcept;

    /// On the running loop: a thread has seen the end of one of its children.
    static void child_ended(::pid_t pid);

    /// Whether the system's pidfds are used where there are any. For tests.
    bool uses_pidfd = true;

private:
    std::map<::pid_t, std::shared_ptr<ChildState>> children_;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
