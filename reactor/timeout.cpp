// SPDX-License-Identifier: BSL-1.0
#include <reactor/event_loop.hpp>
#include <reactor/timeout.hpp>

namespace reactor {

namespace {

/// The task whose state runs now on this thread; throws if there is none.
detail::TaskCore* stepping_task() {
    EventLoop* const loop = running_loop();
    detail::TaskCore* const task = loop ? loop->core().current_task : nullptr;
    if (!task) throw StateError("Timeout::enter: a time limit is entered inside a task's state");
    return task;
}

}  // namespace

Timeout::~Timeout() {
    if (active()) detach();
}

void Timeout::enter_after(Duration delay) {
    detail::TaskCore* const task = stepping_task();
    begin(task, deadline_after(task->own.core->clock->now(), delay));
}

void Timeout::enter_at(TimePoint deadline) { begin(stepping_task(), deadline); }

void Timeout::begin(detail::TaskCore* task, TimePoint deadline) {
    if (active()) throw StateError("Timeout::enter: the time limit is active already");
    task_ = task;
    arm(deadline);
    outer_ = task->limits;
    task->limits = this;
    cancelling_at_entry_ = task->cancelling;
    state_ = State::active;
}

void Timeout::arm(TimePoint deadline) {
    detail::LoopCore& core = *task_->own.core;
    EventLoop& loop = *core.loop;
    at_once_.cancel();
    if (deadline == never()) {
        timer_.cancel();
    } else if (deadline <= core.clock->now()) {
        timer_.cancel();
        // Not a timer, which comes after what is queued: a step that the task asks for by yielding
        // must already see that the time is up.
        at_once_ = loop.call_soon(Options().label("Timeout"), &Timeout::fire, this);
    } else if (!timer_.reschedule(deadline)) {
        timer_ = loop.call_at(Options().label("Timeout"), deadline, &Timeout::fire, this);
    }
    when_ = deadline;
}

void Timeout::fire() {
    state_ = State::expiring;
    task_->own.cancel(std::string());
}

void Timeout::reschedule_after(Duration delay) {
    if (state_ != State::active) reschedule_at(never());  // says why not
    reschedule_at(deadline_after(task_->own.core->clock->now(), delay));
}

void Timeout::reschedule_at(TimePoint deadline) {
    if (state_ != State::active) {
        throw StateError(state_ == State::expiring
                             ? "Timeout::reschedule: the time is up already"
                             : "Timeout::reschedule: the time limit is not active");
    }
    task_->own.core->check("Timeout::reschedule");
    arm(deadline);
}

bool Timeout::leave() {
    if (!active()) throw StateError("Timeout::leave: the time limit is not active");
    if (task_->own.core->current_task != task_) {
        throw StateError("Timeout::leave: a time limit is left inside its own task's state");
    }
    return end();
}

bool Timeout::end() noexcept {
    detail::TaskCore* const task = task_;
    const bool expiring = state_ == State::expiring;
    detach();
    if (!expiring) return false;
    state_ = State::expired;
    // Compared with the count at entry: a cancellation that was caught before is not ours to judge.
    return task->uncancel() <= cancelling_at_entry_;
}

void Timeout::leave_with(detail::Outcome& outcome) noexcept {
    if (end() && outcome.cancelled()) {
        outcome = detail::Outcome::failure(std::make_exception_ptr(TimeoutError()));
    }
}

void Timeout::detach() noexcept {
    Timeout** link = &task_->limits;
    while (*link && *link != this) link = &(*link)->outer_;
    if (*link) *link = outer_;
    outer_ = nullptr;
    task_ = nullptr;
    timer_.cancel();
    at_once_.cancel();
    state_ = expired() ? State::expired : State::idle;
}

}  // namespace reactor
