// SPDX-License-Identifier: BSL-1.0
#include <net/detail/transport_state.hpp>
#include <reactor/error.hpp>

#include <chrono>
#include <cstdio>
#include <stdexcept>

namespace reactor {
namespace net {
namespace detail {

void TransportState::set_time_limit(Duration TimeLimits::*which, Duration length) {
    if (length <= Duration::zero()) {
        throw std::invalid_argument(
            "Transport: a time limit must be positive: forever() is for none");
    }
    // A transport that is closing may be limited as well: its peer may never take the rest.
    if (ending_ || core().closed.load(std::memory_order_relaxed)) return;
    TimeLimits& times = extras().times;
    times.*which = length;
    const TimePoint now = core().clock->now();
    if (!timed_) {
        times.active = times.input = times.output = now;
    } else if (which == &TimeLimits::idle) {
        times.active = now;
    } else if (which == &TimeLimits::read) {
        times.input = now;
    } else {
        times.output = now;
    }
    timed_ = times.any();
    arm();
}

/// A byte has come or gone.
void TransportState::touch(TimePoint TimeLimits::*what) {
    TimeLimits& times = extras_->times;
    times.active = times.*what = core().clock->now();
    arm();
}

/// One timer for all of them, moved to whichever limit comes first: later, as a rule, which costs
/// nothing.
void TransportState::arm() {
    if (ending_) return;
    TimerHandle& timer = extras_->timer;
    const TimePoint when = extras_->times.next(is_reading(), unsent_);
    if (when == never()) {
        timer.cancel();
    } else if (!timer.reschedule(when)) {
        timer = core().loop->call_at(Options().label("net::Transport time limit"), when,
                                     &TransportState::time_out, this);
    }
}

void TransportState::time_out() {
    const Keep keep(*this);
    const TimeLimits& times = extras_->times;
    const TimePoint now = core().clock->now();
    const char* what = nullptr;
    Duration length = times.idle;
    if (times.idle_until() <= now) {
        what = "nothing came or went";
    } else if (times.read_until(is_reading()) <= now) {
        what = "nothing came";
        length = times.read;
    } else if (times.write_until(unsent_) <= now) {
        what = "nothing of what waits was taken";
        length = times.write;
    } else {
        arm();
        return;
    }
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g", std::chrono::duration<double>(length).count());
    lose(std::make_exception_ptr(
        TimeoutError("connection to " + peer() + ": " + what + " for " + seconds + " s")));
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
