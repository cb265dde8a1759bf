// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_STATS_HPP
#define REACTOR_STATS_HPP

#include <reactor/clock.hpp>
#include <reactor/detail/loop_counters.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace reactor {

class EventLoop;

/// How late callbacks began, as a histogram with a bucket for each power of two of microseconds. A
/// value.
class LagHistogram {
public:
    LagHistogram() noexcept : buckets_() {}
    explicit LagHistogram(const detail::LagBuckets& buckets) noexcept : buckets_(buckets) {}

    std::size_t size() const noexcept { return buckets_.size(); }
    /// How many callbacks began later than limit(i - 1), and not later than limit(i).
    std::uint64_t operator[](std::size_t i) const noexcept { return buckets_[i]; }
    /// 1, 2, 4, 8 … microseconds; the last bucket's is forever().
    Duration limit(std::size_t i) const noexcept;
    /// How many callbacks there were.
    std::uint64_t count() const noexcept;
    /// What at least this part of them, 0 to 1, did not exceed: the limit of a bucket. Zero if
    /// there were none. at_most(0.99) is what one callback in a hundred may have exceeded.
    Duration at_most(double part) const noexcept;

private:
    detail::LagBuckets buckets_;
};

/// What a loop did so far and what waits in it now. A value, see stats().
struct Stats {
    std::uint64_t iterations = 0;   ///< how often the loop polled and ran what was ready
    std::uint64_t callbacks = 0;    ///< that ran
    std::uint64_t passed_over = 0;  ///< that were cancelled, or timers moved, when their turn came
    std::uint64_t posts = 0;        ///< that came from other threads
    std::size_t longest_batch = 0;  ///< the most callbacks in one iteration

    std::size_t ready = 0;    ///< callbacks that are queued or posted now,
    std::size_t timers = 0;   ///< timers that are armed,
    std::size_t watches = 0;  ///< and callbacks of descriptors that are registered

    bool timed = false;                 ///< whether the following is being measured
    Duration polling{0};                ///< time in the selector, mostly asleep
    Duration running{0};                ///< time in callbacks
    Duration longest_callback{0};       ///< the longest time in one callback,
    std::string longest_callback_name;  ///< and whose it was
    /// How late callbacks began: timers after their deadline, all others after the poll that made
    /// up their batch.
    LagHistogram lag;
};

/// The loop's figures. Costs nothing while nobody asks: the loop counts once an iteration. On the
/// loop's thread, else StateError; also from inside a callback and on a closed loop.
Stats stats(const EventLoop& loop);

/// Measures times, too, from now on: the loop's clock is read once for each callback and three
/// times an iteration, and callbacks take the slower way that debug mode takes. Off: what was
/// measured stays. Throws StateError on another thread than the loop's and on a closed loop.
void enable_timing(EventLoop& loop, bool enabled = true);

}  // namespace reactor

#endif
