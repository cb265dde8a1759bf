// SPDX-License-Identifier: BSL-1.0
#include <net/detail/server_state.hpp>

#include <algorithm>
#include <vector>

namespace reactor {
namespace net {
namespace detail {

using reactor::detail::PromiseAccess;
using reactor::detail::PromiseStatus;
using reactor::detail::StateOwner;
using Phase = ServerShutdown::Phase;

void ServerWait::abandon() noexcept { owner->forget(*this); }
void ServerShutdown::abandon() noexcept { owner->forget(*this); }

void ServerState::destroy() noexcept {
    if (waits_.empty() && serves_.empty() && idles_.empty() && shutdowns_.empty()) {
        delete this;
    } else {
        // The loop closes, and the last that it has dropped was ours. Ends here again.
        loop_closed();
    }
}

bool ServerState::has_clients() const noexcept {
    return connections() != 0 || (handlers_ && handlers_->running() != 0);
}

// ---- waiting for the end --------------------------------------------------------------------

PendingOperations<ServerWait>& ServerState::waiting(ServerWait::Until until) noexcept {
    return until == ServerWait::Until::closed ? waits_
           : until == ServerWait::Until::over ? serves_
                                              : idles_;
}

bool ServerState::has_come(ServerWait::Until until) const noexcept {
    return until == ServerWait::Until::closed ? closed_ && connections() == 0
           : until == ServerWait::Until::over ? all_over()
                                              : !has_clients();
}

Promise<void> ServerState::wait(const Here& here, ServerWait::Until until) {
    const StateOwner<ServerWait> wait(
        reactor::detail::make_state<ServerWait>(core, here, this, until));
    const Promise<void> promise = PromiseAccess::share<Promise<void>>(&*wait);
    if (is_closed_loop() || has_come(until)) {
        wait->settle(PromiseStatus::value);
        return promise;
    }
    waiting(until).add(*wait);
    return promise;
}

void ServerState::forget(ServerWait& wait) noexcept {
    const StateOwner<ServerWait> owned = waiting(wait.until).take(wait);
    if (wait.until == ServerWait::Until::over) close();
}

/// Something has ended: completes the promises of which that was the last.
void ServerState::settle() noexcept {
    if (connections() != 0 || is_closed_loop() || (!closed_ && idles_.empty())) return;
    const Keep keep(*this);
    // A promise that nobody holds goes here, and what it has captured may ask for anything: each
    // time from the beginning.
    while (settle_one()) {
    }
}

/// The connections are lost; handlers may go on.
bool ServerState::settle_one() noexcept {
    using Until = ServerWait::Until;
    for (const Until until : {Until::closed, Until::over, Until::idle}) {
        if (waiting(until).empty() || !has_come(until)) continue;
        const StateOwner<ServerWait> wait = waiting(until).take_first();
        wait->settle(PromiseStatus::value);
        return true;
    }
    const bool over = all_over();
    for (ServerShutdown* one = shutdowns_.first(); one; one = one->behind) {
        if (!over && one->phase != Phase::abort) continue;
        settle(*one);
        return true;
    }
    return false;
}

// ---- shutting down --------------------------------------------------------------------------

std::size_t ServerState::clients() const {
    return connections() + (handlers_ ? handlers_->without_connection() : 0);
}

Promise<ShutdownSummary> ServerState::shutdown(Duration grace, Duration flush, const Here& here) {
    const Keep keep(*this);
    const StateOwner<ServerShutdown> shutdown(
        reactor::detail::make_state<ServerShutdown>(core, here, this, flush));
    const auto promise = PromiseAccess::share<Promise<ShutdownSummary>>(&*shutdown);
    close();
    if (is_closed_loop() || all_over()) {
        shutdown->set(ShutdownSummary());
        return promise;
    }
    shutdown->clients = clients();
    shutdown->limit = loop_.call_at(Options().label("net::Server shutdown: grace"),
                                    deadline_after(loop_.time(), grace), &ServerState::next_phase,
                                    this, &*shutdown);
    shutdowns_.add(*shutdown);
    return promise;
}

void ServerState::next_phase(ServerShutdown* shutdown) {
    const Keep keep(*this);
    shutdown->count(clients());
    if (shutdown->phase == Phase::grace) {
        shutdown->phase = Phase::flush;
        shutdown->limit = loop_.call_at(Options().label("net::Server shutdown: flush"),
                                        deadline_after(loop_.time(), shutdown->flush),
                                        &ServerState::next_phase, this, shutdown);
        close_unhandled();
        return;
    }
    shutdown->phase = Phase::abort;
    abort_clients();
    // Only handlers are left, which have not heeded their cancellation.
    settle();
}

/// A handler may still send something when it hears of its cancellation; its connection is closed
/// when it is done.
void ServerState::close_unhandled() {
    std::vector<const TransportState*> handled;
    if (handlers_) {
        handled = handlers_->connections();
        handlers_->close_when_done();
        handlers_->cancel();
    }
    for_each_connection([&](TransportState& transport) {
        if (!std::binary_search(handled.begin(), handled.end(), &transport)) transport.close(false);
    });
}

void ServerState::settle(ServerShutdown& shutdown) noexcept {
    const StateOwner<ServerShutdown> owned = shutdowns_.take(shutdown);
    shutdown.limit.cancel();
    shutdown.count(0);
    shutdown.set(ShutdownSummary(shutdown.summary));
}

void ServerState::abort_clients() noexcept {
    for (ServerShutdown* one = shutdowns_.first(); one; one = one->behind) {
        one->resets = counters_.open;
    }
    for_each_connection([](TransportState& transport) { transport.abort(); });
}

/// So many are left: puts those who have gone to their end.
void ServerShutdown::count(std::size_t left) noexcept {
    const std::size_t gone = clients - left;
    const std::size_t reset = std::min(gone, resets);
    clients = left;
    resets -= reset;
    summary.aborted += reset;
    (phase == Phase::grace   ? summary.finished
     : phase == Phase::flush ? summary.closed
                             : summary.aborted) += gone - reset;
}

void ServerState::forget(ServerShutdown& shutdown) noexcept {
    const StateOwner<ServerShutdown> owned = shutdowns_.take(shutdown);
    shutdown.limit.cancel();
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
