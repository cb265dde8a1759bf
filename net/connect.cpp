// SPDX-License-Identifier: BSL-1.0
#include <net/connect.hpp>
#include <net/detail/connect_attempt.hpp>
#include <net/resolver.hpp>
#include <net/staggered_race.hpp>
#include <reactor/task.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace reactor {
namespace net {

ConnectError::ConnectError(const std::string& what, std::vector<std::system_error> all)
    : std::system_error(all.front().code()), attempts(std::move(all)), text_(what) {}

namespace {

/// The addresses of one family, in their order.
struct Kin {
    Endpoint::Family family;
    std::vector<Endpoint> addresses;
    std::size_t taken = 0;

    bool left() const { return taken < addresses.size(); }
    const Endpoint& take() { return addresses[taken++]; }
};

std::vector<Kin> by_family(const std::vector<Endpoint>& addresses) {
    std::vector<Kin> families;
    for (const Endpoint& address : addresses) {
        auto kin = std::find_if(families.begin(), families.end(),
                                [&](const Kin& known) { return known.family == address.family(); });
        if (kin == families.end()) {
            families.push_back(Kin());
            kin = families.end() - 1;
            kin->family = address.family();
        }
        kin->addresses.push_back(address);
    }
    return families;
}

/// One connect():
///
///     start ─> resolved ─> raced ─> the socket, or why there is none
///       └── addresses given ─^
class Connecting final : public Task<Socket> {
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
                         loop(), detail::connect_attempts(loop(), addresses_, options_, deadline_),
                         options_.happy_eyeballs_delay()),
                     &Connecting::raced);
    }

    Next raced(const RaceOutcome<Socket>& outcome) {
        if (outcome.winner) return finish(outcome.winner.take());
        const detail::ConnectFailure failure(what_, addresses_, outcome.errors);
        const bool late = deadline_ != never() && loop().time() >= deadline_;
        return fail(failure.error(late, options_.all_errors()));
    }

    std::string what_;  // as messages begin
    std::string host_;
    Port port_;
    ConnectOptions options_;
    TimePoint deadline_;
    std::vector<Endpoint> addresses_;
};

}  // namespace

Promise<Socket> connect(EventLoop& loop, const std::string& host, const Port& port,
                        const ConnectOptions& options) {
    loop.core().check("connect");
    return loop.create_task<Connecting>(host, port, options);
}

Promise<Socket> connect(const std::string& host, const Port& port, const ConnectOptions& options) {
    return connect(get_running_loop(), host, port, options);
}

Promise<Socket> connect(EventLoop& loop, std::vector<Endpoint> addresses,
                        const ConnectOptions& options) {
    loop.core().check("connect");
    if (addresses.empty())
        throw std::invalid_argument("connect: there is no address to connect to");
    return loop.create_task<Connecting>(std::move(addresses), options);
}

std::vector<Endpoint> interleave(const std::vector<Endpoint>& addresses, std::size_t first_count) {
    if (first_count == 0) return addresses;
    std::vector<Kin> families = by_family(addresses);
    std::vector<Endpoint> order;
    while (order.size() + 1 < first_count && !families.empty() && families.front().left()) {
        order.push_back(families.front().take());
    }
    while (order.size() < addresses.size()) {
        for (Kin& kin : families) {
            if (kin.left()) order.push_back(kin.take());
        }
    }
    return order;
}

}  // namespace net
}  // namespace reactor
