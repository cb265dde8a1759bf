// SPDX-License-Identifier: BSL-1.0
#include <reactor/wait.hpp>

#include <stdexcept>

namespace reactor {
namespace detail {

/// The callable of a member's callback.
class WaitSet::Link {
public:
    Link(PromiseState* outer, WaitSet* set, std::size_t index) noexcept
        : outer_(outer), set_(set), index_(index) {
        outer->keep();
        ++set->links_;
    }
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    ~Link() {
        if (!ran_) set_->member_lost(*outer_, index_);
        --set_->links_;
        drop(outer_);
    }

    void operator()(const AnyPromise&) {
        ran_ = true;
        set_->member_done(*outer_, index_);
    }

private:
    PromiseState* outer_;
    WaitSet* set_;
    std::size_t index_;
    bool ran_ = false;
};

void WaitSet::start(PromiseState& outer, std::vector<AnyPromise> promises, Duration limit) {
    members_.reserve(promises.size());
    for (AnyPromise& promise : promises) {
        PromiseState* const state = PromiseAccess::state(promise);
        if (!state->done()) ++left_;
        members_.emplace_back(state);
        if (state->done()) members_.back().kept = std::move(promise);
    }
    bool met = false;  // asked when all of them are counted
    for (const Member& member : members_) met = met || (member.kept && enough(*member.state));
    if (met) {
        finish(outer);
        return;
    }
    for (std::size_t i = 0; i < members_.size(); ++i) {
        Member& member = members_[i];
        if (member.kept) continue;
        member.node = attach_own<AnyPromise, Link>(*member.state, &outer, this, i);
    }
    if (limit == forever()) return;
    // Owns nothing: whoever completes one of the promises keeps the outer one, which takes the
    // timer with it.
    timer_ = outer.core->loop->call_later(Options().label("wait"), limit, [this, &outer] {
        timer_ = TimerHandle();
        finish(outer);
    });
}

bool WaitSet::enough(const PromiseState& last_done) const noexcept {
    switch (when_) {
        case ReturnWhen::first_completed:
            return true;
        case ReturnWhen::first_exception:
            // By the status: asking for the error would make it count as read.
            return left_ == 0 || last_done.status == PromiseStatus::error;
        case ReturnWhen::all_completed:
            break;
    }
    return left_ == 0;
}

void WaitSet::member_done(PromiseState& outer, std::size_t index) {
    if (outer.done()) return;
    PromiseState& state = *members_[index].state;
    members_[index].kept = PromiseAccess::share<AnyPromise>(&state);
    --left_;
    if (enough(state)) finish(outer);
}

void WaitSet::member_lost(PromiseState& outer, std::size_t index) noexcept {
    if (index >= members_.size()) return;  // it is over
    members_[index].state = nullptr;
    if (outer.done()) return;
    // What waits for it in turn must hear of it as well as who holds it.
    break_promise(outer, outer.awaited() ? 0 : links_);
    if (outer.done()) leave();
}

void WaitSet::finish(PromiseState& outer) {
    if (outer.done()) return;
    // Taking the callbacks back may drop all that keeps the outer promise.
    outer.keep();
    const StateOwner<PromiseState> kept(&outer);
    try {
        part_(*this, outer);
    } catch (...) {
        outer.fail_by_current_exception();
    }
    leave();
}

void WaitSet::leave() noexcept {
    // Out of the way first: what goes with a callback may look at this set again.
    std::vector<Member> members;
    members.swap(members_);
    timer_.cancel();
    timer_ = TimerHandle();
    for (const Member& member : members) {
        if (member.state && member.node && !member.state->done()) {
            member.state->withdraw(member.node);
        }
    }
}

void WaitSet::clear() noexcept {
    timer_.cancel();
    timer_ = TimerHandle();
    std::vector<Member> gone;
    gone.swap(members_);
}

void WaitSet::explain(WhyPending& why) const {
    why.what = "wait";
    why.of = members_.size();
    why.crowd = this;
    why.pending = &WaitSet::pending;
}

std::size_t WaitSet::pending(const void* set) noexcept {
    std::size_t count = 0;
    for (const Member& member : static_cast<const WaitSet*>(set)->members_) {
        if (member.state && !member.state->done()) ++count;
    }
    return count;
}

void refuse_no_promises(const char* call) {
    throw std::invalid_argument(std::string(call) + ": no promises: give at least one to wait for");
}

}  // namespace detail
}  // namespace reactor
