// SPDX-License-Identifier: BSL-1.0
#include <reactor/report.hpp>
#include <reactor/task.hpp>
#include <reactor/timeout.hpp>

#include <algorithm>

#include <cxxabi.h>

namespace reactor {
namespace detail {

// ---- one step -------------------------------------------------------------------------------

void TaskCore::step(Delivery&& delivery) {
    if (!machine) return;  // settled, or given up by close()
    waiting = nullptr;
    if (must_cancel) {
        if (delivery.promise) delivery.promise->overrule();
        delivery.outcome = take_cancellation();
        delivery.substitute = true;
    }
    struct Current {
        LoopCore& core;
        TaskCore* before;
        Current(LoopCore& c, TaskCore* now) noexcept : core(c), before(c.current_task) {
            core.current_task = now;
        }
        ~Current() { core.current_task = before; }
    };
    {
        const Current current(*own.core, this);
        action = Action::none;
        if (!started && delivery.outcome.failed()) {
            outcome = std::move(delivery.outcome);  // never entered: nothing to clean up either
            settle();
            return;
        }
        if (started) {
            auto go_on = [this, &delivery] { next.resume(*this, delivery); };
            guard(go_on);
        } else {
            started = true;
            // Most tasks of a main() are made before the loop runs. A maker that does not run it
            // may just now count such a task as if the loop was still his.
            if (!own.core->has_moved) own.count.bias();
            auto begin = [this] { static_cast<void>(Next(machine->start())); };
            guard(begin);
        }
        act();
    }
    if (leaving) {
        const std::exception_ptr exit = std::move(leaving);
        std::rethrow_exception(exit);
    }
}

void TaskCore::guarded(void (*call)(void*), void* data) {
    try {
        call(data);
    } catch (const CancelledError&) {
        fail_now(PromiseStatus::cancelled);
    } catch (const LoopExit&) {
        fail_now(PromiseStatus::error);
        leaving = outcome.error;
    } catch (const abi::__forced_unwind&) {
        throw;  // pthread_cancel(): swallowing it would abort the process
    } catch (...) {
        fail_now(PromiseStatus::error);
    }
}

void TaskCore::fail_now(PromiseStatus status) {
    // A state may throw after it has said what comes next: what it said is forgotten.
    drop_asked();
    next.clear();
    action = Action::fail;
    outcome.status = status;
    outcome.error = std::current_exception();
}

void TaskCore::act() {
    // The values that this step has set are those that the next one sees.
    if (!own_context) context = (*own.core->context_slot)->map;
    for (;;) {
        switch (action) {
            case Action::wait: {
                auto wait = [this] { suspend(); };
                guard(wait);
                if (action == Action::wait) return;
                break;
            }
            case Action::yield: {
                auto turn = [this] { schedule(Delivery()); };
                guard(turn);
                if (action == Action::yield) return;
                break;
            }
            case Action::none:
                outcome = Outcome::failure(std::make_exception_ptr(
                    StateError("a state returned without saying what comes next")));
                action = Action::fail;
                break;
            case Action::finish:
            case Action::fail:
                if (action == Action::finish && must_cancel) outcome = take_cancellation();
                if (leaving) {
                    settle();
                    return;
                }
                leave_limits();
                if (ending) {
                    settle();
                    return;
                }
                ending = true;
                run_finally();
                break;
            case Action::end:
                if (must_cancel && !outcome.failed()) outcome = take_cancellation();
                leave_limits();
                settle();
                return;
        }
    }
}

void TaskCore::run_finally() {
    action = Action::none;
    auto clean_up = [this] { static_cast<void>(Next(machine->finally())); };
    guard(clean_up);
}

TimePoint TaskCore::time_limit() const noexcept {
    TimePoint first = never();
    for (const Timeout* limit = limits; limit; limit = limit->outer_) {
        first = std::min(first, limit->when());
    }
    return first;
}

void TaskCore::leave_limits() noexcept {
    while (limits) limits->leave_with(outcome);
}

// ---- end ------------------------------------------------------------------------------------

void TaskCore::settle() noexcept {
    next.clear();
    drop_asked();
    // First the machine: what it owned is closed before anybody hears of the end.
    destroy_machine();
    if (outcome.failed()) forget_value();
    Outcome last = std::move(outcome);
    switch (last.status) {
        case PromiseStatus::error:
            own.fail(std::move(last.error));
            // LoopExit comes out of the run call: that is how it is read.
            if (leaving) own.retrieved = true;
            break;
        case PromiseStatus::cancelled:
            own.end_cancelled(std::move(last.error));
            break;
        case PromiseStatus::value:
        case PromiseStatus::pending:
            own.settle(PromiseStatus::value);
            break;
    }
}

void TaskCore::destroy_machine() noexcept {
    if (!machine) return;
    machine = nullptr;
    destroy_machine_object();
    // Limits that are no members of the machine, and so are still there.
    while (limits) limits->detach();
    // Counted without atomics, so they must go here, on the loop's thread.
    own_context = nullptr;
    context = nullptr;
}

void TaskCore::abandon() noexcept {
    if (!machine) return;
    LoopCore& core = *own.core;
    // asyncio says this whenever a pending task goes. At close() it is the usual end of what runs
    // in the background, and only worth a line while somebody looks for faults.
    if (!core.closed.load(std::memory_order_relaxed) || core.debug) {
        try {
            Report report("Task was destroyed but it is pending!");
            report.task = describe();
            core.report(report);
        } catch (...) {
            core.report(Report(std::string()));
        }
    }
    next.clear();
    destroy_machine();
}

}  // namespace detail
}  // namespace reactor
