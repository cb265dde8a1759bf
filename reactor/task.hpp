// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TASK_HPP
#define REACTOR_TASK_HPP

#include <reactor/detail/resume.hpp>
#include <reactor/detail/task_core.hpp>
#include <reactor/error.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/here.hpp>
#include <reactor/promise.hpp>
#include <reactor/task_handle.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>

namespace reactor {

/// What a state of a task returns: what comes next. Made only by await(), yield(), finish(), fail()
/// and end(), so every path of a state says it, and the compiler sees a path that does not
/// (-Werror=return-type belongs into every build that has tasks).
class
#if defined(__clang__)
    __attribute__((warn_unused_result))
#elif defined(__GNUC__)
    [[nodiscard]]
#endif
    Next {
public:
    Next(Next&&) noexcept = default;
    Next& operator=(Next&&) noexcept = default;

private:
    template <class R>
    friend class Task;
    explicit Next(const detail::TaskCore* task) noexcept : task_(task) {}

    // Never read, but gcc 12 takes every returned object of an empty class for an ignored one.
    const detail::TaskCore* task_;
};

/// A chain of callbacks written as an explicit state machine: a class with a member function for
/// each state, which returns what comes next. asyncio: a coroutine and the Task that runs it.
///
///     class Greeter : public reactor::Task<int> {
///     public:
///         explicit Greeter(Connection c) : connection_(std::move(c)) {}
///
///     private:
///         Next start() override { return await(connection_.send("hello\n"), &Greeter::read); }
///         Next read() { return await(connection_.read_line(), &Greeter::answer, &Greeter::lost); }
///         Next answer(std::string line) { return line.empty() ? read() : finish(1); }
///         Next lost(const std::system_error&) { return finish(0); }
///         Next finally() override { return await(connection_.close(), &Greeter::closed); }
///         Next closed() { return end(); }
///
///         Connection connection_;
///     };
///     reactor::TaskHandle<int> handle = loop.create_task<Greeter>(std::move(connection));
///
/// Its life. In [ ] runs the machine's code, each time in a callback of the loop:
///
///                     await, yield
///                   ┌──────────────> waiting ─────┐       cancel(): what is awaited is
///                   │                             │       cancelled, too
///     created ──> [state] <───────────────────────┘
///        │          │  promise done, cancelled
///        │          │ finish, fail, throw: outcome held, time limits left
///        │          v           await, yield
///        │     [finally()] ──────────────> waiting ──> [state] …
///        │          │ end, finish, fail, throw
///        v          v
///     machine destroyed, then promise done               (cancelled before its first step: neither
///                                                         start() nor finally() runs)
///
/// The machine belongs to the loop: it is made by create_task() and destroyed before its promise
/// becomes done. Nobody has to hold the handle: what the task waits for keeps it alive. All on the
/// loop's thread.
///
/// - LoopExit ends a task without finally(), and leaves the loop.
/// - If what it waits for is dropped while pending, a task that somebody holds goes on with
///   BrokenPromise; one that nobody holds is destroyed, with one report, without finally(). What
///   must be closed on every path is a member with a destructor.
/// - close() of the loop destroys the machines of pending tasks without running anything; in debug
///   mode with a report for each. Their handles stay pending.
/// - A failure that nobody reads is reported when the last handle goes.
/// - Each step runs in the task's own context: a snapshot from its creation, with what its steps
///   have set since; or the very context that the options gave.
///
/// Inside a class template the verbs need `this->`; a protected state of a base is named through
/// the derived class (&Derived::state); a state named like a free function hides it. The
/// constructor's arguments that become members live until the end of the task, and a member that
/// keeps the awaited promise makes the value be copied: pass promises to await() as temporaries.
template <class R>
class Task : public detail::TaskBase {
protected:
    /// Throws StateError unless it is create_task() that makes the object.
    Task() = default;

    /// The first state, run in the iteration after create_task(). Inherited pure.
    Next start() override = 0;

    /// Runs once when the outcome is held, whichever it is; may wait, and ends with end(), which
    /// keeps the outcome, or with another one: finish(), fail(), an exception. A cancellation that
    /// arrives while it waits and is not caught replaces the outcome.
    Next finally() override { return end(); }

    /// Goes on with `state` in the iteration after `promise` is done. What the state takes says
    /// what it is run with: the value (`T`: moved if nobody else can see the promise, else copied;
    /// `const T&`; nothing), the elements of a std::tuple (several parameters), or every outcome
    /// (`Promise<T>`). Up to three clauses follow, tried in this order when the promise fails: one
    /// that takes `const SomeError&` catches just that, one that takes std::exception_ptr all,
    /// cancellation included; `throw;` works inside. A failure that none takes ends the task.
    /// States are members (&Class::state) or lambdas with a declared result (`-> Next`).
    ///
    /// Only records: it acts when the state has returned. `here` is the caller's place, which
    /// TaskHandle::state() shows; a helper that wraps await() passes its own on. Throws StateError
    /// for an empty promise, outside of a state, and after another verb in the same state; a
    /// promise of another loop, or the task's own, resumes the task with StateError.
    template <class T, class F>
    REACTOR_NODISCARD Next await(Promise<T> promise, F state, Here here = Here()) {
        return record_await(here, std::move(promise), std::move(state));
    }
    template <class T, class F, class C>
    REACTOR_NODISCARD Next await(Promise<T> promise, F state, C clause, Here here = Here()) {
        return record_await(here, std::move(promise), std::move(state), std::move(clause));
    }
    template <class T, class F, class C, class D>
    REACTOR_NODISCARD Next await(Promise<T> promise, F state, C clause, D second,
                                 Here here = Here()) {
        return record_await(here, std::move(promise), std::move(state), std::move(clause),
                            std::move(second));
    }
    template <class T, class F, class C, class D, class E>
    REACTOR_NODISCARD Next await(Promise<T> promise, F state, C clause, D second, E third,
                                 Here here = Here()) {
        return record_await(here, std::move(promise), std::move(state), std::move(clause),
                            std::move(second), std::move(third));
    }

    /// Goes on with `state`, which takes nothing, in the next iteration. asyncio: sleep(0).
    template <class F>
    REACTOR_NODISCARD Next yield(F state, Here here = Here()) {
        constexpr bool fits = std::is_same<detail::ParametersOf<F>, detail::Types<>>::value &&
                              detail::ReturnsNext<F>::value;
        static_assert(fits, "yield: the next state takes nothing and returns Next");
        return record_yield(std::integral_constant<bool, fits>(), here, std::move(state));
    }

    /// Ends the task with a value made from `arguments`; in finally() it replaces the outcome.
    template <class... A>
    REACTOR_NODISCARD Next finish(A&&... arguments) {
        constexpr bool fits =
            std::is_void<R>::value
                ? sizeof...(A) == 0
                : sizeof...(A) > 0 &&
                      std::is_constructible<
                          typename std::conditional<std::is_void<R>::value, int, R>::type,
                          A&&...>::value;
        static_assert(fits, "finish: the task's result cannot be made from these arguments");
        return record_finish(std::integral_constant<bool, fits>(), std::forward<A>(arguments)...);
    }

    /// Ends the task with an error; a CancelledError is a cancellation. Like a throw, without its
    /// cost. Throws std::invalid_argument for a null pointer.
    REACTOR_NODISCARD Next fail(std::exception_ptr error) {
        core_->fail_with(std::move(error));
        return Next(core_);
    }
    template <class E>
    REACTOR_NODISCARD Next fail(E error) {
        return fail(std::make_exception_ptr(std::move(error)));
    }
    Next fail(std::nullptr_t) = delete;

    /// Ends finally() with the outcome that was held. Throws StateError before finally().
    REACTOR_NODISCARD Next end() {
        core_->decide(detail::Action::end);
        return Next(core_);
    }

    /// In finally() and after it: the error that is held, null for a value.
    std::exception_ptr error() const { return core_->outcome.exception(); }

    /// The loop; also inside the constructor and its member initialisers.
    EventLoop& loop() const noexcept { return *core_->own.core->loop; }
    std::string name() const { return core_->name(); }

    /// Requests the cancellation of this task, seen at its next await or yield; a task that
    /// finishes in the same state ends cancelled. Only records.
    bool cancel(const std::string& message = std::string()) { return core_->own.cancel(message); }
    /// See TaskHandle.
    std::uint32_t uncancel() noexcept { return core_->uncancel(); }
    std::uint32_t cancelling() const noexcept { return core_->cancelling; }

private:
    template <class T, class F, class... C>
    Next record_await(const Here& here, Promise<T> promise, F state, C... clauses) {
        constexpr bool returns =
            detail::All<detail::ReturnsNext<F>::value, detail::ReturnsNext<C>::value...>::value;
        constexpr bool takes = detail::StateTakes<T, detail::ParametersOf<F>>::value;
        constexpr bool catches = detail::All<detail::Clause<C>::valid...>::value;
        static_assert(returns,
                      "await: a state or clause is a member function (&Class::state), a "
                      "function or a lambda, and returns Next");
        static_assert(!returns || takes,
                      "await: the next state takes the value the promise brings (T or const T&), "
                      "the Promise<T> itself (then it sees every outcome), or nothing");
        static_assert(!returns || catches,
                      "await: a clause takes const SomeError& (it catches just that) or "
                      "std::exception_ptr (it catches all, cancellation included)");
        // After a failed assertion there is nothing more to say: the empty overload.
        return record_wait(std::integral_constant < bool, returns&& takes&& catches > (), here,
                           std::move(promise), std::move(state), std::move(clauses)...);
    }

    template <class T, class F, class... C>
    Next record_wait(std::true_type, const Here& here, Promise<T> promise, F state, C... clauses) {
        if (!promise) detail::TaskCore::refuse_empty();
        core_->note_transition(here);
        core_->decide(detail::Action::wait);
        core_->next.template put<detail::Resume<Task, T, F, C...>>(std::move(state),
                                                                   std::move(clauses)...);
        core_->asked = detail::PromiseAccess::release(promise);
        core_->wait_at(here);
        return Next(core_);
    }
    template <class... A>
    Next record_wait(std::false_type, const A&...);

    template <class F>
    Next record_yield(std::true_type, const Here& here, F state) {
        core_->note_transition(here);
        core_->decide(detail::Action::yield);
        core_->next.template put<detail::ResumeTurn<Task, F>>(std::move(state));
        core_->wait_at(here);
        return Next(core_);
    }
    template <class F>
    Next record_yield(std::false_type, const Here&, const F&);

    template <class... A>
    Next record_finish(std::true_type, A&&... arguments) {
        core_->decide(detail::Action::finish);
        static_cast<detail::ValueState<R>&>(core_->own).emplace(std::forward<A>(arguments)...);
        core_->outcome = detail::Outcome();
        return Next(core_);
    }
    template <class... A>
    Next record_finish(std::false_type, A&&...);
};

}  // namespace reactor

#include <reactor/detail/make_task.hpp>

#endif
