// SPDX-License-Identifier: BSL-1.0
// Where the states of promises end: on the loop's thread, one after the other; once the loop is
// gone, wherever the last reference goes.
#include <reactor/detail/inbox.hpp>
#include <reactor/detail/promise_state.hpp>
#include <reactor/report.hpp>

#include <memory>

namespace reactor {
namespace detail {

namespace {

// In place of a list: the loop is gone, nobody will look at it any more.
PromiseState* ended_mark() noexcept {
    static char mark;
    return reinterpret_cast<PromiseState*>(&mark);
}

/// Leaves a state to the loop's thread, or says that there is none any more.
bool hand_back(LoopCore& core, PromiseState* state) noexcept {
    // The loop may end, and its core go, as soon as the state is in the list: what is needed after
    // that is taken before it.
    const std::shared_ptr<Inbox> inbox = core.inbox;
    PromiseState* head = core.dropped.load(std::memory_order_acquire);
    do {
        if (head == ended_mark()) return false;
        state->next_dead = head;
    } while (!core.dropped.compare_exchange_weak(head, state, std::memory_order_acq_rel,
                                                 std::memory_order_acquire));
    if (!head) inbox->wake();
    return true;
}

}  // namespace

// Never one destruction inside another: a chain of 300,000 promises, each kept by the callback of
// the one before, is destroyed with constant stack.
void dispose_in_turn(LoopCore& core, PromiseState* state) noexcept {
    // From here on nobody's to hand out.
    state->dying = true;
    if (core.reaping) {
        state->next_dead = core.doomed;
        core.doomed = state;
        return;
    }
    core.retain();  // the last state may otherwise take the core with it
    core.reaping = true;
    do {
        state->dispose();
        state = core.doomed;
        if (state) core.doomed = state->next_dead;
    } while (state);
    core.reaping = false;
    core.forget();
}

// What runs now (the exception handler, destructors of captures and machines) may cancel what still
// waits for this one. Who shares it for that does not drop the last reference again: that stays.
void PromiseState::dispose() noexcept {
    dying = true;
    if (!retrieved) report_unread();
    before_dispose();
    unlink();
    if (first) drop_callbacks();
    destroy();
}

__attribute__((noinline)) void PromiseState::report_unread() {
    Report report(
        is_task ? "Task exception was never retrieved" : "Promise exception was never retrieved",
        error);
    (is_task ? report.task : report.promise) = describe();
    core->report(report);
}

void drop_elsewhere(PromiseState* state) noexcept {
    if (!state->count.drop_elsewhere()) return;
    // The loop is gone: nobody else will, and no chains are left that would need a turn.
    if (!hand_back(*state->core, state) && state->count.add_up()) state->dispose();
}

void LoopCore::destroy_dropped() noexcept {
    PromiseState* state = dropped.exchange(nullptr, std::memory_order_acq_rel);
    while (state) {
        PromiseState* const following = state->next_dead;
        if (state->count.add_up()) dispose_in_turn(*this, state);
        state = following;
    }
}

void LoopCore::stop_hand_backs() noexcept {
    PromiseState* state = dropped.exchange(ended_mark(), std::memory_order_acq_rel);
    while (state) {
        PromiseState* const following = state->next_dead;
        if (state->count.add_up()) state->dispose();
        state = following;
    }
}

void LoopCore::abandon_promises() noexcept {
    // Each is kept while its callbacks go: they may hold its last reference.
    while (PromiseState* const state = pending) {
        state->keep();
        state->unlink();
        state->last_words();
        state->drop_callbacks();
        drop(state);
    }
}

}  // namespace detail
}  // namespace reactor
