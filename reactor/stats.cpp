// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/loop_state.hpp>
#include <reactor/stats.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>

namespace reactor {

namespace detail {

namespace {

std::size_t bucket_of(Duration lag) noexcept {
    constexpr std::size_t last = std::tuple_size<LagBuckets>::value - 1;
    std::size_t i = 0;
    while (i < last && lag > std::chrono::microseconds(std::int64_t{1} << i)) ++i;
    return i;
}

}  // namespace

/// Reads the clock for the loop's counters. A callback begins when the one before it has ended, so
/// that one look at the clock serves both.
class Timing final : public Observer {
public:
    explicit Timing(EventLoop& loop) : state_(static_cast<LoopState&>(loop.core())) {}
    ~Timing() { state_.remove_observer(*this); }
    Timing(const Timing&) = delete;
    Timing& operator=(const Timing&) = delete;

    void enable(bool enabled) {
        if (enabled == state_.counters.timed) return;
        if (enabled) {
            state_.add_observer(*this);
            polled_ = now();
        } else {
            state_.remove_observer(*this);
        }
        inside_ = after_end_ = false;
        state_.counters.timed = enabled;
    }

    void polls(Duration) noexcept override { last_ = now(); }
    void polled() noexcept override {
        polled_ = now();
        state_.counters.polling += polled_ - last_;
    }
    void collected() noexcept override {
        last_ = now();
        after_end_ = true;
    }
    void begins(const Node& node) noexcept override {
        // Timing may have begun inside the callback before, whose end nobody told.
        if (!after_end_) last_ = now();
        inside_ = true;
        name_ = node.raw_name();
        const bool timer = node.kind() == NodeKind::timer;
        const TimePoint due = timer ? static_cast<const TimerNode&>(node).when : polled_;
        // A deadline may be so far back, set by hand, that the difference overflows.
        const Duration lag =
            due < TimePoint() && last_ > TimePoint() ? last_.time_since_epoch() : last_ - due;
        ++state_.counters.lag[bucket_of(lag)];
    }
    void ends() noexcept override {
        const TimePoint begun = last_;
        last_ = now();
        after_end_ = true;
        if (!inside_) return;  // timing was enabled by this very callback
        inside_ = false;
        LoopCounters& counters = state_.counters;
        const Duration took = last_ - begun;
        counters.running += took;
        if (took > counters.longest) {
            counters.longest = took;
            counters.longest_name = name_;
        }
    }
    void closes() noexcept override { state_.counters.timed = false; }

private:
    TimePoint now() const noexcept { return state_.clock->now(); }

    LoopState& state_;
    bool inside_ = false;     // a callback whose beginning was seen
    bool after_end_ = false;  // `last_` is when the callback before ended
    const char* name_ = nullptr;
    TimePoint last_;
    TimePoint polled_;
};

}  // namespace detail

// ---- the histogram --------------------------------------------------------------------------

Duration LagHistogram::limit(std::size_t i) const noexcept {
    return i + 1 < size() ? std::chrono::microseconds(std::int64_t{1} << i) : forever();
}

std::uint64_t LagHistogram::count() const noexcept {
    std::uint64_t all = 0;
    for (const std::uint64_t bucket : buckets_) all += bucket;
    return all;
}

Duration LagHistogram::at_most(double part) const noexcept {
    const double wanted = part * static_cast<double>(count());
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < size(); ++i) {
        below += buckets_[i];
        if (below != 0 && static_cast<double>(below) >= wanted) return limit(i);
    }
    return below != 0 ? forever() : Duration::zero();
}

// ---- a loop's figures -----------------------------------------------------------------------

Stats stats(const EventLoop& loop) {
    loop.core().check_thread("stats");
    const detail::LoopState& state = static_cast<const detail::LoopState&>(loop.core());
    const detail::LoopCounters& counters = state.counters;
    Stats stats;
    stats.iterations = counters.iterations;
    stats.callbacks = counters.taken - counters.passed_over - state.left_in_batch();
    stats.passed_over = counters.passed_over;
    stats.posts = counters.posts;
    stats.longest_batch = counters.longest_batch;
    stats.ready = loop.ready_count();
    stats.timers = loop.timer_count();
    stats.watches = loop.watch_count();
    stats.timed = counters.timed;
    stats.polling = counters.polling;
    stats.running = counters.running;
    stats.longest_callback = counters.longest;
    stats.longest_callback_name = detail::callable_text(counters.longest_name);
    stats.lag = LagHistogram(counters.lag);
    return stats;
}

void enable_timing(EventLoop& loop, bool enabled) {
    loop.core().check("enable_timing");
    loop.service<detail::Timing>().enable(enabled);
}

}  // namespace reactor
