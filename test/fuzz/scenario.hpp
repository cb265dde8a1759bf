// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_FUZZ_SCENARIO_HPP
#define REACTOR_TEST_FUZZ_SCENARIO_HPP

#include "client.hpp"

#include <net/protocol.hpp>
#include <net/server.hpp>
#include <net/testing.hpp>
#include <reactor/testing.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fuzz {

/// What became of one run.
struct Outcome {
    std::vector<std::string> faults;
    std::string log;  // of the network, and how each client ended
    std::size_t clients = 0;
    std::size_t whole = 0;  // that got everything
    std::uint64_t bytes = 0;
};

/// Servers, clients and a network in which anything may happen, all chosen by the seed.
class Scenario {
public:
    using Servers = std::vector<reactor::net::Server>;

    Scenario(reactor::testing::LoopFixture& fixture, reactor::net::testing::MemoryNetwork& network,
             const reactor::net::testing::MemoryNetworkOptions& options, Random& random);
    virtual ~Scenario();
    Scenario(const Scenario&) = delete;
    Scenario& operator=(const Scenario&) = delete;

    /// Clients come, do what they have planned, and are gone; then the servers end, or before.
    virtual void run(Outcome& outcome) = 0;

protected:
    // Longer than any connection lingers, and any wait of TCP's.
    static constexpr reactor::Duration long_time = std::chrono::seconds(2000);

    reactor::Duration some(reactor::Duration longest) {
        return random.between(reactor::Duration::zero(), longest);
    }
    /// Where somebody can listen: IPv4, IPv6, a Unix path, an abstract name.
    reactor::net::Endpoint somewhere(std::uint16_t port);
    /// A name for that address, which may have others that do not answer.
    std::string name_for(const reactor::net::Endpoint& address, const std::string& host);
    /// For clients who know it by its address, or by that name.
    Place place_at(const reactor::net::Endpoint& address, const std::string& host);
    bool nothing_goes_wrong() const;
    /// When everything has ended: bytes that have vanished, reports that nobody expects.
    void check_network(Outcome& outcome);

    reactor::testing::LoopFixture& fixture;
    reactor::testing::TestLoop& loop;
    reactor::net::testing::MemoryNetwork& network;
    const reactor::net::testing::MemoryNetworkOptions options;
    Random& random;
};

/// Servers that send back what comes, and clients that look whether it does.
class EchoedScenario : public Scenario {
public:
    using Scenario::Scenario;

    void run(Outcome& outcome) override;

protected:
    /// Whom the clients talk to; opens the servers.
    virtual Place open() = 0;
    /// The servers, and what belongs to them, are to end; the promise is done when they have.
    virtual reactor::Promise<void> shut_down() = 0;
    /// Whether nothing in the servers' options can cut a client off.
    virtual bool is_patient() const = 0;
    /// Adds what is not as it must be, when everything has ended.
    virtual void check(Outcome& outcome) = 0;

    reactor::net::Server echo_server(const reactor::net::Endpoint& at,
                                     const reactor::net::ServerOptions& options);

private:
    void judge(const Client& client, bool early, Outcome& outcome) const;

    bool resets_ = true;  // an abort can be told from an end: not so on Unix sockets
};

/// Clients of an echo server.
Outcome run_echo(std::uint64_t seed, const std::string& selector = std::string());
/// The same through a proxy.
Outcome run_proxy(std::uint64_t seed, const std::string& selector = std::string());
/// Members of a chat room.
Outcome run_chat(std::uint64_t seed, const std::string& selector = std::string());

/// Sets a run up, and looks at what it leaves behind.
Outcome run_scenario(std::uint64_t seed, const std::string& selector,
                     std::unique_ptr<Scenario> (*make)(
                         reactor::testing::LoopFixture&, reactor::net::testing::MemoryNetwork&,
                         const reactor::net::testing::MemoryNetworkOptions&, Random&));

template <class S>
std::unique_ptr<Scenario> make_scenario(reactor::testing::LoopFixture& fixture,
                                        reactor::net::testing::MemoryNetwork& network,
                                        const reactor::net::testing::MemoryNetworkOptions& options,
                                        Random& random) {
    return std::unique_ptr<Scenario>(new S(fixture, network, options, random));
}

}  // namespace fuzz

#endif
