// SPDX-License-Identifier: BSL-1.0
#include <net/detail/server_group_ending.hpp>
#include <net/detail/server_site.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/report.hpp>

#include <exception>
#include <functional>
#include <string>

namespace reactor {
namespace net {
namespace detail {

namespace {

using Group = std::shared_ptr<ServerGroupState>;

void log_lost(const char* what) noexcept {
    log_to_standard_error(LogLevel::error, std::string("A ServerGroup cannot tell its loops ") +
                                               what + "\n" + describe(std::current_exception()));
}

/// Calls f when the last that holds it lets go of it: has run, or was dropped by a loop that ends.
class Afterwards {
public:
    explicit Afterwards(std::function<void()> f) : f_(std::move(f)) {}
    Afterwards(const Afterwards&) = delete;
    Afterwards& operator=(const Afterwards&) = delete;
    ~Afterwards() {
        try {
            f_();
        } catch (...) {
            log_lost("that it ends");
        }
    }

private:
    const std::function<void()> f_;
};

void stop_here(const Group& group) {
    ServerSite* const site = ServerSites::find(get_running_loop(), group.get());
    if (site) site->stop_accepting();
}

void stop_each(const Group& group) {
    for (std::size_t i = 0; i < group->size(); ++i) {
        group->loop(i).post([group] { stop_here(group); });
    }
}

/// On any loop a client may be going just now, whose place is free a moment later. `next` is let go
/// of when the first loop has stopped, or has ended.
void stop_first(const Group& group, const std::shared_ptr<Afterwards>& next) {
    const auto stop = std::make_shared<Afterwards>(
        [group, next] { group->loop(0).post([group, next] { stop_here(group); }); });
    for (std::size_t i = 0; i < group->size(); ++i) group->loop(i).post([stop] {});
}

void remove_sites(const Group& group) {
    for (std::size_t i = 0; i < group->size(); ++i) {
        group->loop(i).post([group] { ServerSites::remove(get_running_loop(), group.get()); });
    }
}

}  // namespace

void stop_accepting(const Group& group) {
    if (group->in_turn()) {
        stop_first(group, nullptr);
    } else {
        stop_each(group);
    }
}

void end(const Group& group) noexcept {
    try {
        if (group->in_turn()) {
            // After those clients that the first loop has sent to the others.
            stop_first(group, std::make_shared<Afterwards>([group] { remove_sites(group); }));
        } else {
            stop_each(group);
            remove_sites(group);
        }
    } catch (...) {
        log_lost("that it ends");
    }
}

std::shared_ptr<ServerSitesHold> ServerSitesHold::take(const Group& group) {
    const auto hold = std::make_shared<ServerSitesHold>(group);
    for (; hold->held_ < group->size(); ++hold->held_) {
        group->loop(hold->held_).post([group] {
            ServerSites::hold(get_running_loop(), group.get());
        });
    }
    return hold;
}

ServerSitesHold::~ServerSitesHold() {
    try {
        const Group group = group_;
        for (std::size_t i = 0; i < held_; ++i) {
            group->loop(i).post([group] { ServerSites::release(get_running_loop(), group.get()); });
        }
    } catch (...) {
        log_lost("that its shutdown is over");
    }
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
