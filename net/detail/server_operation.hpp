// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_SERVER_OPERATION_HPP
#define REACTOR_NET_DETAIL_SERVER_OPERATION_HPP

#include <net/server.hpp>
#include <reactor/clock.hpp>
#include <reactor/detail/promise_state.hpp>
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
    ServerOperation* before = nullptr;
    ServerOperation* behind = nullptr;
};

/// What is pending of one kind, in the order of the calls. Any number may wait, and leave: so a
/// leave must not look for its place. Owns a reference of each.
template <class S>
class ServerOperations {
public:
    bool empty() const noexcept { return !first_; }
    S* first() const noexcept { return static_cast<S*>(first_); }
    static S* behind(const S& one) noexcept { return static_cast<S*>(one.behind); }

    void add(S& one) noexcept {
        one.keep();
        one.before = last_;
        (last_ ? last_->behind : first_) = &one;
        last_ = &one;
    }
    /// The reference is the caller's.
    reactor::detail::StateOwner<S> take(S& one) noexcept {
        (one.before ? one.before->behind : first_) = one.behind;
        (one.behind ? one.behind->before : last_) = one.before;
        one.before = one.behind = nullptr;
        return reactor::detail::StateOwner<S>(&one);
    }

private:
    using Link = typename S::Link;

    Link* first_ = nullptr;
    Link* last_ = nullptr;
};

/// A wait_closed() or serve_forever().
struct ServerWait final : reactor::detail::Pooled<ServerWait, ServerOperation<void>> {
    using Link = ServerOperation<void>;

    ServerWait(reactor::detail::LoopCore& loop_core, const Here& here, ServerState* server,
               bool serves) noexcept
        : Pooled(loop_core, here, server), forever(serves) {}
    void abandon() noexcept override;
    void explain(reactor::detail::WhyPending& why) const override {
        why.what = forever ? "Server::serve_forever" : "Server::wait_closed";
    }

    bool forever;
};

/// A shutdown().
///
///     grace ──limit──> flush ──limit──> abort
///       └── all over ────┴── all over ────┴── connections lost ──> done
struct ServerShutdown final
    : reactor::detail::Pooled<ServerShutdown, ServerOperation<ShutdownSummary>> {
    using Link = ServerOperation<ShutdownSummary>;

    ServerShutdown(reactor::detail::LoopCore& loop_core, const Here& here, ServerState* server,
                   Duration flush_length) noexcept
        : Pooled(loop_core, here, server), flush(flush_length) {}
    void abandon() noexcept override;
    void explain(reactor::detail::WhyPending& why) const override { why.what = "Server::shutdown"; }

    enum class Phase : std::uint8_t { grace, flush, abort };

    Duration flush;
    TimerHandle limit;
    Phase phase = Phase::grace;
    std::size_t clients = 0;  // that were left when the phase began
    ShutdownSummary summary;  // of the phases before
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
