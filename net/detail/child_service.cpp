// SPDX-License-Identifier: BSL-1.0
#include <net/detail/child_service.hpp>
#include <net/detail/child_state.hpp>
#include <reactor/detail/signals_blocked.hpp>

#include <cerrno>
#include <thread>
#include <utility>
#include <vector>

#include <signal.h>
#include <sys/wait.h>

namespace reactor {
namespace net {
namespace detail {

namespace {

/// On a thread of its own, which nobody waits for: those that were killed end soon, those that were
/// let go whenever they like.
void take_each(const std::vector<::pid_t>& children) noexcept {
    ::siginfo_t info;
    for (const ::pid_t pid : children) {
        while (::waitid(P_PID, static_cast<::id_t>(pid), &info, WEXITED) != 0 && errno == EINTR) {
        }
    }
}

}  // namespace

ChildService::ChildService(EventLoop&) {}

ChildService::~ChildService() {
    std::vector<::pid_t> left;
    // What loop_closed() cancels may ask for anything, but starts no child: the loop is closed.
    const std::map<::pid_t, std::shared_ptr<ChildState>> children = std::move(children_);
    children_.clear();
    for (const auto& child : children) {
        if (!child.second->loop_closed()) continue;
        try {
            left.push_back(child.first);
        } catch (...) {  // no memory: it stays a zombie until the program ends
        }
    }
    if (left.empty()) return;
    try {
        const reactor::detail::SignalsBlocked blocked;
        std::thread(&take_each, std::move(left)).detach();
    } catch (...) {  // no thread: the same
    }
}

void ChildService::add(std::shared_ptr<ChildState> child) {
    const ::pid_t pid = child->pid();
    children_[pid] = std::move(child);
}

std::shared_ptr<ChildState> ChildService::take(::pid_t pid) noexcept {
    const auto found = children_.find(pid);
    if (found == children_.end()) return nullptr;
    std::shared_ptr<ChildState> child = std::move(found->second);
    children_.erase(found);
    return child;
}

void ChildService::child_ended(::pid_t pid) {
    EventLoop* const loop = running_loop();
    ChildService* const service = loop ? loop->service_if_made<ChildService>() : nullptr;
    if (!service) return;
    const auto found = service->children_.find(pid);
    if (found != service->children_.end()) found->second->look();
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
