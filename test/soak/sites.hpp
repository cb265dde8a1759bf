// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_SOAK_SITES_HPP
#define REACTOR_TEST_SOAK_SITES_HPP

#include <net/endpoint.hpp>
#include <net/server.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/handle.hpp>
#include <reactor/promise.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <test/soak/ledger.hpp>
#include <test/soak/random.hpp>

namespace soak {

constexpr std::size_t site_count = 4;

/// The servers: protocols and streams, each on TCP and on a Unix socket, which are shut down and
/// made anew at the same place. Owned by main(); on the loop's thread.
class Sites {
public:
    /// `directory` is for a socket's file; `file` for what the servers send from one.
    Sites(reactor::EventLoop& loop, Ledger& ledger, const std::string& directory, int file,
          std::uint64_t seed);
    ~Sites();
    Sites(const Sites&) = delete;
    Sites& operator=(const Sites&) = delete;

    const reactor::net::Endpoint& at(std::size_t site) const { return sites_[site].at; }
    bool is_tcp(std::size_t site) const { return at(site).is_ip(); }
    /// Shuts one down, unless it is being shut down, with some grace, and makes it anew.
    void restart(std::size_t index);
    bool all_up() const noexcept;
    /// How many connections the servers have.
    std::size_t open() const;
    /// How many times the servers have rested for want of descriptors.
    std::uint64_t rests() const;
    void close();

private:
    struct Site {
        reactor::net::Endpoint at;
        reactor::net::Server server;
        bool up = false;
        std::size_t clients = 0;  // when it was shut down
        reactor::TimerHandle timer;
    };

    void open(std::size_t index);
    void try_open(std::size_t index);
    void shut_down(std::size_t index,
                   const reactor::Promise<reactor::net::ShutdownSummary>& summary);

    reactor::EventLoop& loop_;
    Ledger& ledger_;
    const int file_;
    Random random_;
    std::array<Site, site_count> sites_;
    std::uint64_t rests_ = 0;  // of servers that are gone
};

}  // namespace soak

#endif
