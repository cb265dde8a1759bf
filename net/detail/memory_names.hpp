// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_MEMORY_NAMES_HPP
#define REACTOR_NET_DETAIL_MEMORY_NAMES_HPP

#include <net/detail/memory_world.hpp>
#include <net/endpoint.hpp>
#include <reactor/clock.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace reactor {
namespace net {
namespace detail {

/// The names of a network in memory, looked up in virtual time. Kept by its MemoryNetwork and the
/// loop's Resolver.
class MemoryNames {
public:
    struct Host {
        std::vector<Endpoint> addresses;
        std::error_code error;
        Duration delay;  // negative: drawn
    };

    MemoryNames(EventLoop& loop, std::shared_ptr<MemoryWorld> world);

    void add(const std::string& host, const Host& known) { hosts_[host] = known; }
    Promise<std::vector<Endpoint>> look_up(const std::string& host);

private:
    EventLoop& loop_;
    const std::shared_ptr<MemoryWorld> world_;
    std::map<std::string, Host> hosts_;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
