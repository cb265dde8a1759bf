// SPDX-License-Identifier: BSL-1.0
#include <net/detail/call_on_loop.hpp>
#include <net/detail/server_group_state.hpp>
#include <net/detail/server_site.hpp>
#include <net/detail/server_state.hpp>
#include <net/server_group.hpp>
#include <reactor/combinators.hpp>
#include <reactor/error.hpp>
#include <reactor/report.hpp>
#include <reactor/task.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace reactor {
namespace net {

using detail::ServerAccess;
using detail::ServerGroupState;
using detail::ServerSite;
using detail::ServerSites;
using detail::ServerState;

struct detail::ServerGroupAccess {
    static ServerGroup wrap(std::shared_ptr<ServerGroupState> group,
                            std::vector<Endpoint> endpoints) {
        return ServerGroup(std::move(group), std::move(endpoints));
    }
    static void set_endpoints(ServerGroup& group, std::vector<Endpoint> endpoints) {
        group.endpoints_ = std::move(endpoints);
    }
};

namespace {

using Group = std::shared_ptr<ServerGroupState>;

template <class T>
Promise<T> done_with(T value) {
    const Promise<T> promise = get_running_loop().create_promise<T>();
    promise.set_result(std::move(value));
    return promise;
}
Promise<void> done() {
    const Promise<void> promise = get_running_loop().create_promise<void>();
    promise.set_result();
    return promise;
}

/// Calls f(site), which returns a Promise<T>, for what the group has on that loop. A loop that has
/// ended has no say.
template <class T, class F>
Promise<T> call_on_site(EventLoop& loop, const Group& group, std::size_t index, F f) {
    const auto call = [group, f] {
        ServerSite* const site = ServerSites::find(get_running_loop(), group.get());
        if (!site) throw BrokenPromise("the ServerGroup was destroyed");
        return f(*site);
    };
    const Promise<T> called = detail::call_on_loop<T>(loop, group->loop(index), call);
    // Keeps it: one that nobody has would not fail, but take what follows it along.
    return called.except([called](const BrokenPromise&) { return T(); });
}

template <class T, class F>
std::vector<Promise<T>> call_on_sites(EventLoop& loop, const Group& group, const F& f) {
    std::vector<Promise<T>> all;
    for (std::size_t i = 0; i < group->size(); ++i) {
        all.push_back(call_on_site<T>(loop, group, i, f));
    }
    return all;
}

void stop_accepting(const Group& group) {
    ServerSite* const site = ServerSites::find(get_running_loop(), group.get());
    if (site) site->stop_accepting();
}

void remove_sites(const Group& group) {
    for (std::size_t i = 0; i < group->size(); ++i) {
        group->loop(i).post([group] { ServerSites::remove(get_running_loop(), group.get()); });
    }
}

/// The ServerGroup goes.
void end(const Group& group) {
    if (!group->in_turn()) {
        for (std::size_t i = 0; i < group->size(); ++i) {
            group->loop(i).post([group] { stop_accepting(group); });
        }
        remove_sites(group);
        return;
    }
    // The others after those clients that the acceptor has sent to them.
    const bool accepting = group->loop(0).post([group] {
        stop_accepting(group);
        remove_sites(group);
    });
    if (!accepting) remove_sites(group);
}

void add(ServerCounters& sum, const ServerCounters& more) {
    sum.accepted += more.accepted;
    sum.open += more.open;
    sum.refused_by_limit += more.refused_by_limit;
    sum.failed += more.failed;
    sum.rests += more.rests;
}

// ---- made -----------------------------------------------------------------------------------

using Sockets = std::vector<detail::ListeningSocket>;

/// What a ServerGroup is made of. Read by one loop after the other.
struct Plan {
    using Make = std::function<Server(EventLoop&, Sockets, const ServerOptions&)>;

    Group group;
    Make make;
    ServerOptions options;
    bool takes_over = false;
    ListeningSockets given;
};

/// Makes the part of the loop that runs, which listens at `at`; gives where.
std::vector<Endpoint> make_site(Plan& plan, std::size_t index, const std::vector<Endpoint>& at) {
    EventLoop& loop = get_running_loop();
    ServerSite site;
    site.group = plan.group;
    if (!plan.group->in_turn()) {
        site.server = plan.make(loop, detail::open_sockets(loop, at, plan.options), plan.options);
    } else {
        if (index == 0) {
            Sockets sockets = plan.takes_over ? detail::adopt_sockets(loop, std::move(plan.given))
                                              : detail::open_sockets(loop, at, plan.options);
            site.acceptor = ServerAccess::wrap(
                new ServerState(loop, plan.group, std::move(sockets), plan.options));
        }
        site.server = plan.make(loop, Sockets(), plan.options);
        ServerAccess::state(site.server).take_seat(plan.group, index);
    }
    std::vector<Endpoint> endpoints = site.listening().endpoints();
    loop.service<ServerSites>().add(std::move(site));
    return endpoints;
}

/// All bind, one after the other, before any listens:
///
///     make ──(each loop)──> serve ──> served
///
/// The first one's ports are those of the others.
class Creating final : public Task<ServerGroup> {
public:
    Creating(std::shared_ptr<Plan> plan, std::vector<Endpoint> at)
        : plan_(std::move(plan)), at_(std::move(at)) {
        group_ = detail::ServerGroupAccess::wrap(plan_->group, {});
    }

private:
    Next start() override { return make(); }

    Next make() {
        const std::shared_ptr<Plan> plan = plan_;
        const std::size_t index = next_;
        const std::vector<Endpoint> at = at_;
        return await(detail::call_on_loop<std::vector<Endpoint>>(
                         loop(), plan->group->loop(index),
                         [plan, index, at] { return done_with(make_site(*plan, index, at)); }),
                     &Creating::made, &Creating::ended);
    }
    Next made(std::vector<Endpoint> endpoints) {
        if (next_ == 0) at_ = std::move(endpoints);
        return ++next_ < plan_->group->size() ? make() : serve();
    }

    Next serve() {
        const auto start_serving = [](ServerSite& site) {
            site.server.start_serving();
            if (site.acceptor) site.acceptor.start_serving();
            return done();
        };
        return await(gather(call_on_sites<void>(loop(), plan_->group, start_serving)),
                     &Creating::served);
    }
    Next served() {
        detail::ServerGroupAccess::set_endpoints(group_, std::move(at_));
        return finish(std::move(group_));
    }
    Next ended(const BrokenPromise&) {
        throw StateError("create_server_group: loop " + std::to_string(next_) +
                         " of the LoopGroup does not run: start() it before");
    }

    const std::shared_ptr<Plan> plan_;
    std::vector<Endpoint> at_;
    std::size_t next_ = 0;
    ServerGroup group_;  // ends what was made, if the rest cannot be
};

template <class Service>
Server serve(EventLoop& loop, Service service, Sockets sockets, const ServerOptions& options) {
    return ServerAccess::wrap(
        new ServerState(loop, std::move(service), std::move(sockets), options));
}

Plan::Make maker(ProtocolFactoryOfLoop factory) {
    if (!factory) throw std::invalid_argument("create_server_group: the factory is empty");
    return [factory](EventLoop& loop, Sockets sockets, const ServerOptions& options) {
        ProtocolFactory made = factory(loop);
        if (!made) {
            throw std::invalid_argument(
                "create_server_group: the protocol factory of a loop is empty");
        }
        return serve(loop, std::move(made), std::move(sockets), options);
    };
}

Plan::Make maker(StreamHandlerOfLoop handler) {
    if (!handler) throw std::invalid_argument("start_server_group: the handler is empty");
    return [handler](EventLoop& loop, Sockets sockets, const ServerOptions& options) {
        return serve(loop, handler(loop), std::move(sockets), options);
    };
}

Promise<ServerGroup> create(EventLoop& loop, const LoopGroup& loops, Plan::Make make,
                            std::vector<Endpoint> at, ListeningSockets* given,
                            ServerOptions options, Spread spread, const Here& here) {
    loop.core().check("create_server_group");
    if (!options.start_serving()) {
        throw std::invalid_argument(
            "create_server_group: start_serving(false) is for a single Server: a group serves as "
            "soon as it is made");
    }
    const bool in_turn = given || spread == Spread::in_turn ||
                         std::any_of(at.begin(), at.end(), [](const Endpoint& one) {
                             return one.family() == Endpoint::Family::local;
                         });
    if (!in_turn) options.reuse_port(true);
    std::vector<Poster> posters;
    for (std::size_t i = 0; i < loops.size(); ++i) posters.push_back(loops.poster(i));
    const auto plan = std::make_shared<Plan>();
    plan->group =
        std::make_shared<ServerGroupState>(std::move(posters), in_turn, options.max_connections());
    plan->make = std::move(make);
    plan->options = options;
    if (given) {
        plan->takes_over = true;
        plan->given = std::move(*given);
    }
    return loop.create_task<Creating>(Options(here), plan, std::move(at));
}

// ---- shut down ------------------------------------------------------------------------------

/// What a loop's server had seen when a shutdown began.
struct Seen {
    std::size_t clients = 0;
    std::uint64_t accepted = 0;
};

/// Each step on all loops:
///
///     look ──> wait until idle ──(all, or the grace is over)──> stop accepting ──> shut down ──>
///     sum
class Shutdown final : public Task<ShutdownSummary> {
public:
    Shutdown(Group group, Duration grace, Duration flush)
        : group_(std::move(group)),
          deadline_(deadline_after(loop().time(), grace)),
          flush_(flush) {}

private:
    Next start() override {
        const auto look = [](ServerSite& site) {
            const ServerState& server = ServerAccess::state(site.server);
            Seen seen;
            seen.clients = server.clients();
            seen.accepted = server.counters().accepted;
            return done_with(seen);
        };
        return await(gather(call_on_sites<Seen>(loop(), group_, look)), &Shutdown::wait);
    }

    Next wait(std::vector<Seen> seen) {
        seen_ = std::move(seen);
        const auto idle = [](ServerSite& site) {
            return ServerAccess::state(site.server).wait(Here(), detail::ServerWait::Until::idle);
        };
        return await(wait_for(gather(call_on_sites<void>(loop(), group_, idle)), grace_left()),
                     &Shutdown::stop, &Shutdown::late);
    }
    Next late(const TimeoutError&) { return stop(); }

    Next stop() {
        const auto stop_here = [](ServerSite& site) {
            site.stop_accepting();
            return done();
        };
        return await(gather(call_on_sites<void>(loop(), group_, stop_here)), &Shutdown::shut);
    }

    Next shut() {
        const Duration grace = grace_left();
        const Duration flush = flush_;
        std::vector<Promise<ShutdownSummary>> all;
        for (std::size_t i = 0; i < group_->size(); ++i) {
            const Seen before = seen_[i];
            all.push_back(call_on_site<ShutdownSummary>(
                loop(), group_, i, [before, grace, flush](ServerSite& site) {
                    const ServerState& server = ServerAccess::state(site.server);
                    const std::size_t came =
                        static_cast<std::size_t>(server.counters().accepted - before.accepted);
                    const std::size_t gone = before.clients + came - server.clients();
                    return site.server.shutdown(grace, flush).then([gone](ShutdownSummary summary) {
                        summary.finished += gone;
                        return summary;
                    });
                }));
        }
        return await(gather(std::move(all)), &Shutdown::sum);
    }

    Next sum(const std::vector<ShutdownSummary>& summaries) {
        ShutdownSummary total;
        for (const ShutdownSummary& one : summaries) {
            total.finished += one.finished;
            total.closed += one.closed;
            total.aborted += one.aborted;
        }
        return finish(total);
    }

    Duration grace_left() { return deadline_ == never() ? forever() : deadline_ - loop().time(); }

    const Group group_;
    const TimePoint deadline_;
    const Duration flush_;
    std::vector<Seen> seen_;
};

}  // namespace

// ---- the object -----------------------------------------------------------------------------

ServerGroup& ServerGroup::operator=(ServerGroup&& other) noexcept {
    ServerGroup moved(std::move(other));
    group_.swap(moved.group_);
    endpoints_.swap(moved.endpoints_);
    return *this;
}

ServerGroup::~ServerGroup() {
    if (!group_) return;
    try {
        end(group_);
    } catch (...) {
        log_to_standard_error(LogLevel::error,
                              "A ServerGroup cannot tell its loops that it ends\n" +
                                  describe(std::current_exception()));
    }
}

const Group& ServerGroup::state(const char* call) const {
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

Promise<std::vector<ServerCounters>> ServerGroup::counters_by_loop(EventLoop& loop) const {
    const auto look = [](ServerSite& site) {
        ServerCounters counters = site.server.counters();
        if (site.acceptor) add(counters, site.acceptor.counters());
        return done_with(counters);
    };
    return gather(call_on_sites<ServerCounters>(loop, state("counters_by_loop"), look));
}

Promise<ServerCounters> ServerGroup::counters(EventLoop& loop, Here here) const {
    return counters_by_loop(loop).then(
        [](const std::vector<ServerCounters>& all) {
            ServerCounters sum;
            for (const ServerCounters& one : all) add(sum, one);
            return sum;
        },
        here);
}

void ServerGroup::close() {
    const Group& group = state("close");
    for (std::size_t i = 0; i < group->size(); ++i) {
        const Group kept = group;
        group->loop(i).post([kept] { stop_accepting(kept); });
    }
}

Promise<ShutdownSummary> ServerGroup::shutdown(EventLoop& loop, Duration grace, Duration flush,
                                               Here here) const {
    return loop.create_task<Shutdown>(Options(here), state("shutdown"), grace, flush);
}

Promise<ServerGroup> create_server_group(EventLoop& loop, const LoopGroup& loops,
                                         ProtocolFactoryOfLoop factory,
                                         const std::vector<Endpoint>& at,
                                         const ServerOptions& options, Spread spread, Here here) {
    return create(loop, loops, maker(std::move(factory)), at, nullptr, options, spread, here);
}

Promise<ServerGroup> start_server_group(EventLoop& loop, const LoopGroup& loops,
                                        StreamHandlerOfLoop handler,
                                        const std::vector<Endpoint>& at,
                                        const ServerOptions& options, Spread spread, Here here) {
    return create(loop, loops, maker(std::move(handler)), at, nullptr, options, spread, here);
}

Promise<ServerGroup> create_server_group(EventLoop& loop, const LoopGroup& loops,
                                         ProtocolFactoryOfLoop factory, ListeningSockets sockets,
                                         const ServerOptions& options, Here here) {
    return create(loop, loops, maker(std::move(factory)), {}, &sockets, options, Spread::in_turn,
                  here);
}

Promise<ServerGroup> start_server_group(EventLoop& loop, const LoopGroup& loops,
                                        StreamHandlerOfLoop handler, ListeningSockets sockets,
                                        const ServerOptions& options, Here here) {
    return create(loop, loops, maker(std::move(handler)), {}, &sockets, options, Spread::in_turn,
                  here);
}

}  // namespace net
}  // namespace reactor
