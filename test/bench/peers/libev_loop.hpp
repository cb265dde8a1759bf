// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_PEERS_LIBEV_LOOP_HPP
#define REACTOR_TEST_BENCH_PEERS_LIBEV_LOOP_HPP

#include <ev.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace bench {

struct DestroyLibevLoop {
    void operator()(struct ev_loop* loop) const { ev_loop_destroy(loop); }
};
using LibevLoop = std::unique_ptr<struct ev_loop, DestroyLibevLoop>;

inline LibevLoop make_libev_loop() {
    LibevLoop loop(ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV));
    if (!loop) throw std::runtime_error("ev_loop_new");
    return loop;
}

inline std::string libev_version() {
    return "libev " + std::to_string(ev_version_major()) + "." + std::to_string(ev_version_minor());
}

}  // namespace bench

#endif
