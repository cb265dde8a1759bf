// SPDX-License-Identifier: BSL-1.0
#include <net/detail/call_on_site.hpp>
#include <net/detail/server_group_creating.hpp>
#include <net/detail/server_group_ending.hpp>
#include <net/detail/server_group_shutdown.hpp>
#include <net/server_group.hpp>
#include <reactor/combinators.hpp>
#include <reactor/error.hpp>

#include <string>
#include <utility>

namespace reactor {
namespace net {

using detail::make_server_group;
using detail::server_maker;
using detail::ServerGroupState;
using detail::ServerSite;

namespace {

void add(ServerCounters& sum, const ServerCounters& more) {
    sum.accepted += more.accepted;
    sum.open += more.open;
    sum.refused_by_limit += more.refused_by_limit;
    sum.failed += more.failed;
    sum.rests += more.rests;
}

}  // namespace

ServerGroup& ServerGroup::operator=(ServerGroup&& other) noexcept {
    ServerGroup moved(std::move(other));
    group_.swap(moved.group_);
    endpoints_.swap(moved.endpoints_);
    return *this;
}

ServerGroup::~ServerGroup() {
    if (group_) detail::end(group_);
}

const std::shared_ptr<ServerGroupState>& ServerGroup::state(const char* call) const {
    if (!group_) {
        throw StateError(std::string(call) +
                         ": the ServerGroup is empty: create_server_group() makes one");
    }
    return group_;
}

const std::vector<Endpoint>& ServerGroup::endpoints() const {
    state("endpoints");
    return endpoints_;
}

Promise<std::vector<ServerCounters>> ServerGroup::counters_by_loop(EventLoop& loop,
                                                                   Here here) const {
    const auto look = [](ServerSite& site) {
        ServerCounters counters = site.server.counters();
        if (site.acceptor) add(counters, site.acceptor.counters());
        return detail::done_with(counters);
    };
    return gather(detail::call_on_sites<ServerCounters>(loop, state("counters_by_loop"), look))
        .then([](std::vector<ServerCounters> all) { return all; }, here);
}

Promise<ServerCounters> ServerGroup::counters(EventLoop& loop, Here here) const {
    return counters_by_loop(loop, here)
        .then(
            [](const std::vector<ServerCounters>& all) {
                ServerCounters sum;
                for (const ServerCounters& one : all) add(sum, one);
                return sum;
            },
            here);
}

void ServerGroup::close() { detail::stop_accepting(state("close")); }

Promise<ShutdownSummary> ServerGroup::shutdown(EventLoop& loop, Duration grace, Duration flush,
                                               Here here) const {
    return detail::shut_down(loop, state("shutdown"), grace, flush, here);
}

Promise<ServerGroup> create_server_group(EventLoop& loop, const LoopGroup& loops,
                                         ProtocolFactoryOfLoop factory,
                                         const std::vector<Endpoint>& at,
                                         const ServerOptions& options, Spread spread, Here here) {
    return make_server_group(loop, loops, server_maker(std::move(factory)), at, nullptr, options,
                             spread, here);
}

Promise<ServerGroup> start_server_group(EventLoop& loop, const LoopGroup& loops,
                                        StreamHandlerOfLoop handler,
                                        const std::vector<Endpoint>& at,
                                        const ServerOptions& options, Spread spread, Here here) {
    return make_server_group(loop, loops, server_maker(std::move(handler)), at, nullptr, options,
                             spread, here);
}

Promise<ServerGroup> create_server_group(EventLoop& loop, const LoopGroup& loops,
                                         ProtocolFactoryOfLoop factory, ListeningSockets sockets,
                                         const ServerOptions& options, Here here) {
    return make_server_group(loop, loops, server_maker(std::move(factory)), {}, &sockets, options,
                             Spread::in_turn, here);
}

Promise<ServerGroup> start_server_group(EventLoop& loop, const LoopGroup& loops,
                                        StreamHandlerOfLoop handler, ListeningSockets sockets,
                                        const ServerOptions& options, Here here) {
    return make_server_group(loop, loops, server_maker(std::move(handler)), {}, &sockets, options,
                             Spread::in_turn, here);
}

}  // namespace net
}  // namespace reactor
