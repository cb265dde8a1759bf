// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_WATCHDOG_HPP
#define REACTOR_WATCHDOG_HPP

#include <reactor/clock.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace reactor {

class EventLoop;

/// Says which callback blocks a loop while it still does: debug mode tells only afterwards, and of
/// a callback that never returns nothing at all.
///
///     reactor::StallWatchdog watchdog(loop, std::chrono::milliseconds(200));
///
/// Owned by the program, made and destroyed on the loop's thread, before or after the loop's end,
/// also inside a callback. Needs no debug mode. It has a thread of its own, which wakes up once per
/// threshold and reads two atomic variables; the loop reads the steady clock once more for each
/// callback. In a forked child it does nothing.
class StallWatchdog {
public:
    struct Stall {
        std::string callback;  ///< the callback's label, else its type, as Handle::name() gives it
        Duration lasted;       ///< for how long it has been running, in real time
    };
    /// Called on the watchdog's own thread, while the callback runs: it may post to the loop, which
    /// will come round when the callback returns, and must not destroy the watchdog. What it throws
    /// goes to standard error.
    using Listener = std::function<void(const Stall& stall)>;

    /// Tells once of each callback that runs for `threshold` or longer; without a listener a
    /// warning goes to standard error, not to the loop's log, whose sink belongs to the loop's
    /// thread. Throws std::invalid_argument for a threshold that is not positive, StateError on
    /// another thread than the loop's and on a closed loop, std::system_error if there is no thread
    /// to be had.
    template <class Rep, class Period>
    StallWatchdog(EventLoop& loop, std::chrono::duration<Rep, Period> threshold,
                  Listener listener = Listener())
        : StallWatchdog(loop, saturated(threshold, "StallWatchdog"), std::move(listener),
                        Exactly()) {}
    /// Waits for a listener that runs, and no longer.
    ~StallWatchdog();
    StallWatchdog(const StallWatchdog&) = delete;
    StallWatchdog& operator=(const StallWatchdog&) = delete;

private:
    struct Exactly {};
    class Watch;

    StallWatchdog(EventLoop& loop, Duration threshold, Listener listener, Exactly);

    std::unique_ptr<Watch> watch_;
};

}  // namespace reactor

#endif
