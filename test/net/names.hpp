// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_NET_NAMES_HPP
#define REACTOR_TEST_NET_NAMES_HPP

#include "connected.hpp"

#include <net/resolver.hpp>

#include <signal.h>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

/// What tests of names share.
namespace names {

using reactor::net::ResolveError;
using reactor::net::Resolver;
using Endpoints = std::vector<reactor::net::Endpoint>;

/// A name service for tests, shared with the threads that ask it, which may outlive the test:
/// "slow" names are answered only when the test says so, "none" has no address, "bad" throws an
/// int.
struct Names {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::string> asked;
    bool open = false;
    bool signals_blocked = true;

    Endpoints look_up(const std::string& host) {
        std::unique_lock<std::mutex> lock(mutex);
        asked.push_back(host);
        ::sigset_t blocked;
        ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
        signals_blocked = signals_blocked && ::sigismember(&blocked, SIGALRM) == 1;
        changed.notify_all();
        if (host.compare(0, 4, "slow") == 0) changed.wait(lock, [this] { return open; });
        if (host == "none") return Endpoints();
        if (host == "bad") throw 42;
        if (host == "unknown") throw ResolveError(host, {-2, reactor::net::resolver_category()});
        return {connected::Endpoint("192.0.2.1", 0), connected::Endpoint("2001:db8::1", 0)};
    }
    void answer_the_slow() {
        const std::lock_guard<std::mutex> lock(mutex);
        open = true;
        changed.notify_all();
    }
    std::size_t count() {
        const std::lock_guard<std::mutex> lock(mutex);
        return asked.size();
    }
    void wait_until_asked(std::size_t times) {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return asked.size() >= times; });
    }
};

inline std::shared_ptr<Names> names_for(connected::TestLoop& loop) {
    connected::be_patient(loop);
    const auto names = std::make_shared<Names>();
    loop.service<Resolver>().set_lookup(
        [names](const std::string& host) { return names->look_up(host); });
    return names;
}

/// Names have these addresses. But not ports, and the ports are all that tells this machine's
/// servers apart: tests connect to one port of addresses of the whole 127.0.0.0/8 network.
inline void answer(connected::TestLoop& loop, const Endpoints& addresses) {
    connected::be_patient(loop);
    loop.service<Resolver>().set_lookup([addresses](const std::string&) { return addresses; });
}

}  // namespace names

#endif
