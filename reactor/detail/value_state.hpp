// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_VALUE_STATE_HPP
#define REACTOR_DETAIL_VALUE_STATE_HPP

#include <reactor/detail/promise_state.hpp>

#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace reactor {
namespace detail {

/// Memory of a state from its loop's pool: `S* s = make_state<S>(core, here, …)`, for a state class
/// `struct S final : Pooled<S, Base>`, whose constructor does not throw; one reference, the
/// caller's. On the loop's thread.
template <class S, class... A>
S* make_state(LoopCore& core, A&&... arguments) {
    struct Memory {
        LoopCore& core;
        void* memory;
        ~Memory() {
            if (memory) core.pool.put(memory, sizeof(S));
        }
    } guard{core, core.pool.get(sizeof(S))};
    S* const state = ::new (guard.memory) S(core, std::forward<A>(arguments)...);
    guard.memory = nullptr;
    return state;
}

template <class S, class Base>
struct Pooled : Base {
    using Base::Base;
    void destroy() noexcept override {
        LoopCore* const loop_core = this->core;
        S* const self = static_cast<S*>(this);
        self->~S();
        loop_core->pool.put(self, sizeof(S));
        loop_core->forget();
    }
};

template <class T, class... A>
struct CanHold : std::is_constructible<T, A...> {};
template <class... A>
struct CanHold<void, A...> : std::integral_constant<bool, sizeof...(A) == 0> {};

/// What of a value has an outcome of its own: promise_values.hpp knows those that have. Promises of
/// other loops than `core` are left alone: they are other threads'.
template <class T>
struct Outcomes {
    static void overrule(T&, const LoopCore*) noexcept {}
};

/// The state with room for the value.
template <class T>
struct ValueState : PromiseState {
    using PromiseState::PromiseState;

    void overrule() noexcept override {
        this->retrieved = true;
        if (has_value) Outcomes<T>::overrule(value(), this->core);
    }

    T& value() noexcept { return *reinterpret_cast<T*>(&room); }

    template <class... A>
    void emplace(A&&... arguments) {
        clear_value();
        ::new (static_cast<void*>(&room)) T(std::forward<A>(arguments)...);
        has_value = true;
    }
    void clear_value() noexcept {
        if (has_value) {
            has_value = false;
            value().~T();
        }
    }
    template <class... A>
    void set(A&&... arguments) {
        this->require_pending("set_result");
        emplace(std::forward<A>(arguments)...);
        this->settle(PromiseStatus::value);
    }

    template <class... A>
    void set_if(std::true_type, A&&... arguments) {
        set(std::forward<A>(arguments)...);
    }
    template <class... A>
    void set_if(std::false_type, A&&...) {}  // an assertion has failed

    typename std::aligned_storage<sizeof(T), alignof(T)>::type room;
    bool has_value = false;

protected:
    ~ValueState() override { clear_value(); }
};

template <>
struct ValueState<void> : PromiseState {
    using PromiseState::PromiseState;

    void emplace() noexcept {}
    void clear_value() noexcept {}
    void set() {
        this->require_pending("set_result");
        this->settle(PromiseStatus::value);
    }
    void set_if(std::true_type) { set(); }
    template <class... A>
    void set_if(std::false_type, A&&...) {}

protected:
    ~ValueState() override = default;
};

/// A plain promise's state.
template <class T>
struct PlainState final : Pooled<PlainState<T>, ValueState<T>> {
    using Pooled<PlainState<T>, ValueState<T>>::Pooled;
};

/// The state of a promise that stands for an operation: a connect, a read, a job on a thread.
///
///     struct Read final : Pooled<Read, OperationState<Bytes>> {
///         using Pooled::Pooled;
///         void abandon() noexcept override { handle.cancel(); }
///         Handle handle;
///     };
///
/// Whoever will complete it (the timer, the watch) owns a reference, so that the operation need not
/// be held by anybody else; he looks at done() first and lets go of what comes too late, since a
/// cancelled promise is done at once.
template <class T>
struct OperationState : ValueState<T> {
    using ValueState<T>::ValueState;

    /// The promise was cancelled just now: end the operation, drop the reference that it owns.
    virtual void abandon() noexcept = 0;

    PromiseState* cancel_step(const std::string& message, bool& took) override {
        took = this->cancel_now(message);
        if (took) abandon();
        return nullptr;
    }
};

}  // namespace detail
}  // namespace reactor

#endif
