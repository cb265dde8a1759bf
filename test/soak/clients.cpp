// SPDX-License-Identifier: BSL-1.0
#include <test/soak/clients.hpp>

#include <net/connect_options.hpp>
#include <net/create_connection.hpp>
#include <net/open_connection.hpp>

#include <functional>
#include <memory>
#include <string>

#include <test/soak/protocol_party.hpp>
#include <test/soak/stream_party.hpp>

namespace soak {

using reactor::Promise;
using reactor::net::ConnectOptions;
using reactor::net::Endpoint;
using reactor::net::Protocol;
using reactor::net::ProtocolFactory;
using reactor::net::Stream;
using reactor::net::Transport;

namespace {

/// From an address of its own: ports stay taken for a minute after the end (TIME_WAIT).
ConnectOptions from_own_address(std::uint64_t id) {
    const Endpoint own("127.1." + std::to_string(id / 256 % 256) + '.' + std::to_string(id % 256),
                       0);
    return ConnectOptions().local(own);
}

}  // namespace

constexpr std::size_t Clients::most_at_a_time;

Clients::Clients(reactor::EventLoop& loop, Ledger& ledger, const Sites& sites, int file,
                 std::uint64_t seed)
    : loop_(loop), ledger_(ledger), sites_(sites), file_(file), seed_(seed), random_(seed + 1) {}

void Clients::top_up(std::uint64_t most) {
    while (ledger_.open() < at_a_time_ && begun_ < most) {
        if (begun_ % 64 == 0) {
            at_a_time_ = 1 + static_cast<std::size_t>(random_.below(most_at_a_time));
        }
        begin();
    }
}

void Clients::begin() {
    const Plan plan(seed_, ++begun_);
    ledger_.begin(plan);
    const Endpoint& at = sites_.at(plan.site);
    const bool tcp = sites_.is_tcp(plan.site);
    const ConnectOptions options = tcp ? from_own_address(plan.id) : ConnectOptions();
    const bool by_name = tcp && plan.by_name;
    const char* const name = "soak.test";
    if (plan.streams) {
        loop_.create_task<StreamClient>(std::ref(ledger_), file_, plan,
                                        by_name ? open_connection(loop_, name, at.port(), options)
                                                : open_connection(loop_, at, options));
        return;
    }
    const ProtocolFactory factory = [this, plan] {
        return std::unique_ptr<Protocol>(new ProtocolParty(ledger_, file_, plan));
    };
    Connecting& connecting = connecting_[plan.id];
    connecting.promise = by_name ? create_connection(loop_, factory, name, at.port(), options)
                                 : create_connection(loop_, factory, at, options);
    ledger_.join(plan.id, Side::client, connecting);
    const std::uint64_t id = plan.id;
    connecting.promise.add_done_callback([this, id](const Promise<Transport>& done) {
        if (done.error()) ledger_.not_connected(id, done.error());
        connecting_.erase(id);
    });
}

}  // namespace soak
