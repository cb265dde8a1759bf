// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TESTING_CLOCK_HPP
#define REACTOR_TESTING_CLOCK_HPP

#include <reactor/clock.hpp>

#include <atomic>
#include <stdexcept>

namespace reactor {
namespace testing {

/// A clock that stands still until it is told to move: tests of time take no time and cannot be
/// late. Owned by the test, longer than the loop that goes by it. now() on any thread; the rest on
/// one thread at a time. asyncio's tests: TestLoop with its time generator.
class VirtualClock : public Clock {
public:
    /// Starts away from the origin, so that times before the start exist.
    explicit VirtualClock(TimePoint start = TimePoint(std::chrono::hours(1))) noexcept
        : now_(start.time_since_epoch().count()) {}

    TimePoint now() const noexcept override {
        return TimePoint(Duration(now_.load(std::memory_order_acquire)));
    }

    /// Moves on by `length`, at most to never(). Throws std::invalid_argument if it is negative.
    void advance(Duration length) {
        if (length < Duration::zero()) {
            throw std::invalid_argument("VirtualClock::advance: a clock does not go back");
        }
        move_to(deadline_after(now(), length));
    }

    /// Moves on to `when`. Throws std::invalid_argument if that is in the past.
    void advance_to(TimePoint when) {
        if (when < now()) {
            throw std::invalid_argument("VirtualClock::advance_to: a clock does not go back");
        }
        move_to(when);
    }

private:
    void move_to(TimePoint when) noexcept {
        now_.store(when.time_since_epoch().count(), std::memory_order_release);
    }

    std::atomic<Duration::rep> now_;
};

}  // namespace testing
}  // namespace reactor

#endif
