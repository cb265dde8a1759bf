// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_PEERS_LIBEVENT_BASE_HPP
#define REACTOR_TEST_BENCH_PEERS_LIBEVENT_BASE_HPP

#include <event2/event.h>
#include <event2/listener.h>

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

struct FreeListener {
    void operator()(evconnlistener* listener) const { evconnlistener_free(listener); }
};
using LibeventListener = std::unique_ptr<evconnlistener, FreeListener>;

/// Gives each client of a socket that listens, which it takes over, to server.add(descriptor).
template <class Server>
LibeventListener libevent_listen(event_base& base, int fd, Server& server) {
    LibeventListener listener(evconnlistener_new(
        &base,
        [](evconnlistener*, int accepted, sockaddr*, int, void* to) {
            static_cast<Server*>(to)->add(accepted);
        },
        &server, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd));
    if (!listener) throw std::runtime_error("evconnlistener_new");
    return listener;
}

inline std::string libevent_version() { return std::string("libevent ") + event_get_version(); }

}  // namespace bench

#endif
