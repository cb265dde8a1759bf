// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_SERVER_OPERATION_HPP
#define REACTOR_NET_DETAIL_SERVER_OPERATION_HPP

#include <net/detail/pending_operations.hpp>
#include <net/server.hpp>
#include <reactor/clock.hpp>
#include <reactor/detail/value_state.hpp>
#include <reactor/handle.hpp>

#include <cstddef>
#include <cstdint>

namespace reactor {
namespace net {
namespace detail {

/// The promise of something that a server waits for. While it is pending the server owns a
/// reference; cancelled, it takes itself out of the server before the caller sees it.
template <class T>
struct ServerOperation : reactor::detail::OperationState<T> {
    ServerOperation(reactor::detail::LoopCore& loop_core, const Here& here,
                    ServerState* server) noexcept
        : reactor::detail::OperationState<T>(loop_core, here), owner(server) {}

    ServerState* owner;
};

/// A wait_closed() or serve_forever(), or, of a group, until no client is left.
struct ServerWait final : reactor::detail::Pooled<ServerWait, ServerOperation<void>>,
                          Listed<ServerWait> {
    enum class Until : std::uint8_t { closed, over, idle };

    ServerWait(reactor::detail::LoopCore& loop_core, const Here& here, ServerState* server,
               Until what) noexcept
        : Pooled(loop_core, here, server), until(what) {}
    void abandon() noexcept override;
    void explain(reactor::detail::WhyPending& why) const override {
        why.what = until == Until::closed ? "Server::wait_closed"
                   : until == Until::over ? "Server::serve_forever"
                                          : "ServerGroup::shutdown";
    }

    Until until;
};

/// A shutdown().
///
///     grace ──limit──> flush ──limit──> abort
///       └── all over ────┴── all over ────┴── connections lost ──> done
struct ServerShutdown final
    : reactor::detail::Pooled<ServerShutdown, ServerOperation<ShutdownSummary>>,
      Listed<ServerShutdown> {
    ServerShutdown(reactor::detail::LoopCore& loop_core, const Here& here, ServerState* server,
                   Duration flush_length) noexcept
        : Pooled(loop_core, here, server), flush(flush_length) {}
    void abandon() noexcept override;
    void explain(reactor::detail::WhyPending& why) const override { why.what = "Server::shutdown"; }
    void count(std::size_t left) noexcept;

    enum class Phase : std::uint8_t { grace, flush, abort };

    Duration flush;
    TimerHandle limit;
    Phase phase = Phase::grace;
    std::size_t clients = 0;  // that were left when the phase began
    std::size_t resets = 0;   // of them, by abort_clients() meanwhile
    ShutdownSummary summary;  // of the phases before
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
