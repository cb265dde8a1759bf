// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_WAIT_SET_HPP
#define REACTOR_DETAIL_WAIT_SET_HPP

#include <reactor/clock.hpp>
#include <reactor/detail/gather.hpp>
#include <reactor/handle.hpp>
#include <reactor/promise.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace reactor {

/// What ends a wait(), beside its time limit.
enum class ReturnWhen : std::uint8_t { first_completed, first_exception, all_completed };

namespace detail {

/// What a wait() waits for, whatever its values are. As with gather, pending promises are not owned
/// (their callbacks own the wait's promise), and those that are done are kept until the end.
class WaitSet {
public:
    /// Makes the outer promise done with the members, parted.
    using Part = void (*)(WaitSet& set, PromiseState& outer);

    WaitSet(Part part, ReturnWhen when) noexcept : part_(part), when_(when) {}

    void start(PromiseState& outer, std::vector<AnyPromise> promises, Duration limit);
    /// The outer promise is done: takes the callbacks back from what is still pending.
    void leave() noexcept;
    /// Before the outer one goes, or its loop: the callbacks see to themselves.
    void clear() noexcept;
    void explain(WhyPending& why) const;

    /// f(state) for each promise that is there, in order.
    template <class F>
    void for_each(F f) {
        for (const Member& member : members_) {
            if (member.state) f(*member.state);
        }
    }

private:
    class Link;

    struct Member {
        explicit Member(PromiseState* s) noexcept : state(s) {}

        PromiseState* state;   // null: dropped while it was pending
        AnyPromise kept;       // once it is done
        Node* node = nullptr;  // our callback, while it waits
    };

    static std::size_t pending(const void* set) noexcept;
    bool enough(const PromiseState& last_done) const noexcept;
    void member_done(PromiseState& outer, std::size_t index);
    void member_lost(PromiseState& outer, std::size_t index) noexcept;
    void finish(PromiseState& outer);

    Part part_;
    ReturnWhen when_;
    std::int32_t links_ = 0;  // callbacks that wait: each owns a reference of the outer promise
    std::size_t left_ = 0;    // promises whose end it has not heard of
    std::vector<Member> members_;
    TimerHandle timer_;
};

template <class V>
struct WaitSetState final : Pooled<WaitSetState<V>, ValueState<V>> {
    WaitSetState(LoopCore& c, const Here& here, WaitSet::Part part, ReturnWhen when) noexcept
        : Pooled<WaitSetState<V>, ValueState<V>>(c, here), set_of(part, when) {}

    PromiseState* cancel_step(const std::string& message, bool& took) override {
        took = this->cancel_now(message);
        if (took) set_of.leave();
        return nullptr;
    }
    void before_dispose() noexcept override { set_of.clear(); }
    void explain(WhyPending& why) const override { set_of.explain(why); }

    WaitSet set_of;
};

template <class V, class P>
void part(WaitSet& set, PromiseState& outer) {
    V parted;
    set.for_each([&parted](PromiseState& state) {
        (state.done() ? parted.done : parted.pending).push_back(PromiseAccess::share<P>(&state));
    });
    static_cast<ValueState<V>&>(outer).set(std::move(parted));
}

[[noreturn]] void refuse_no_promises(const char* call);

template <class V, class P>
Promise<V> wait_for_some(std::vector<P> promises, Duration limit, ReturnWhen when,
                         const Here& here) {
    if (promises.empty()) refuse_no_promises("wait");
    std::vector<AnyPromise> list = detail::as_list(promises);
    LoopCore& core = detail::loop_of(list, "wait");
    WaitSetState<V>* const state =
        make_state<WaitSetState<V>>(core, here, &detail::part<V, P>, when);
    const Promise<V> result = PromiseAccess::adopt<Promise<V>>(state);
    detail::drop_repeats(list);
    state->set_of.start(*state, std::move(list), limit);
    return result;
}

}  // namespace detail
}  // namespace reactor

#endif
