// SPDX-License-Identifier: BSL-1.0
#include <net/detail/call_on_site.hpp>
#include <net/detail/server_group_creating.hpp>
#include <net/detail/server_state.hpp>
#include <net/detail/transport_service.hpp>
#include <reactor/error.hpp>
#include <reactor/task.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <cxxabi.h>

namespace reactor {
namespace net {
namespace detail {

struct ServerGroupAccess {
    static ServerGroup wrap(std::shared_ptr<ServerGroupState> group,
                            std::vector<Endpoint> endpoints) {
        return ServerGroup(std::move(group), std::move(endpoints));
    }
    static void set_endpoints(ServerGroup& group, std::vector<Endpoint> endpoints) {
        group.endpoints_ = std::move(endpoints);
    }
};

namespace {

using Sockets = std::vector<ListeningSocket>;

/// What a ServerGroup is made of. Read by one loop after the other.
struct Plan {
    std::shared_ptr<ServerGroupState> group;
    MakeServer make;
    ServerOptions options;
    bool takes_over = false;
    ListeningSockets given;
};

/// Makes the part of the loop that runs, which listens at `at`; gives where.
std::vector<Endpoint> make_site(Plan& plan, std::size_t index, const std::vector<Endpoint>& at) {
    EventLoop& loop = get_running_loop();
    if (socket_calls(loop).simulated()) {
        throw StateError("create_server_group: loop " + std::to_string(index) +
                         " has a network in memory, which is that loop's alone: create_server()");
    }
    ServerSite site;
    site.group = plan.group;
    site.index = index;
    if (!plan.group->in_turn()) {
        site.server = plan.make(loop, open_sockets(loop, at, plan.options), plan.options);
    } else {
        if (index == 0) {
            Sockets sockets = plan.takes_over ? adopt_sockets(loop, std::move(plan.given))
                                              : open_sockets(loop, at, plan.options);
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

/// Nothing to tell.
std::vector<Endpoint> start_serving(const std::shared_ptr<ServerGroupState>& group) {
    ServerSite* const site = ServerSites::find(get_running_loop(), group.get());
    // It is there as long as the ServerGroup, unless the task was given up meanwhile.
    if (site) {
        site->server.start_serving();
        if (site->acceptor) site->acceptor.start_serving();
    }
    return {};
}

/// What has come of a call on a loop. Its errors are values, so that BrokenPromise is the loop's
/// end and nothing that a factory has thrown.
struct Outcome {
    std::vector<Endpoint> endpoints;
    std::exception_ptr error;
};

template <class F>
Promise<Outcome> outcome_of(F f) {
    Outcome outcome;
    try {
        outcome.endpoints = f();
    } catch (const LoopExit&) {
        throw;
    } catch (const abi::__forced_unwind&) {
        throw;
    } catch (...) {
        outcome.error = std::current_exception();
    }
    return done_with(std::move(outcome));
}

/// All bind, one after the other, before any listens:
///
///     make ──(each loop)──> serve ──(each loop)──> served
///
/// The first one's ports are those of the others.
class Creating final : public Task<ServerGroup> {
public:
    Creating(std::shared_ptr<Plan> plan, std::vector<Endpoint> at)
        : plan_(std::move(plan)), at_(std::move(at)) {
        group_ = ServerGroupAccess::wrap(plan_->group, {});
    }

private:
    Next start() override { return make(); }

    Next make() {
        const std::shared_ptr<Plan> plan = plan_;
        const std::size_t index = next_;
        const std::vector<Endpoint> at = at_;
        const auto make_here = [plan, index, at] {
            return outcome_of([&] { return make_site(*plan, index, at); });
        };
        return await(call_on_loop<Outcome>(loop(), plan->group->loop(index), make_here),
                     &Creating::made, &Creating::does_not_run, &Creating::has_ended);
    }
    Next made(Outcome made) {
        if (made.error) std::rethrow_exception(made.error);
        if (next_ == 0) at_ = std::move(made.endpoints);
        if (++next_ < plan_->group->size()) return make();
        next_ = 0;
        return serve();
    }
    Next does_not_run(const LoopDoesNotRun&) {
        throw StateError("create_server_group: loop " + std::to_string(next_) +
                         " of the LoopGroup does not run: start() it before");
    }

    Next serve() {
        const std::shared_ptr<ServerGroupState> group = plan_->group;
        const auto serve_here = [group] {
            return outcome_of([&] { return start_serving(group); });
        };
        return await(call_on_loop<Outcome>(loop(), group->loop(next_), serve_here),
                     &Creating::serves, &Creating::has_ended);
    }
    Next serves(const Outcome& served) {
        if (served.error) std::rethrow_exception(served.error);
        if (++next_ < plan_->group->size()) return serve();
        ServerGroupAccess::set_endpoints(group_, std::move(at_));
        return finish(std::move(group_));
    }
    Next has_ended(const BrokenPromise&) {
        throw StateError("create_server_group: loop " + std::to_string(next_) +
                         " of the LoopGroup has ended meanwhile");
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

}  // namespace

MakeServer server_maker(ProtocolFactoryOfLoop factory) {
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

MakeServer server_maker(StreamHandlerOfLoop handler) {
    if (!handler) throw std::invalid_argument("start_server_group: the handler is empty");
    return [handler](EventLoop& loop, Sockets sockets, const ServerOptions& options) {
        return serve(loop, handler(loop), std::move(sockets), options);
    };
}

Promise<ServerGroup> make_server_group(EventLoop& loop, const LoopGroup& loops, MakeServer make,
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

}  // namespace detail
}  // namespace net
}  // namespace reactor
