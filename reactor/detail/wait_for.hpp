// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_WAIT_FOR_HPP
#define REACTOR_DETAIL_WAIT_FOR_HPP

#include <reactor/clock.hpp>
#include <reactor/handle.hpp>
#include <reactor/promise.hpp>

#include <exception>
#include <string>
#include <utility>

namespace reactor {
namespace detail {

Promise<void> sleep_for(EventLoop& loop, Duration delay, const Here& here);

/// A wait with a limit, whatever its value is.
class Limit {
public:
    void start(PromiseState& outer, PromiseState& inner, Duration limit);
    /// Done with: the timer goes. A state must not keep a Handle past its loop, since the last
    /// reference may then go on any thread.
    void stop() noexcept {
        timer_.cancel();
        timer_ = TimerHandle();
    }

    PromiseState* cancel_step(PromiseState& outer, const std::string& message, bool& took);
    /// Completes `outer`, if it is still pending, where `inner` ended in a cancellation that the
    /// limit asked for, and nobody else.
    bool time_out(PromiseState& outer, const PromiseState& inner);

    PromiseState* source = nullptr;  // not owned; null once its callback has run or is gone

private:
    TimerHandle timer_;
    bool expired_ = false;
    bool cancel_asked_ = false;
};

template <class T>
struct WaitState final : Pooled<WaitState<T>, ValueState<T>>, Limit {
    using Pooled<WaitState<T>, ValueState<T>>::Pooled;

    PromiseState* cancel_step(const std::string& message, bool& took) override {
        return Limit::cancel_step(*this, message, took);
    }
    void cancel_refused(const std::string& message) override {
        if (this->cancel_now(message)) stop();
    }
    void before_dispose() noexcept override { stop(); }
    void explain(WhyPending& why) const override {
        why.what = "wait_for";
        if (this->source) why.waits_for = this->source;
    }
    void source_lost() noexcept {
        source = nullptr;
        stop();
    }
};

template <class T>
class WaitDone {
public:
    explicit WaitDone(WaitState<T>* to) noexcept : link_(to) {}

    void operator()(const Promise<T>& done) {
        const StateOwner<WaitState<T>> to = link_.take();
        to->stop();
        ValueState<T>& from = typed_state(done);
        if (to->done() || to->time_out(*to, from)) return;
        try {
            detail::pass_outcome(from, *to);
        } catch (...) {
            to->fail_by_current_exception();
        }
    }

private:
    FollowerLink<WaitState<T>> link_;
};

/// Throws StateError for an empty promise, on a closed loop and on a wrong thread.
LoopCore& check_waitable(const PromiseState* state, const char* call);

template <class T>
Promise<T> wait_at_most(Promise<T> promise, Duration limit, const Here& here) {
    PromiseState* const inner = PromiseAccess::state(promise);
    LoopCore& core = detail::check_waitable(inner, "wait_for");
    WaitState<T>* const state = make_state<WaitState<T>>(core, here);
    const Promise<T> result = PromiseAccess::adopt<Promise<T>>(state);
    state->start(*state, *inner, limit);
    detail::attach_own<Promise<T>, WaitDone<T>>(*inner, state);
    return result;
}

}  // namespace detail
}  // namespace reactor

#endif
