// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_PEERS_LIBEVENT_BASE_HPP
#define REACTOR_TEST_BENCH_PEERS_LIBEVENT_BASE_HPP

#include <event2/event.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace bench {

struct FreeBase {
    void operator()(event_base* base) const { event_base_free(base); }
};
using LibeventBase = std::unique_ptr<event_base, FreeBase>;

/// A base with what its documentation has for speed: `flags` of event_config_set_flag().
inline LibeventBase make_libevent_base(int flags) {
    const std::unique_ptr<event_config, void (*)(event_config*)> config(event_config_new(),
                                                                        &event_config_free);
    if (!config || event_config_set_flag(config.get(), flags) != 0) {
        throw std::runtime_error("event_config_set_flag");
    }
    LibeventBase base(event_base_new_with_config(config.get()));
    if (!base) throw std::runtime_error("event_base_new_with_config");
    return base;
}

/// For one thread, which closes no duplicated descriptors.
constexpr int libevent_on_one_thread =
    EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST | EVENT_BASE_FLAG_IGNORE_ENV;

inline std::string libevent_version() { return std::string("libevent ") + event_get_version(); }

}  // namespace bench

#endif
