// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_TASK_CORE_HPP
#define REACTOR_DETAIL_TASK_CORE_HPP

#include <reactor/clock.hpp>
#include <reactor/detail/continuation.hpp>
#include <reactor/detail/promise_state.hpp>
#include <reactor/here.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace reactor {

class Next;
class Options;
class StateTable;
template <class R>
class Task;
class Timeout;

namespace detail {

/// How something ended. A cancellation without a message has no error object: it travels as a
/// state.
struct Outcome {
    PromiseStatus status = PromiseStatus::value;
    std::exception_ptr error;

    bool failed() const noexcept { return status != PromiseStatus::value; }
    bool cancelled() const noexcept { return status == PromiseStatus::cancelled; }
    /// What a clause or error() sees: null for a value.
    std::exception_ptr exception() const {
        return cancelled() && !error ? std::make_exception_ptr(CancelledError()) : error;
    }
    static Outcome failure(std::exception_ptr e) noexcept {
        Outcome outcome;
        outcome.status = PromiseStatus::error;
        outcome.error = std::move(e);
        return outcome;
    }
};

/// What a step is run with: the promise that is done, and how.
struct Delivery {
    PromiseState* promise = nullptr;  // kept by who runs the step; null: a first step, or a yield
    Outcome outcome;
    bool substitute = false;  // the outcome is the task's own, not that of the promise
};

/// The machine's base without its result type; Task<R> adds the verbs.
class TaskBase {
public:
    /// So that a machine in another namespace writes `Next`.
    using Next = reactor::Next;

    TaskBase(const TaskBase&) = delete;
    TaskBase& operator=(const TaskBase&) = delete;

protected:
    /// Takes its core from create_task(). Throws StateError if it is not being made by that.
    TaskBase();
    virtual ~TaskBase() = default;

    virtual Next start() = 0;
    virtual Next finally() = 0;
    virtual const StateTable* states() const { return nullptr; }

private:
    friend struct TaskCore;
    template <class R>
    friend class reactor::Task;

    TaskCore* core_;
};

enum class Action : std::uint8_t { none, wait, yield, finish, fail, end };

/// A task but for the types of its result and machine: which step comes next, and all there is to
/// cancellation. Part of the promise state; lives as long as that.
///
///     created ──first step──> stepping ──await, yield──> waiting ──done, cancelled──> stepping …
///        │                       └──finish, fail, throw──> ending: finally(), may wait as well
///        └──cancelled before─────────────────────────────────┴──> settled: machine destroyed,
///                                                                  promise done
struct TaskCore {
    TaskCore(PromiseState& promise, const char* class_name, const Options* options);
    TaskCore(const TaskCore&) = delete;
    TaskCore& operator=(const TaskCore&) = delete;

    // ---- steps ----

    /// Queues the first step; its node takes the context from the options, or a snapshot.
    void schedule_first(const Options* options);
    /// Queues a step, in the task's own context.
    void schedule(Delivery delivery);
    /// Runs one state; LoopExit comes out, everything else is the task's outcome.
    void step(Delivery&& delivery);
    /// Calls f(); what it throws becomes the task's failure.
    template <class F>
    void guard(F& f) {
        guarded([](void* data) { (*static_cast<F*>(data))(); }, &f);
    }
    /// What the promise it waited for will never tell: it was dropped.
    void lost() noexcept;

    // ---- what a state says ----

    /// Notes what comes next. Throws StateError if something was noted in this step already, or if
    /// no state of this task is running.
    void decide(Action what) {
        if (own.core->current_task != this || !machine || action != Action::none ||
            (what == Action::end && !ending)) {
            refuse_decision();
        }
        action = what;
    }
    /// In debug mode checks and records the transition from the last wait to this one.
    void note_transition(const Here& to) {
        if (own.core->debug) record_transition(to);
    }
    [[noreturn]] static void refuse_empty();
    void wait_at(const Here& at) noexcept {
        here = at;
        waited = true;
    }
    /// The task ends as what it waited for did: no clause took it.
    void pass_on(Outcome failure) noexcept;
    /// fail(): a CancelledError makes it a cancellation.
    void fail_with(std::exception_ptr error);

    // ---- cancellation ----

    PromiseState* cancel_step(const std::string& message, bool& took);
    void cancel_refused(const std::string& message);
    std::uint32_t uncancel() noexcept;
    /// Takes the request that no step has seen yet.
    Outcome take_cancellation();

    // ---- names ----

    const char* waits_in() const noexcept { return waited ? here.function() : "start"; }
    std::string where() const;
    std::string name() const;
    void set_name(std::string name);
    std::string describe() const;
    /// When the first of its active time limits is over; never() without one.
    TimePoint time_limit() const noexcept;

    // ---- end ----

    /// Destroys the machine of a task that will not go on, with a report; at close() in debug mode
    /// only.
    void abandon() noexcept;
    void settle() noexcept;
    void destroy_machine() noexcept;

    /// The result type's part: makes the machine's value visible, or forgets it.
    virtual void forget_value() noexcept = 0;
    /// Runs the destructor of the machine.
    virtual void destroy_machine_object() noexcept = 0;

    PromiseState& own;
    TaskBase* machine = nullptr;      // null before it is made, and from the end on
    PromiseState* waiting = nullptr;  // not owned: it owns our wake-up
    PromiseState* asked = nullptr;    // owned, from await() to the end of the step
    Continuation next;
    Outcome outcome;               // held while finally() runs
    std::string cancel_message;    // of a request that was not delivered yet
    std::exception_ptr leaving;    // a LoopExit on its way out
    Timeout* limits = nullptr;     // active ones, the inner first
    Here here;                     // the last wait; before the first step, where it was made
    ContextCellPtr own_context;    // given by the options
    ContextMapPtr context;         // else: the values its next step sees
    const char* const class_name;  // as the compiler prints it
    const char* const label;       // a literal from the options, or null
    std::unique_ptr<std::string> given_name;
    std::uint64_t number;
    std::uint32_t cancelling = 0;
    Action action = Action::none;
    bool started = false;
    bool ending = false;
    bool must_cancel = false;
    bool waited = false;  // `here` is a wait

protected:
    ~TaskCore();

private:
    [[noreturn]] void refuse_decision() const;
    void record_transition(const Here& to);
    void guarded(void (*call)(void*), void* data);
    void fail_now(PromiseStatus status);
    void run_finally();
    void act();
    void suspend();
    void refuse_wait();
    void leave_limits() noexcept;
    void put_context(Node* node) noexcept;
    void drop_asked() noexcept {
        if (PromiseState* const promise = asked) {
            asked = nullptr;
            drop(promise);
        }
    }
};

/// While it lives, the machine being made finds its core here.
class Constructing {
public:
    explicit Constructing(TaskCore& core) noexcept;
    ~Constructing();
    Constructing(const Constructing&) = delete;
    Constructing& operator=(const Constructing&) = delete;

private:
    TaskCore* before_;
};

}  // namespace detail
}  // namespace reactor

#endif
