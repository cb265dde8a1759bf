// SPDX-License-Identifier: BSL-1.0
#include <net/connect.hpp>
#include <net/detail/connect_attempt.hpp>
#include <net/detail/connecting.hpp>
#include <net/detail/transport_service.hpp>
#include <net/resolver.hpp>
#include <net/staggered_race.hpp>
#include <reactor/task.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace reactor {
namespace net {
namespace detail {

namespace {

///     start ─> resolved ─> raced ─> the connection, or why there is none
///       └── addresses given ─^
class Connecting final : public Task<NewConnection> {
public:
    Connecting(std::string host, Port port, ConnectOptions options)
        : what_("connect to " + host + " port " + port.str()),
          host_(std::move(host)),
          port_(std::move(port)),
          options_(std::move(options)),
          deadline_(options_.deadline().at(loop())) {}
    Connecting(std::vector<Endpoint> addresses, ConnectOptions options)
        : what_("connect"),
          options_(std::move(options)),
          deadline_(options_.deadline().at(loop())),
          addresses_(std::move(addresses)) {}

private:
    Next start() override {
        if (!addresses_.empty()) return race();
        const ResolveOptions limits = ResolveOptions(deadline_).family(options_.family());
        return await(resolve(loop(), host_, port_, limits), &Connecting::resolved);
    }

    Next resolved(std::vector<Endpoint> addresses) {
        addresses_ = std::move(addresses);
        return race();
    }

    Next race() {
        addresses_ = interleave(addresses_, options_.interleave());
        return await(staggered_race(
                         loop(), connect_attempts(loop(), calls_, addresses_, options_, deadline_),
                         options_.happy_eyeballs_delay()),
                     &Connecting::raced);
    }

    Next raced(const RaceOutcome<NewConnection>& outcome) {
        if (outcome.winner) return finish(outcome.winner.take());
        const ConnectFailure failure(what_, addresses_, outcome.errors);
        const bool late = deadline_ != never() && loop().time() >= deadline_;
        return fail(failure.error(late, options_.all_errors()));
    }

    std::string what_;  // as messages begin
    std::string host_;
    Port port_;
    ConnectOptions options_;
    TimePoint deadline_;
    // Of the time of the call: connect() has looked at them.
    const SocketCalls calls_ = socket_calls(loop());
    std::vector<Endpoint> addresses_;
};

}  // namespace

Promise<NewConnection> connecting(const char* call, EventLoop& loop, const std::string& host,
                                  const Port& port, const ConnectOptions& options) {
    loop.core().check(call);
    return loop.create_task<Connecting>(host, port, options);
}

Promise<NewConnection> connecting(const char* call, EventLoop& loop,
                                  std::vector<Endpoint> addresses, const ConnectOptions& options) {
    loop.core().check(call);
    if (std::all_of(addresses.begin(), addresses.end(),
                    [](const Endpoint& address) { return address.empty(); })) {
        throw std::invalid_argument(std::string(call) + ": there is no address to connect to");
    }
    return loop.create_task<Connecting>(std::move(addresses), options);
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
