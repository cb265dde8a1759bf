// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TIMEOUT_HPP
#define REACTOR_TIMEOUT_HPP

#include <reactor/clock.hpp>
#include <reactor/detail/task_core.hpp>
#include <reactor/handle.hpp>

#include <chrono>
#include <cstdint>

namespace reactor {

/// A time limit over several states of a task; usually a member of it. Owned by whoever declares
/// it; used on the loop's thread, inside a state of the task. asyncio: timeout(), timeout_at().
///
///     Next send() { limit_.enter(seconds(10)); return await(…, &Fetch::read_head); }
///     Next got_head(Bytes chunk) { … limit_.leave(); … }
///
/// When the time is up the task is cancelled. If nobody catches that, the task ends; at its end it
/// leaves its limits, the inner first, and the one whose time was up turns the cancellation into
/// TimeoutError. Inside the limit the expiry is a CancelledError: a clause that catches it asks
/// leave() whose it was.
///
///     idle ──enter──> active ──time is up──> expiring ──leave, end of the task──> expired
///     ──enter──> …
///                        └──leave, end of the task──> idle
///
/// A limit ends with its task also when that is destroyed.
class Timeout {
public:
    Timeout() noexcept = default;
    ~Timeout();
    Timeout(const Timeout&) = delete;
    Timeout& operator=(const Timeout&) = delete;

    /// From now on the task has `delay`; none or a negative one is over in the next iteration,
    /// forever() never. May be entered again once left; several limits nest. Throws StateError
    /// outside of a task, and if it is active.
    template <class Rep, class Period>
    void enter(std::chrono::duration<Rep, Period> delay) {
        enter_after(saturated(delay, "Timeout::enter"));
    }
    /// The same with a deadline in the loop's time.
    void enter_at(TimePoint deadline);

    /// Ends the limit. True: its time was up, and the cancellation this caused was the only one: it
    /// is taken back, go on as after a TimeoutError. False: it was not, or the task was cancelled
    /// from outside as well: a clause that caught the cancellation hands it on with `throw;`.
    /// Throws StateError if it is not active, and outside of its task's states.
    bool leave();

    /// Moves the deadline: from now, or to a point in time; one that has passed is over in the next
    /// iteration. Throws StateError before enter(), once the time is up, and after leave().
    template <class Rep, class Period>
    void reschedule(std::chrono::duration<Rep, Period> delay) {
        reschedule_after(saturated(delay, "Timeout::reschedule"));
    }
    void reschedule_at(TimePoint deadline);

    /// The deadline, also after the end; never() if there is or was none.
    TimePoint when() const noexcept { return when_; }
    /// Whether the time was up before the limit was left.
    bool expired() const noexcept { return state_ == State::expiring || state_ == State::expired; }
    /// Whether it was entered and not left.
    bool active() const noexcept { return state_ == State::active || state_ == State::expiring; }

private:
    friend struct detail::TaskCore;

    enum class State : std::uint8_t { idle, active, expiring, expired };

    void enter_after(Duration delay);
    void reschedule_after(Duration delay);
    void begin(detail::TaskCore* task, TimePoint deadline);
    void arm(TimePoint deadline);
    void fire();
    /// Takes it out of its task's list. Whether a cancellation under way was this limit's alone.
    bool end() noexcept;
    /// At the end of the task: turns a cancellation that was this limit's into TimeoutError.
    void leave_with(detail::Outcome& outcome) noexcept;
    void detach() noexcept;

    detail::TaskCore* task_ = nullptr;
    Timeout* outer_ = nullptr;
    TimerHandle timer_;
    Handle at_once_;
    TimePoint when_ = never();
    std::uint32_t cancelling_at_entry_ = 0;
    State state_ = State::idle;
};

}  // namespace reactor

#endif
