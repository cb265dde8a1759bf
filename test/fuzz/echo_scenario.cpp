// SPDX-License-Identifier: BSL-1.0
#include "scenario.hpp"

#include <net/server.hpp>

#include <chrono>

namespace fuzz {

namespace {

using reactor::Duration;
using reactor::Promise;
using reactor::net::Endpoint;
using reactor::net::Server;
using reactor::net::ServerOptions;

class EchoScenario final : public EchoedScenario {
public:
    using EchoedScenario::EchoedScenario;

private:
    Place open() override {
        ServerOptions server_options;
        server_options.backlog(1 + static_cast<int>(random.below(8)));
        if (random.below(3) == 0) server_options.max_connections(1 + random.below(6));
        if (random.below(4) == 0) {
            patient_ = false;
            server_options.max_per_address(1 + random.below(6));
        }
        if (random.below(4) == 0) {
            patient_ = false;
            server_options.idle_timeout(std::chrono::milliseconds(1 + random.below(3000)));
        }
        if (random.below(4) == 0) {
            patient_ = false;
            server_options.write_timeout(std::chrono::milliseconds(1 + random.below(3000)));
        }
        if (random.below(2) == 0) {
            const std::size_t high = 1 + random.below(4096);
            server_options.write_limits(reactor::net::WriteLimits::of_high(high));
        }
        const Endpoint at = somewhere(7);
        server_ = echo_server(at, server_options);
        return place_at(at, "echo.test");
    }

    Promise<void> shut_down() override {
        const Duration grace = some(std::chrono::seconds(3));
        const Duration flush = some(std::chrono::seconds(3));
        return server_.shutdown(grace, flush).then([this] { return server_.wait_closed(); });
    }

    bool is_patient() const override { return patient_; }

    void check(Outcome& outcome) override {
        if (server_.is_serving()) outcome.faults.push_back("a server serves after its end");
        if (server_.counters().open != 0) {
            outcome.faults.push_back("a server counts open connections after its end");
        }
    }

    Server server_;
    bool patient_ = true;
};

}  // namespace

Outcome run_echo(std::uint64_t seed, const std::string& selector) {
    return run_scenario(seed, selector, &make_scenario<EchoScenario>);
}

}  // namespace fuzz
