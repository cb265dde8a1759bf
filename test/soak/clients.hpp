// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_SOAK_CLIENTS_HPP
#define REACTOR_TEST_SOAK_CLIENTS_HPP

#include <net/transport.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <cstddef>
#include <cstdint>
#include <map>

#include <test/soak/ledger.hpp>
#include <test/soak/random.hpp>
#include <test/soak/sites.hpp>

namespace soak {

/// Begins connections, as many at a time as it pleases. Owned by main(); on the loop's thread.
class Clients {
public:
    static constexpr std::size_t most_at_a_time = 40;

    Clients(reactor::EventLoop& loop, Ledger& ledger, const Sites& sites, int file,
            std::uint64_t seed);
    Clients(const Clients&) = delete;
    Clients& operator=(const Clients&) = delete;

    /// Begins what is missing, up to `most` connections since the start.
    void top_up(std::uint64_t most);

private:
    /// A protocol's connection that is being made.
    struct Connecting final : Party {
        void be_reset() override { promise.cancel(); }
        void be_closed() override { promise.cancel(); }
        void be_cancelled() override { promise.cancel(); }

        reactor::Promise<reactor::net::Transport> promise;
    };

    void begin();

    reactor::EventLoop& loop_;
    Ledger& ledger_;
    const Sites& sites_;
    const int file_;
    const std::uint64_t seed_;
    Random random_;
    std::uint64_t begun_ = 0;
    std::size_t at_a_time_ = 1;
    std::map<std::uint64_t, Connecting> connecting_;
};

}  // namespace soak

#endif
