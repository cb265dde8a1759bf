// SPDX-License-Identifier: BSL-1.0
#include <reactor/event_loop.hpp>
#include <reactor/state_graph.hpp>
#include <reactor/task.hpp>

#include <stdexcept>

// The library's half of Task<R>: making, names, what a state says, cancellation. The steps are in
// detail/task_step.cpp, how they get into the queue in detail/task_wake.cpp.

namespace reactor {
namespace detail {

namespace {

// Where create_task() leaves the core for the constructor of the machine's base. A function, since
// gcc 12's UBSan misreports a thread_local that several units share.
TaskCore*& constructing_slot() noexcept {
    static thread_local TaskCore* core = nullptr;
    return core;
}

std::string place(const char* file, unsigned line) {
    return std::string(file) + ":" + std::to_string(line);
}

}  // namespace

// ---- making ---------------------------------------------------------------------------------

Constructing::Constructing(TaskCore& core) noexcept : before_(constructing_slot()) {
    constructing_slot() = &core;
}

Constructing::~Constructing() { constructing_slot() = before_; }

TaskBase::TaskBase() : core_(constructing_slot()) {
    if (!core_) {
        throw StateError(
            "a task is made by loop.create_task<...>(...), not as an object of its own");
    }
    // Taken: a task that is a member or a local of this one must not take the core a second time.
    constructing_slot() = nullptr;
}

TaskCore::TaskCore(PromiseState& promise, const char* name_of_class, const Options* options)
    : own(promise),
      here("", "", 0),
      class_name(name_of_class),
      label(options ? options->label() : nullptr),
      number(promise.core->next_task++) {}

TaskCore::~TaskCore() { drop_asked(); }

// ---- what a state says ----------------------------------------------------------------------

void TaskCore::refuse_decision() const {
    if (own.core->current_task != this || !machine) {
        throw StateError(
            "await, yield, finish, fail, end: only a state that the task itself runs may say what "
            "comes next");
    }
    if (action != Action::none) {
        throw StateError(
            "a state says once what comes next: return what await(), yield(), finish(), fail() or "
            "end() gives");
    }
    throw StateError("end() is for finally() and the states that follow it: use finish()");
}

void TaskCore::record_transition(const Here& to) {
    if (waited && !ending) {
        const StateTable* const table = machine->states();
        if (table && !table->allows(here.function(), to.function())) {
            throw StateError(std::string("undeclared transition ") + here.function() + " -> " +
                             to.function());
        }
    }
    own.core->loop->service<StateGraphs>()
        .of(class_name)
        .add(waited ? here.function() : nullptr, to.function());
}

void TaskCore::refuse_empty() {
    throw StateError("await: the promise is empty: it was never made, or moved from");
}

void TaskCore::pass_on(Outcome failure) noexcept {
    action = Action::fail;
    outcome = std::move(failure);
}

void TaskCore::fail_with(std::exception_ptr error) {
    if (!error) throw std::invalid_argument("fail: the error is null: use finish() or end()");
    decide(Action::fail);
    // Thrown once to see whether it is a cancellation: a clause may hand on what it was given.
    PromiseStatus status = PromiseStatus::error;
    try {
        std::rethrow_exception(error);
    } catch (const CancelledError&) {
        status = PromiseStatus::cancelled;
    } catch (...) {
    }
    outcome.status = status;
    outcome.error = std::move(error);
}

// ---- cancellation ---------------------------------------------------------------------------

PromiseState* TaskCore::cancel_step(const std::string& message, bool& took) {
    took = false;
    if (own.done()) return nullptr;
    if (!machine) {
        // Its machine is being destroyed at its end: too late; or close() gave it up: nothing
        // will run it any more, so it is done at once.
        took = own.core->closed.load(std::memory_order_relaxed) && own.cancel_now(message);
        return nullptr;
    }
    ++cancelling;
    if (waiting && !waiting->done()) return waiting;
    cancel_refused(message);
    took = true;
    return nullptr;
}

void TaskCore::cancel_refused(const std::string& message) {
    must_cancel = true;
    cancel_message = message;
}

std::uint32_t TaskCore::uncancel() noexcept {
    if (cancelling != 0 && --cancelling == 0) must_cancel = false;
    return cancelling;
}

Outcome TaskCore::take_cancellation() {
    must_cancel = false;
    Outcome cancelled;
    cancelled.status = PromiseStatus::cancelled;
    if (!cancel_message.empty()) {
        cancelled.error = std::make_exception_ptr(CancelledError(std::move(cancel_message)));
        cancel_message.clear();
    }
    return cancelled;
}

// ---- names ----------------------------------------------------------------------------------

std::string TaskCore::where() const {
    if (waited) return place(here.file(), here.line());
    return own.made_at();
}

void TaskCore::set_name(std::string name) { given_name.reset(new std::string(std::move(name))); }

std::string TaskCore::name() const {
    if (given_name) return *given_name;
    return label ? std::string(label) : "Task-" + std::to_string(number);
}

std::string TaskCore::describe() const {
    std::string text = name() + " (" + type_text(class_name) + ")";
    if (waited) {
        text += std::string(own.done() ? ", last waited in " : ", waiting in ") + here.function() +
                " at " + place(here.file(), here.line());
    } else if (!started) {
        text += ", not started";
    }
    const std::string made = own.made_at();
    if (!made.empty()) text += ", made at " + made;
    return text;
}

}  // namespace detail
}  // namespace reactor
