// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_RESUME_HPP
#define REACTOR_DETAIL_RESUME_HPP

#include <reactor/detail/state_call.hpp>
#include <reactor/detail/task_core.hpp>
#include <reactor/here.hpp>
#include <reactor/promise.hpp>

#include <cstddef>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

namespace reactor {
namespace detail {

// What a task goes on with: kept in its Continuation from await() or yield() to the next step.

/// What waits in a task for a Promise<T>: the state F and the clauses C.
template <class M, class T, class F, class... C>
class Resume {
public:
    template <class... K>
    explicit Resume(F state, K... clauses)
        : state_(std::move(state)), clauses_(std::move(clauses)...) {}

    void operator()(TaskCore& task, Delivery& delivery) {
        go(task, delivery,
           std::is_same<typename std::decay<typename FirstParameter<ParametersOf<F>>::type>::type,
                        Promise<T>>());
    }

private:
    static M& machine(TaskCore& task) { return static_cast<M&>(*task.machine); }

    /// The state sees every outcome: the task's own, which is another one than the promise's if the
    /// task was cancelled after the promise had its value.
    void go(TaskCore& task, Delivery& delivery, std::true_type) {
        Callee<M, F> callee{machine(task), state_};
        if (!delivery.substitute) {
            callee(PromiseAccess::share<Promise<T>>(delivery.promise));
            return;
        }
        PromiseState* const own = make_state<PlainState<T>>(*task.own.core, Here("await", "", 0));
        Promise<T> promise = PromiseAccess::adopt<Promise<T>>(own);
        if (delivery.outcome.cancelled()) {
            own->end_cancelled(std::move(delivery.outcome.error));
        } else {
            own->fail(std::move(delivery.outcome.error));
            own->retrieved = true;
        }
        callee(std::move(promise));
    }

    void go(TaskCore& task, Delivery& delivery, std::false_type) {
        if (!delivery.outcome.failed()) {
            Callee<M, F> callee{machine(task), state_};
            PassValue<T, ParametersOf<F>>::call(callee,
                                                *static_cast<ValueState<T>*>(delivery.promise));
            return;
        }
        // Where no clause can look, nothing is thrown: a failure that passes through costs little.
        if (!looks(delivery, Any<Clause<C>::takes_cancellation...>()) || !caught(task, delivery)) {
            task.pass_on(std::move(delivery.outcome));
        }
    }

    template <bool... B>
    using Any = std::integral_constant<bool, !All<!B...>::value>;
    static bool looks(const Delivery& delivery, std::true_type) {
        static_cast<void>(delivery);
        return true;
    }
    static bool looks(const Delivery& delivery, std::false_type) {
        return sizeof...(C) != 0 && !delivery.outcome.cancelled();
    }

    /// One throw for all clauses: a nest of handlers, the first clause innermost. The clause runs
    /// inside its handler, so that `throw;` works; what it throws is the task's failure and never
    /// meets a later clause.
    bool caught(TaskCore& task, const Delivery& delivery) {
        const std::exception_ptr error = delivery.outcome.exception();
        bool matched = false;
        try {
            Nest<sizeof...(C), void>::run(*this, task, error, matched);
        } catch (...) {
            if (matched) throw;  // a thread's cancellation, out of a clause
            return false;
        }
        return true;
    }

    template <std::size_t N, class Unused>
    struct Nest {
        using K = typename std::tuple_element<N - 1, std::tuple<C...>>::type;

        static void run(Resume& self, TaskCore& task, const std::exception_ptr& error,
                        bool& matched) {
            run(self, task, error, matched, std::integral_constant<bool, Clause<K>::takes_all>());
        }
        static void run(Resume& self, TaskCore& task, const std::exception_ptr& error,
                        bool& matched, std::true_type) {
            try {
                Nest<N - 1, Unused>::run(self, task, error, matched);
            } catch (...) {
                if (matched) throw;
                matched = true;
                auto clause = [&] {
                    Callee<M, K> callee{machine(task), std::get<N - 1>(self.clauses_)};
                    callee(error);
                };
                task.guard(clause);
            }
        }
        static void run(Resume& self, TaskCore& task, const std::exception_ptr& error,
                        bool& matched, std::false_type) {
            try {
                Nest<N - 1, Unused>::run(self, task, error, matched);
            } catch (typename Clause<K>::Parameter caught) {
                matched = true;
                auto clause = [&] {
                    Callee<M, K> callee{machine(task), std::get<N - 1>(self.clauses_)};
                    callee(caught);
                };
                task.guard(clause);
            }
        }
    };
    template <class Unused>
    struct Nest<0, Unused> {
        static void run(Resume&, TaskCore&, const std::exception_ptr& error, bool&) {
            std::rethrow_exception(error);
        }
    };

    F state_;
    std::tuple<C...> clauses_;
};

/// What waits in a task that yielded.
template <class M, class F>
class ResumeTurn {
public:
    explicit ResumeTurn(F state) : state_(std::move(state)) {}

    void operator()(TaskCore& task, Delivery& delivery) {
        if (delivery.outcome.failed()) {
            task.pass_on(std::move(delivery.outcome));
            return;
        }
        Callee<M, F> callee{static_cast<M&>(*task.machine), state_};
        callee();
    }

private:
    F state_;
};

}  // namespace detail
}  // namespace reactor

#endif
