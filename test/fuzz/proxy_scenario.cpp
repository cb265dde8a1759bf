// SPDX-License-Identifier: BSL-1.0
#include "scenario.hpp"

#include <apps/proxy/forwarder.hpp>

#include <net/server.hpp>
#include <reactor/combinators.hpp>

#include <chrono>
#include <memory>
#include <utility>

namespace fuzz {

namespace {

using reactor::Duration;
using reactor::Promise;
using reactor::net::Endpoint;
using reactor::net::Server;
using reactor::net::ServerOptions;

class ProxyScenario final : public EchoedScenario {
public:
    using EchoedScenario::EchoedScenario;

private:
    Place open() override {
        proxy::ForwarderOptions forwarding;
        const std::size_t servers = 1 + random.below(2);
        for (std::size_t i = 0; i < servers; ++i) {
            const Endpoint at = somewhere(static_cast<std::uint16_t>(8000 + i));
            servers_.push_back(echo_server(at, ServerOptions()));
            command_line::Address target;
            target.text = at.str();
            target.endpoint = at;
            if (at.is_ip() && random.below(2) == 0) {
                target.host = name_for(at, "server" + std::to_string(i) + ".test");
                target.port = at.port();
                target.endpoint = Endpoint();
            }
            forwarding.targets.push_back(target);
        }
        if (random.below(4) == 0) {
            command_line::Address dead;
            dead.endpoint = Endpoint("192.0.2.99", 80);
            dead.text = dead.endpoint.str();
            if (random.below(2) == 0) network.drop_connects(dead.endpoint);
            forwarding.targets.insert(forwarding.targets.begin(), dead);
        }
        forwarding.in_turn = random.below(2) == 0;
        forwarding.connect_timeout = std::chrono::seconds(random.below(2) == 0 ? 5 : 200);
        if (random.below(4) == 0) {
            patient_ = false;
            forwarding.idle_timeout = std::chrono::milliseconds(1 + random.below(3000));
        }
        // Before a target's backlog has room again, a client may have waited for too long.
        if (forwarding.connect_timeout < std::chrono::seconds(200)) patient_ = false;

        forwarder_.reset(new proxy::Forwarder(loop, std::move(forwarding)));
        ServerOptions front;
        if (random.below(3) == 0) front.max_connections(1 + random.below(6));
        const Endpoint at = somewhere(80);
        proxy::Forwarder* const forwarder = forwarder_.get();
        front_ = reactor::net::create_server(
            loop, [forwarder] { return forwarder->serve_client(); }, at, front);
        return place_at(at, "proxy.test");
    }

    Promise<void> shut_down() override {
        const Duration grace = some(std::chrono::seconds(3));
        return front_.shutdown(grace)
            .then([this] {
                const Promise<void> idle = forwarder_->wait_idle();
                if (random.below(2) == 0) forwarder_->abort();
                return idle;
            })
            .then([this] {
                std::vector<Promise<void>> ends;
                for (Server& server : servers_) {
                    ends.push_back(server.shutdown(some(std::chrono::seconds(3))).then([] {}));
                }
                return reactor::gather(std::move(ends));
            })
            .then([] {});
    }

    bool is_patient() const override { return patient_; }

    void check(Outcome& outcome) override {
        const proxy::Traffic& traffic = forwarder_->traffic();
        if (traffic.open != 0) {
            outcome.faults.push_back("the proxy counts open connections after its end");
        }
        if (traffic.to_targets > traffic.from_clients ||
            traffic.to_clients > traffic.from_targets) {
            outcome.faults.push_back("the proxy has sent more than it has got");
        }
    }

    std::vector<Server> servers_;
    Server front_;
    std::unique_ptr<proxy::Forwarder> forwarder_;
    bool patient_ = true;
};

}  // namespace

Outcome run_proxy(std::uint64_t seed, const std::string& selector) {
    return run_scenario(seed, selector, &make_scenario<ProxyScenario>);
}

}  // namespace fuzz
