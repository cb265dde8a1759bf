// SPDX-License-Identifier: BSL-1.0
#include <reactor/report.hpp>
#include <reactor/task.hpp>

namespace reactor {
namespace detail {

namespace {

/// The done callback through which a promise wakes the task that waits for it: it owns the task,
/// and, once the promise is done and has queued it, the promise.
struct Wake {
    Wake(PromiseState& p, TaskCore& t) noexcept : promise(p), task(t) { task.own.keep(); }
    Wake(const Wake&) = delete;
    Wake& operator=(const Wake&) = delete;
    ~Wake() {
        PromiseState* const done = promise.done() ? &promise : nullptr;
        if (!ran) task.lost();
        drop(&task.own);
        if (done) drop(done);
    }

    void operator()() {
        ran = true;
        Delivery delivery;
        delivery.promise = &promise;
        // The outcome counts as read here, whatever the task then makes of it.
        promise.retrieved = true;
        delivery.outcome.status = promise.cancellation ? PromiseStatus::cancelled : promise.status;
        delivery.outcome.error = promise.error;
        task.step(std::move(delivery));
    }

    PromiseState& promise;
    TaskCore& task;
    bool ran = false;
};

/// A step that waits for nothing but its turn.
struct StepInTurn {
    StepInTurn(TaskCore& t, Delivery d) noexcept : task(t), delivery(std::move(d)) {
        task.own.keep();
    }
    StepInTurn(const StepInTurn&) = delete;
    StepInTurn& operator=(const StepInTurn&) = delete;
    ~StepInTurn() { drop(&task.own); }

    void operator()() { task.step(std::move(delivery)); }

    TaskCore& task;
    Delivery delivery;
};

static_assert(FitsInPlace<StepInTurn>::value && FitsInPlace<Wake>::value,
              "a step must not allocate");

}  // namespace

// ---- scheduling -----------------------------------------------------------------------------

void TaskCore::schedule_first(const Options* options) {
    LoopCore& core = *own.core;
    Node* const node = core.make<StepInTurn>(NodeKind::soon, *this, Delivery());
    core.set_context(node, options);
    if (node->is(NodeFlag::explicit_context)) {
        own_context = ContextCellPtr(static_cast<ContextCell*>(node->context));
    }
    node->label = label ? label : class_name;
    core.push(node);
}

void TaskCore::put_context(Node* node) noexcept {
    if (own_context) {
        node->set(NodeFlag::explicit_context);
        node->context = ContextCellPtr(own_context).release();
    } else if (context) {
        node->context = ContextMapPtr(context).release();
    }
    node->label = label ? label : class_name;
}

void TaskCore::schedule(Delivery delivery) {
    LoopCore& core = *own.core;
    Node* const node = core.make<StepInTurn>(NodeKind::soon, *this, std::move(delivery));
    put_context(node);
    core.push(node);
}

void TaskCore::suspend() {
    PromiseState* const promise = asked;
    const bool is_self = promise == &own;
    if (is_self || promise->core != own.core) {
        Delivery refusal;
        refusal.outcome = Outcome::failure(std::make_exception_ptr(
            StateError(is_self ? "await: a task cannot wait for itself"
                               : "await: the promise belongs to another event loop")));
        refusal.substitute = true;
        drop_asked();
        schedule(std::move(refusal));
        return;
    }
    LoopCore& core = *own.core;
    Node* const node = core.make<Wake>(NodeKind::done, *promise, *this);
    put_context(node);
    waiting = promise;
    promise->attach(node);
    if (must_cancel && promise->cancel(cancel_message)) take_cancellation();
    drop_asked();  // if that was the last reference, the task hears of it through lost()
}

void TaskCore::lost() noexcept {
    waiting = nullptr;
    if (!machine || own.core->closed.load(std::memory_order_relaxed)) return;
    // Nobody would see it fail: it dies with the wake-up, and with the report of abandon().
    if (own.unique()) return;
    try {
        Delivery broken;
        broken.outcome = Outcome::failure(std::make_exception_ptr(
            BrokenPromise("what the task waited for was dropped while it was pending")));
        broken.substitute = true;
        schedule(std::move(broken));
    } catch (...) {
        own.core->report(Report("A task cannot be resumed", std::current_exception()));
    }
}

}  // namespace detail
}  // namespace reactor
