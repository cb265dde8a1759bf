// SPDX-License-Identifier: BSL-1.0
#include <reactor/combinators.hpp>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

namespace reactor {
namespace detail {

// ---- sleep ----

namespace {

struct Sleep final : Pooled<Sleep, OperationState<void>> {
    using Pooled<Sleep, OperationState<void>>::Pooled;

    void abandon() noexcept override {
        timer.cancel();
        timer = TimerHandle();
    }
    void explain(WhyPending& why) const override { why.what = "sleep"; }
    // close() has dropped the timer; the handle must not outlive the loop.
    void before_dispose() noexcept override { timer = TimerHandle(); }

    TimerHandle timer;
};

/// The timer's callable: keeps the promise, so that nobody else has to.
class WakeUp {
public:
    explicit WakeUp(Sleep* sleep) noexcept : sleep_(sleep) { sleep->keep(); }
    WakeUp(WakeUp&& other) noexcept : sleep_(std::move(other.sleep_)) {}

    void operator()() {
        sleep_->timer = TimerHandle();
        if (!sleep_->done()) sleep_->set();
    }

private:
    StateOwner<Sleep> sleep_;
};

}  // namespace

Promise<void> sleep_for(EventLoop& loop, Duration delay, const Here& here) {
    loop.core().check("sleep");
    Sleep* const state = make_state<Sleep>(loop.core(), here);
    const Promise<void> result = PromiseAccess::adopt<Promise<void>>(state);
    state->timer = loop.call_later(Options().label("sleep"), delay, WakeUp(state));
    return result;
}

// ---- wait_for ----

LoopCore& check_waitable(const PromiseState* state, const char* call) {
    if (!state) {
        throw StateError(std::string(call) +
                         ": the promise is empty: get one from create_promise() or an operation");
    }
    state->core->check(call);
    return *state->core;
}

void Limit::start(PromiseState& outer, PromiseState& inner, Duration limit) {
    source = &inner;
    if (limit == forever()) return;
    // The timer owns nothing: whoever completes the inner promise keeps the outer one, which takes
    // the timer with it.
    timer_ = outer.core->loop->call_later(Options().label("wait_for"), limit, [this, &outer] {
        timer_ = TimerHandle();
        if (outer.done() || !source) return;
        expired_ = source->cancel(std::string());  // not if it got its outcome in this iteration
    });
}

PromiseState* Limit::cancel_step(PromiseState& outer, const std::string& message, bool& took) {
    if (source && !source->done()) {
        cancel_asked_ = true;
        return source;
    }
    // The inner one is done, and its callback on the way: a cancellation is never swallowed.
    if (source) source->overrule();
    took = outer.cancel_now(message);
    if (took) stop();
    return nullptr;
}

bool Limit::time_out(PromiseState& outer, const PromiseState& inner) {
    const bool ended_cancelled = inner.status == PromiseStatus::cancelled || inner.cancellation;
    if (!expired_ || cancel_asked_ || !ended_cancelled) return false;
    outer.fail(std::make_exception_ptr(TimeoutError()));
    return true;
}

// ---- gather ----

/// The callable of a child's callback.
class Gathering::Link {
public:
    Link(PromiseState* outer, Gathering* gathering, std::uint32_t index) noexcept
        : outer_(outer), gathering_(gathering), index_(index) {
        outer->keep();
        ++gathering->links_;
    }
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    ~Link() {
        if (!ran_) gathering_->child_lost(*outer_, index_);
        --gathering_->links_;
        drop(outer_);
    }

    void operator()(const AnyPromise& done) {
        ran_ = true;
        PromiseState* const child = PromiseAccess::state(done);
        gathering_->child_done(*outer_, index_, *child, child);
    }

private:
    PromiseState* outer_;
    Gathering* gathering_;
    std::uint32_t index_;
    bool ran_ = false;
};

void Gathering::start(PromiseState& outer, std::vector<AnyPromise> children) {
    children_.resize(children.size());
    std::unordered_map<PromiseState*, std::uint32_t> last;
    for (std::uint32_t i = 0; i < children.size(); ++i) {
        PromiseState* const state = PromiseAccess::state(children[i]);
        children_[i].state = state;
        const auto found = last.emplace(state, i);
        if (found.second) continue;
        children_[i].first = false;
        children_[found.first->second].next_same = i;
        found.first->second = i;
    }
    left_ = last.size();
    std::vector<std::uint32_t> done;
    for (std::uint32_t i = 0; i < children_.size(); ++i) {
        if (!children_[i].first) continue;
        PromiseState& state = *children_[i].state;
        if (state.done()) {
            done.push_back(i);
        } else {
            attach_own<AnyPromise, Link>(state, &outer, this, i);
        }
    }
    if (left_ == 0) collect_(*this, outer, nullptr);
    for (const std::uint32_t i : done) {
        PromiseState* const state = PromiseAccess::state(children[i]);
        // With the list out of the way the value need not be copied if the caller let go of it.
        const AnyPromise child = std::move(children[i]);
        child_done(outer, i, *state, state);
    }
}

void Gathering::child_done(PromiseState& outer, std::uint32_t index, PromiseState& child,
                           const PromiseState* running) {
    if (outer.done()) {
        if (!settled_) child.overrule();
        return;
    }
    if (!settled_ && child.status != PromiseStatus::value) {
        const std::exception_ptr error = child.failure("gather");
        overrule_kept();
        if (child.status == PromiseStatus::cancelled || child.cancellation) {
            outer.fail_cancelled(error);
        } else {
            outer.fail(error);
        }
        clear();
        return;
    }
    for (std::uint32_t i = index; i != none; i = children_[i].next_same) {
        children_[i].kept = PromiseAccess::share<AnyPromise>(&child);
    }
    if (--left_ != 0) return;
    if (cancel_asked_) {
        overrule_kept();
        outer.fail_cancelled(cancel_asked_);
    } else {
        try {
            collect_(*this, outer, running);
        } catch (...) {
            outer.fail_by_current_exception();
        }
    }
    clear();
}

/// Nobody will see how those ended that have, nor what their values consist of.
void Gathering::overrule_kept() noexcept {
    for (const Child& ended : children_) {
        if (ended.kept) PromiseAccess::state(ended.kept)->overrule();
    }
}

void Gathering::child_lost(PromiseState& outer, std::uint32_t index) noexcept {
    for (std::uint32_t i = index; i < children_.size(); i = children_[i].next_same) {
        children_[i].state = nullptr;
    }
    break_promise(outer, links_);
    if (outer.done()) clear();
}

PromiseState* Gathering::pending_child(std::size_t& at) const noexcept {
    while (at < children_.size()) {  // which a destructor may clear meanwhile
        const Child& child = children_[at++];
        if (child.first && child.state && !child.state->done()) return child.state;
    }
    return nullptr;
}

void Gathering::cancel_taken(const PromiseState& outer, const std::string& message) {
    // A child may swallow its cancellation; the caller of this one is told the truth all the same.
    if (!outer.done()) cancel_asked_ = std::make_exception_ptr(CancelledError(message));
}

void Gathering::explain(WhyPending& why) const {
    why.what = settled_ ? "gather_settled" : "gather";
    why.of = children_.size();
    why.crowd = this;
    why.pending = &Gathering::pending;
}

std::size_t Gathering::pending(const void* gathering) noexcept {
    std::size_t count = 0;
    for (const Child& child : static_cast<const Gathering*>(gathering)->children_) {
        if (child.state && !child.kept && !child.state->done()) ++count;
    }
    return count;
}

std::string Gathering::describe() const {
    return "gather of " + std::to_string(children_.size()) +
           (children_.size() == 1 ? " promise" : " promises");
}

void Gathering::clear() noexcept {
    std::vector<Child> gone;
    gone.swap(children_);
}

LoopCore& loop_of(const std::vector<AnyPromise>& promises, const char* call) {
    if (promises.empty()) {
        LoopCore& core = get_event_loop().core();
        core.check(call);
        return core;
    }
    const auto place = [&promises, call](std::size_t index) {
        return std::string(call) + ": promise " + std::to_string(index + 1) + " of " +
               std::to_string(promises.size());
    };
    LoopCore* core = nullptr;
    for (std::size_t i = 0; i < promises.size(); ++i) {
        const PromiseState* const state = PromiseAccess::state(promises[i]);
        if (!state) {
            throw StateError(place(i) +
                             " is empty (never made, or moved from): get one from "
                             "create_promise() or an operation");
        }
        state->core->check(call);
        if (!core) core = state->core;
        if (state->core != core) {
            throw std::invalid_argument(place(i) +
                                        " belongs to another event loop than the first: bring its "
                                        "outcome over with chain()");
        }
    }
    return *core;
}

void drop_repeats(std::vector<AnyPromise>& promises) {
    std::unordered_set<AnyPromise> seen;
    const auto again = [&seen](const AnyPromise& promise) { return !seen.insert(promise).second; };
    promises.erase(std::remove_if(promises.begin(), promises.end(), again), promises.end());
}

}  // namespace detail
}  // namespace reactor
