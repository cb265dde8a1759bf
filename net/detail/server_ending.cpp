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

namespace {

template <class S>
void take_out(std::vector<S*>& all, S& one) noexcept {
    all.erase(std::remove(all.begin(), all.end(), &one), all.end());
}

}  // namespace

void ServerWait::abandon() noexcept { owner->forget(*this); }
void ServerShutdown::abandon() noexcept { owner->forget(*this); }

// Not beside its callers: gcc 12 would see uses after it that there are not.
void ServerState::destroy() noexcept { delete this; }

bool ServerState::all_over() const noexcept {
    return closed_ && counters_.open == 0 && (!handlers_ || handlers_->running() == 0);
}

// ---- waiting for the end --------------------------------------------------------------------

Promise<void> ServerState::wait(const Here& here, bool forever) {
    const StateOwner<ServerWait> wait(
        reactor::detail::make_state<ServerWait>(core, here, this, forever));
    const Promise<void> promise = PromiseAccess::share<Promise<void>>(&*wait);
    if (is_closed_loop() || (forever ? all_over() : closed_ && counters_.open == 0)) {
        wait->settle(PromiseStatus::value);
        return promise;
    }
    waits_.push_back(&*wait);
    wait->keep();
    return promise;
}

void ServerState::forget(ServerWait& wait) noexcept {
    const StateOwner<ServerWait> owned(&wait);
    take_out(waits_, wait);
    if (wait.forever) close();
}

/// Something has ended: completes the promises of which that was the last.
void ServerState::settle() noexcept {
    if (!closed_ || is_closed_loop()) return;
    const Keep keep(*this);
    // A promise that nobody holds goes here, and what it has captured may ask for anything: each
    // time from the beginning.
    while (settle_one()) {
    }
}

bool ServerState::settle_one() noexcept {
    const bool over = all_over();
    const bool lost = counters_.open == 0;
    for (ServerWait* const wait : waits_) {
        if (!over && (wait->forever || !lost)) continue;
        const StateOwner<ServerWait> owned(wait);
        take_out(waits_, *wait);
        wait->settle(PromiseStatus::value);
        return true;
    }
    for (ServerShutdown* const shutdown : shutdowns_) {
        if (!over && (shutdown->phase != Phase::abort || !lost)) continue;
        settle(*shutdown);
        return true;
    }
    return false;
}

// ---- shutting down --------------------------------------------------------------------------

/// Connections, and handlers that go on without theirs.
std::size_t ServerState::clients() const {
    return counters_.open + (handlers_ ? handlers_->without_connection() : 0);
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
    shutdowns_.reserve(shutdowns_.size() + 1);
    shutdown->limit = loop_.call_at(Options().label("net::Server shutdown: grace"),
                                    deadline_after(loop_.time(), grace), &ServerState::next_phase,
                                    this, &*shutdown);
    shutdowns_.push_back(&*shutdown);
    shutdown->keep();
    return promise;
}

void ServerState::next_phase(ServerShutdown* shutdown) {
    const Keep keep(*this);
    const std::size_t left = clients();
    const std::size_t gone = shutdown->clients - left;
    shutdown->clients = left;
    if (shutdown->phase == Phase::grace) {
        shutdown->summary.finished = gone;
        shutdown->phase = Phase::flush;
        shutdown->limit = loop_.call_at(Options().label("net::Server shutdown: flush"),
                                        deadline_after(loop_.time(), shutdown->flush),
                                        &ServerState::next_phase, this, shutdown);
        close_unhandled();
        return;
    }
    shutdown->summary.closed = gone;
    shutdown->phase = Phase::abort;
    abort_clients();
    // Only handlers are left, which have not heeded their cancellation.
    if (counters_.open == 0) settle();
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
    const StateOwner<ServerShutdown> owned(&shutdown);
    take_out(shutdowns_, shutdown);
    shutdown.limit.cancel();
    ShutdownSummary summary = shutdown.summary;
    std::size_t& last = shutdown.phase == Phase::grace   ? summary.finished
                        : shutdown.phase == Phase::flush ? summary.closed
                                                         : summary.aborted;
    last = shutdown.clients;
    shutdown.set(summary);
}

void ServerState::forget(ServerShutdown& shutdown) noexcept {
    const StateOwner<ServerShutdown> owned(&shutdown);
    take_out(shutdowns_, shutdown);
    shutdown.limit.cancel();
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
