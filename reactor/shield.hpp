// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_SHIELD_HPP
#define REACTOR_SHIELD_HPP

#include <reactor/detail/done_callback.hpp>
#include <reactor/detail/wait_for.hpp>
#include <reactor/here.hpp>
#include <reactor/promise.hpp>

#include <string>
#include <utility>

namespace reactor {

namespace detail {

/// The state of what shield() returns: cancelled alone.
template <class T>
struct ShieldState final : Pooled<ShieldState<T>, ValueState<T>> {
    using Pooled<ShieldState<T>, ValueState<T>>::Pooled;

    PromiseState* cancel_step(const std::string& message, bool& took) override {
        took = this->cancel_now(message);
        if (took && source && !source->done()) source->withdraw(node);
        return nullptr;
    }

    void source_lost() noexcept { source = nullptr; }
    void explain(WhyPending& why) const override {
        why.what = "shield";
        if (source && !source->done()) why.waits_for = source;
    }

    PromiseState* source = nullptr;  // not owned; null once its callback has run or is gone
    Node* node = nullptr;            // of that callback
};

template <class T>
class ShieldDone {
public:
    explicit ShieldDone(ShieldState<T>* to) noexcept : link_(to) {}

    void operator()(const Promise<T>& done) {
        const StateOwner<ShieldState<T>> to = link_.take();
        ValueState<T>& from = typed_state(done);
        if (to->done()) {
            // Cancelled in the iteration in which the error came: it was meant for the shield.
            from.overrule();
            return;
        }
        try {
            detail::pass_outcome(from, *to);
        } catch (...) {
            to->fail_by_current_exception();
        }
    }

private:
    FollowerLink<ShieldState<T>> link_;
};

}  // namespace detail

/// A promise of the outcome of `inner`, one iteration after it, whose cancellation stays with it:
/// cancelling the result leaves `inner` alone, which carries no callback of it from then on. If
/// `inner` is cancelled, so is the result. A promise that is done is returned itself.
///
///     return await(shield(commit), &Order::committed);    // cancelled, the order ends; not commit
///
/// As everywhere, who completes `inner` keeps both; if `inner` is dropped while it is pending, the
/// result breaks (BrokenPromise). Called on the loop's thread. Throws StateError for an empty
/// promise and on a closed loop. asyncio: shield.
template <class T>
Promise<T> shield(Promise<T> inner, Here here = Here()) {
    detail::PromiseState* const source = detail::PromiseAccess::state(inner);
    detail::LoopCore& core = detail::check_waitable(source, "shield");
    if (source->done()) return inner;
    detail::ShieldState<T>* const to = detail::make_state<detail::ShieldState<T>>(core, here);
    const Promise<T> result = detail::PromiseAccess::adopt<Promise<T>>(to);
    to->source = source;
    to->node = detail::attach_own<Promise<T>, detail::ShieldDone<T>>(*source, to);
    return result;
}

}  // namespace reactor

#endif
