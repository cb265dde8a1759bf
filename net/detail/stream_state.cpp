// SPDX-License-Identifier: BSL-1.0
#include <net/detail/pending_operations.hpp>
#include <net/detail/stream_state.hpp>
#include <net/detail/transport_state.hpp>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace reactor {
namespace net {
namespace detail {

using reactor::detail::PromiseAccess;
using reactor::detail::PromiseState;
using reactor::detail::StateOwner;

namespace {

bool is_closed(const reactor::detail::LoopCore& core) noexcept {
    return core.closed.load(std::memory_order_relaxed);
}

}  // namespace

void StreamWait::abandon() noexcept { owner->forget(*this); }

StreamState::StreamState(EventLoop& loop) : core(loop.core()) {
    core.check("Stream");
    core.retain();
}

StreamState::~StreamState() {
    drain_check_.cancel();
    core.forget();
}

// ---- the connection's life ------------------------------------------------------------------

void StreamState::made(const Transport& connection) {
    transport = connection;
    if (TransportAccess::state(transport)->hears_nothing()) ended();
    if (meant_) transport.abort();  // given up before it was there
}

void StreamState::ended() {
    eof_ = true;
    settle_reading();
}

void StreamState::lost(std::exception_ptr error) {
    lost_ = meant_ = true;
    error_ = std::move(error);
    if (!error_) eof_ = true;
    settle_reading();
    while (StreamWait* const wait = drains_.first()) finish(*take(*wait));
    while (StreamWait* const wait = closes_.first()) {
        const StateOwner<StreamWait> close = take(*wait);
        finish(*close);
        close->retrieved = true;
    }
}

void StreamState::detached() noexcept {
    if (lost_) return;
    lost_ = eof_ = true;
    const char* const why = is_closed(core) ? "the event loop was closed"
                                            : "the connection was given to another protocol";
    cancel_pending(why);
    while (StreamWait* const wait = closes_.first()) cancel_operation(*take(*wait), why);
}

Promise<void> StreamState::close(const Here& here) {
    core.check_thread("close");
    const StateOwner<StreamWait> close(reactor::detail::make_state<StreamWait>(core, here, this));
    const Promise<void> promise = PromiseAccess::share<Promise<void>>(&*close);
    meant_ = true;
    if (lost_ || is_closed(core)) {
        finish(*close);
        close->retrieved = true;
        return promise;
    }
    close->among = &closes_;
    closes_.add(*close);
    close_transport();
    ended();
    return promise;
}

void StreamState::abort() noexcept {
    core.require_thread("Stream::abort");
    meant_ = true;
    if (lost_) return;
    eof_ = true;
    if (transport) transport.abort();
    cancel_pending("the stream was aborted");
}

void StreamState::release() noexcept {
    core.require_thread("Stream");
    const bool on_closed_loop = is_closed(core);
    const bool warn = !meant_ && !may_be_dropped_ &&
                      (on_closed_loop || (transport && !lost_ && !transport.is_closing()));
    meant_ = true;
    if (transport && !lost_) close_transport();
    cancel_pending("the stream was destroyed");
    buffer_.clear();
    if (warn) {
        std::string text("a Stream is destroyed that was not closed");
        try {
            if (transport) text += ": its peer is " + TransportAccess::peer(transport);
        } catch (...) {  // a shorter warning
        }
        if (core.loop) {
            core.loop->log(LogLevel::warning, text);
        } else {
            log_to_standard_error(LogLevel::warning, text);
        }
    }
    drop();
}

/// Where the program has not read all of what came, the peer may well go on sending: it shall see
/// the answer nevertheless.
void StreamState::close_transport() const noexcept {
    if (buffer_.empty()) {
        transport.close();
    } else {
        transport.close_unread();
    }
}

void StreamState::cancel_pending(const char* why) noexcept {
    if (reading_) cancel_operation(*take_read(), why);
    while (StreamWait* const wait = drains_.first()) cancel_operation(*take(*wait), why);
}

// ---- waiting for the connection -------------------------------------------------------------

Promise<void> StreamState::drain(const Deadline& deadline, const Here& here) {
    core.check("drain");
    const StateOwner<StreamWait> wait(reactor::detail::make_state<StreamWait>(core, here, this));
    const Promise<void> promise = PromiseAccess::share<Promise<void>>(&*wait);
    if (lost_) {
        wait->fail(error_ ? error_
                          : std::make_exception_ptr(
                                std::system_error(ECONNRESET, std::system_category(),
                                                  "drain of " + TransportAccess::peer(transport))));
    } else if (!transport.write_paused()) {
        wait->set();
    } else {
        // pause_writing() is on its way, and does not come if the transport wants more by then; nor
        // does resume_writing().
        if (!told_paused_ && !drains_.first()) {
            drain_check_.cancel();
            drain_check_ = core.loop->call_soon(&StreamState::settle_drains, this);
        }
        const TimePoint when = deadline.at(*core.loop);
        if (when != never()) {
            wait->limit = core.loop->call_at(when, &StreamState::wait_late, this, &*wait);
        }
        wait->among = &drains_;
        drains_.add(*wait);
    }
    return promise;
}

void StreamState::write_flow(bool paused) {
    told_paused_ = paused;
    if (!paused) settle_drains();
}

void StreamState::settle_drains() {
    if (transport.write_paused()) {
        // pause_writing() is still on its way, and may not come after all: look again behind it.
        if (!told_paused_ && drains_.first()) {
            drain_check_ = core.loop->call_soon(&StreamState::settle_drains, this);
        }
        return;
    }
    while (StreamWait* const wait = drains_.first()) take(*wait)->set();
}

void StreamState::wait_late(StreamWait* wait) { take(*wait)->fail(late("drain of")); }

void StreamState::finish(StreamWait& wait) const noexcept {
    if (error_) {
        wait.fail(error_);
    } else {
        wait.settle(reactor::detail::PromiseStatus::value);
    }
}

StateOwner<StreamWait> StreamState::take(StreamWait& wait) noexcept {
    wait.limit.cancel();
    return wait.among->take(wait);
}

void StreamState::forget(StreamWait& wait) noexcept { take(wait); }

std::exception_ptr StreamState::late(const std::string& call) const {
    return std::make_exception_ptr(TimeoutError(call + ' ' + TransportAccess::peer(transport)));
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
