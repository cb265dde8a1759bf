// SPDX-License-Identifier: BSL-1.0
#include "scenario.hpp"

#include <apps/echo/echo.hpp>

#include <reactor/report.hpp>

#include <chrono>
#include <exception>

namespace fuzz {

using reactor::Duration;
using reactor::net::Endpoint;
using reactor::net::Server;
using reactor::net::ServerOptions;
using reactor::net::testing::MemoryNetwork;
using reactor::net::testing::MemoryNetworkCounters;
using reactor::net::testing::MemoryNetworkOptions;
using reactor::testing::LoopFixture;

namespace {

// Of the run that is under way: what a fixture calls is a plain function.
std::vector<std::string>* faults = nullptr;

void note_fault(const std::string& text) { faults->push_back(text); }

}  // namespace

constexpr Duration Scenario::long_time;

Scenario::Scenario(LoopFixture& f, MemoryNetwork& n, const MemoryNetworkOptions& o, Random& r)
    : fixture(f), loop(f.loop), network(n), options(o), random(r) {}

Scenario::~Scenario() = default;

Endpoint Scenario::somewhere(std::uint16_t port) {
    switch (random.below(4)) {
        case 0:
            return Endpoint("2001:db8::1", port);
        case 1:
            return Endpoint::local_path("/run/server" + std::to_string(port));
        case 2:
            return Endpoint::local_abstract("server" + std::to_string(port));
        default:
            return Endpoint("192.0.2.1", port);
    }
}

Server EchoedScenario::echo_server(const Endpoint& at, const ServerOptions& server_options) {
    if (random.below(2) == 0) {
        return reactor::net::start_server(loop, reactor::net::serve_with<echo::EchoTask>(), at,
                                          server_options);
    }
    return reactor::net::create_server(
        loop, [] { return std::unique_ptr<reactor::net::Protocol>(new echo::EchoProtocol); }, at,
        server_options);
}

std::string Scenario::name_for(const Endpoint& address, const std::string& host) {
    std::vector<Endpoint> addresses(1, address);
    if (random.below(2) == 0) {
        const Endpoint other("2001:db8::dead", 0);
        addresses.insert(addresses.begin(), other);
        if (random.below(2) == 0) network.drop_connects(other);
    }
    network.add_host(host, addresses);
    return host;
}

Place Scenario::place_at(const Endpoint& address, const std::string& host) {
    Place place;
    place.address = address;
    place.port = address.port();
    if (address.is_ip() && random.below(2) == 0) place.host = name_for(address, host);
    return place;
}

bool Scenario::nothing_goes_wrong() const {
    return options.resets == 0 && options.failing_accepts == 0 && options.refused_connects == 0 &&
           options.failing_lookups == 0 && !options.refuse_when_full;
}

/// A client that ends as it should, with nobody else to end it, has everything back, or an error.
void EchoedScenario::judge(const Client& client, bool early, Outcome& outcome) const {
    const Plan& plan = client.plan();
    const Story& story = client.story();
    const bool whole = story.sent_all && story.saw_end && story.echoed == plan.size;
    outcome.clients += 1;
    outcome.whole += whole ? 1 : 0;
    outcome.bytes += story.echoed;
    const bool patient = !early && is_patient() && plan.limit == reactor::forever() &&
                         plan.end == Plan::End::half_close;
    const bool quiet = patient && nothing_goes_wrong();
    std::string fault;
    if (!client.done()) {
        fault = "a client is not done";
    } else if (!story.wrong.empty()) {
        fault = "a client got wrong bytes";
    } else if (quiet && !story.error.empty()) {
        fault = "a client failed, and nothing went wrong";
    } else if (quiet && !whole) {
        fault = "a client did not get everything back";
    } else if (patient && resets_ && story.saw_end && story.error.empty() && !whole) {
        fault = "a client was told of an end that is none";
    }
    if (!fault.empty()) outcome.faults.push_back(fault + ": " + client.text());
}

void EchoedScenario::run(Outcome& outcome) {
    const Place place = open();
    resets_ = place.address.is_ip();
    std::vector<std::unique_ptr<Client>> clients;
    const std::size_t count = 1 + random.below(12);
    for (std::size_t i = 0; i < count; ++i) {
        const Plan plan(random);
        clients.emplace_back(new Client(loop, place, plan));
    }
    const bool early = random.below(3) == 0;
    if (early) {
        loop.run_for(some(std::chrono::seconds(4)));
    } else {
        loop.run_for(long_time);
    }
    const reactor::Promise<void> ending = shut_down();
    loop.run_for(long_time);
    if (!ending.done()) outcome.faults.push_back("the servers do not end");
    if (ending.done() && ending.error()) {
        outcome.faults.push_back("the servers end with: " + reactor::describe(ending.error()));
    }
    for (const auto& client : clients) {
        judge(*client, early, outcome);
        outcome.log += "client " + client->text() + '\n';
    }
    check(outcome);
    check_network(outcome);
}

void Scenario::check_network(Outcome& outcome) {
    const MemoryNetworkCounters counters = network.counters();
    if (counters.open_sockets == 0 &&
        counters.bytes_sent != counters.bytes_received + counters.bytes_lost) {
        outcome.faults.push_back(std::to_string(counters.bytes_sent) + " bytes were sent, but " +
                                 std::to_string(counters.bytes_received) + " received and " +
                                 std::to_string(counters.bytes_lost) + " lost");
    }
    // Without descriptors a server says so, and goes on.
    for (const reactor::Report& report : fixture.take_reports()) {
        const std::string text = report.text();
        const bool expected =
            options.failing_accepts > 0 && text.find("Too many open files") != std::string::npos;
        if (!expected) outcome.faults.push_back("a report: " + text);
    }
}

Outcome run_scenario(std::uint64_t seed, const std::string& selector,
                     std::unique_ptr<Scenario> (*make)(LoopFixture&, MemoryNetwork&,
                                                       const MemoryNetworkOptions&, Random&)) {
    Outcome outcome;
    std::vector<std::string> left;
    faults = &left;
    try {
        LoopFixture fixture(selector, &note_fault);
        std::string warnings;
        fixture.loop.set_log([&warnings](reactor::LogLevel, const std::string& text) {
            warnings += "logged: " + text + '\n';
        });
        const MemoryNetworkOptions options = MemoryNetworkOptions::rough(seed);
        MemoryNetwork network(fixture.loop, seed, options, &note_fault);
        Random random(seed + 1);
        try {
            make(fixture, network, options, random)->run(outcome);
        } catch (const std::exception& error) {
            outcome.faults.push_back(std::string("thrown: ") + error.what());
        }
        outcome.log = network.log() + warnings + outcome.log;
    } catch (const std::exception& error) {
        outcome.faults.push_back(std::string("thrown at the end: ") + error.what());
    }
    outcome.faults.insert(outcome.faults.end(), left.begin(), left.end());
    faults = nullptr;
    return outcome;
}

}  // namespace fuzz
