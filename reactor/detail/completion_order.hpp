// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_COMPLETION_ORDER_HPP
#define REACTOR_DETAIL_COMPLETION_ORDER_HPP

#include <reactor/clock.hpp>
#include <reactor/detail/gather.hpp>
#include <reactor/handle.hpp>
#include <reactor/promise.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace reactor {
namespace detail {

/// Between the promises given to as_completed() and those it gave out, whatever their values are.
/// Owned by the callbacks of the former, which are not owned; owns the latter until their turn.
class CompletionOrder {
public:
    /// Completes `to` as `from` is done.
    using Pass = void (*)(PromiseState& from, PromiseState& to);

    explicit CompletionOrder(Pass pass) noexcept : pass_(pass) {}
    ~CompletionOrder();
    CompletionOrder(const CompletionOrder&) = delete;
    CompletionOrder& operator=(const CompletionOrder&) = delete;

    static void start(const std::shared_ptr<CompletionOrder>& self,
                      const std::vector<AnyPromise>& sources, std::vector<AnyPromise> outputs,
                      Duration limit);
    /// One of those it gave out was cancelled.
    void output_ended() noexcept;
    void explain(WhyPending& why) const;

private:
    class Link;
    struct Source {
        PromiseState* state;  // null: done or dropped
        Node* node;           // our callback
    };

    static std::size_t pending(const void* order) noexcept;
    /// Whose turn it is.
    AnyPromise next_output() noexcept { return std::move(outputs_[next_++]); }
    void source_done(PromiseState& source);
    void source_lost() noexcept;
    void time_out() noexcept;
    /// Nobody waits any more: takes the callbacks back, the last of which takes this along.
    void leave() noexcept;

    const Pass pass_;
    std::vector<Source> sources_;
    std::vector<AnyPromise> outputs_;  // from next_ on
    std::size_t next_ = 0;
    std::size_t open_ = 0;  // outputs that are pending
    TimerHandle timer_;
};

template <class T>
struct CompletedState final : Pooled<CompletedState<T>, ValueState<T>> {
    using Pooled<CompletedState<T>, ValueState<T>>::Pooled;

    PromiseState* cancel_step(const std::string& message, bool& took) override {
        took = this->cancel_now(message);
        const std::shared_ptr<CompletionOrder> kept = order.lock();
        if (took && kept) kept->output_ended();
        return nullptr;
    }
    void explain(WhyPending& why) const override {
        why.what = "as_completed";
        if (const std::shared_ptr<CompletionOrder> kept = order.lock()) kept->explain(why);
    }

    std::weak_ptr<CompletionOrder> order;
};

template <class T>
void pass_between(PromiseState& from, PromiseState& to) {
    detail::pass_outcome(static_cast<ValueState<T>&>(from), static_cast<ValueState<T>&>(to));
}

template <class T, class P>
std::vector<Promise<T>> order_by_completion(std::vector<P> promises, Duration limit,
                                            const Here& here) {
    std::vector<Promise<T>> results;
    if (promises.empty()) return results;
    std::vector<AnyPromise> sources = detail::as_list(promises);
    LoopCore& core = detail::loop_of(sources, "as_completed");
    detail::drop_repeats(sources);
    const auto order = std::make_shared<CompletionOrder>(&detail::pass_between<T>);
    results.reserve(sources.size());
    for (std::size_t i = 0; i < sources.size(); ++i) {
        CompletedState<T>* const state = make_state<CompletedState<T>>(core, here);
        results.push_back(PromiseAccess::adopt<Promise<T>>(state));
        state->order = order;
    }
    CompletionOrder::start(order, sources, std::vector<AnyPromise>(results.begin(), results.end()),
                           limit);
    return results;
}

}  // namespace detail
}  // namespace reactor

#endif
