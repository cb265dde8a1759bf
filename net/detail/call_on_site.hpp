// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_CALL_ON_SITE_HPP
#define REACTOR_NET_DETAIL_CALL_ON_SITE_HPP

#include <net/detail/call_on_loop.hpp>
#include <net/detail/server_group_state.hpp>
#include <net/detail/server_site.hpp>
#include <reactor/error.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace reactor {
namespace net {
namespace detail {

// What is called there returns a promise: one that is done.
template <class T>
Promise<T> done_with(T value) {
    const Promise<T> promise = get_running_loop().create_promise<T>();
    promise.set_result(std::move(value));
    return promise;
}
inline Promise<void> done() {
    const Promise<void> promise = get_running_loop().create_promise<void>();
    promise.set_result();
    return promise;
}

/// Calls f(site), which returns a Promise<T>, for what the group has on that loop. A loop that has
/// ended has no say.
template <class T, class F>
Promise<T> call_on_site(EventLoop& loop, const std::shared_ptr<ServerGroupState>& group,
                        std::size_t index, F f) {
    const auto call = [group, f] {
        ServerSite* const site = ServerSites::find(get_running_loop(), group.get());
        if (!site) throw BrokenPromise("the ServerGroup was destroyed");
        return f(*site);
    };
    const Promise<T> called = call_on_loop<T>(loop, group->loop(index), call);
    // Keeps it: one that nobody has would not fail, but take what follows it along.
    return called.except([called](const BrokenPromise&) { return T(); });
}

template <class T, class F>
std::vector<Promise<T>> call_on_sites(EventLoop& loop,
                                      const std::shared_ptr<ServerGroupState>& group, const F& f) {
    std::vector<Promise<T>> all;
    for (std::size_t i = 0; i < group->size(); ++i) {
        all.push_back(call_on_site<T>(loop, group, i, f));
    }
    return all;
}

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
