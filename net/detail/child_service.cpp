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

void take_each(const std::vector<::pid_t>& children) noexcept {
    ::siginfo_t info;
    for (const ::pid_t pid : children) {
        while (::waitid(P_PID, static_cast<::id_t>(pid), &info, WEXITED) != 0 && errno == EINTR) {
        }
    }
}

/// On a thread of its own, which nobody waits for.
void take_on_thread(std::vector<::pid_t> children) noexcept {
    try {
        const reactor::detail::SignalsBlocked blocked;
        std::thread(&take_each, std::move(children)).detach();
    } catch (...) {  // no thread, no memory: they stay zombies until the program ends
    }
}

}  // namespace

ChildService::ChildService(EventLoop&) {}

ChildService::~ChildService() {
    std::vector<::pid_t> killed;
    // What loop_closed() cancels may ask for anything, but starts no child: the loop is closed.
    const std::map<::pid_t, std::shared_ptr<ChildState>> children = std::move(children_);
    children_.clear();
    for (const auto& child : children) {
        const ChildState::Left left = child.second->loop_closed();
        if (left == ChildState::Left::nothing) continue;
        try {
            // Those that were killed end soon; the others whenever they like, and none of them may
            // keep another one's thread.
            if (left == ChildState::Left::killed) {
                killed.push_back(child.first);
            } else {
                take_on_thread({child.first});
            }
        } catch (...) {  // no memory: the same as in there
        }
    }
    if (!killed.empty()) take_on_thread(std::move(killed));
}

void ChildService::add(std::shared_ptr<ChildState> child) {
    const ::pid_t pid = child->pid();
    const auto found = children_.find(pid);
    if (found != children_.end()) {
        const std::shared_ptr<ChildState> earlier = found->second;
        earlier->replaced();
    }
    children_[pid] = std::move(child);
}

std::shared_ptr<ChildState> ChildService::take(const ChildState& state) noexcept {
    const auto found = children_.find(state.pid());
    if (found == children_.end() || found->second.get() != &state) return nullptr;
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
