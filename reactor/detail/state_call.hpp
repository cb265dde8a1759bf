// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_STATE_CALL_HPP
#define REACTOR_DETAIL_STATE_CALL_HPP

#include <reactor/detail/invoke.hpp>
#include <reactor/detail/signature.hpp>
#include <reactor/detail/task_core.hpp>
#include <reactor/detail/value_passing.hpp>
#include <reactor/promise.hpp>

#include <cstddef>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

namespace reactor {
namespace detail {

// How a state, or a clause, of a task is called with what its promise brought.

template <class F>
using ParametersOf = typename Signature<F>::Parameters;
template <class F>
using ReturnsNext = std::is_same<typename Signature<F>::Result, Next>;

template <class P>
struct FirstParameter {
    using type = void;
};
template <class A, class... Rest>
struct FirstParameter<Types<A, Rest...>> {
    using type = A;
};

// ---- what fits ------------------------------------------------------------------------------

/// Whether a parameter of type P takes a T: by value, by const reference, by rvalue reference.
template <class T, class P>
using ParameterTakes =
    std::integral_constant<bool,
                           std::is_same<typename std::decay<P>::type, T>::value &&
                               !(std::is_lvalue_reference<P>::value &&
                                 !std::is_const<typename std::remove_reference<P>::type>::value)>;

template <class T, class P>
struct StateTakes : std::false_type {};
template <class T>
struct StateTakes<T, Types<>> : std::true_type {};
template <class T, class P>
struct StateTakes<T, Types<P>>
    : std::integral_constant<bool, ParameterTakes<T, P>::value ||
                                       ParameterTakes<Promise<T>, P>::value> {};
template <class... E, class P, class Q, class... R>
struct StateTakes<std::tuple<E...>, Types<P, Q, R...>>
    : std::is_same<std::tuple<E...>,
                   std::tuple<typename std::decay<P>::type, typename std::decay<Q>::type,
                              typename std::decay<R>::type...>> {};

/// A clause: `const SomeError&`, or std::exception_ptr for all.
template <class F>
struct Clause {
    using Parameter = typename FirstParameter<ParametersOf<F>>::type;
    static constexpr bool takes_all =
        std::is_same<typename std::decay<Parameter>::type, std::exception_ptr>::value;
    static constexpr bool valid =
        std::is_same<ParametersOf<F>, Types<Parameter>>::value &&
        (takes_all || (std::is_lvalue_reference<Parameter>::value &&
                       std::is_const<typename std::remove_reference<Parameter>::type>::value));
    static constexpr bool takes_cancellation =
        takes_all || std::is_same<typename std::decay<Parameter>::type, CancelledError>::value;
};

// ---- the call -------------------------------------------------------------------------------

/// A state or clause bound to its machine of type M, which may be a base of the state's class.
template <class M, class F>
struct Callee {
    M& machine;
    F& f;

    template <class... A>
    void operator()(A&&... arguments) const {
        static_cast<void>(Next(f(std::forward<A>(arguments)...)));
    }
};
template <class M, class S, class Function>
struct Callee<M, Function S::*> {
    M& machine;
    Function S::*f;

    template <class... A>
    void operator()(A&&... arguments) const {
        static_cast<void>(Next((static_cast<S&>(machine).*f)(std::forward<A>(arguments)...)));
    }
};

/// Calls a state with a value in the way its parameters ask for: `const T&` looks at it, by value
/// it is moved if nobody else can see the promise, else copied.
template <class T, class P>
struct PassValue;
template <class T>
struct PassValue<T, Types<>> {
    template <class C>
    static void call(const C& callee, ValueState<T>&) {
        callee();
    }
};
template <class T, class P>
struct PassValue<T, Types<P>> {
    template <class C>
    static void call(const C& callee, ValueState<T>& state) {
        callee(pass_value(state));
    }
};
template <class T>
struct PassValue<T, Types<const T&>> {
    template <class C>
    static void call(const C& callee, ValueState<T>& state) {
        state.check_value("await");
        callee(static_cast<const T&>(state.value()));
    }
};
template <class... E, class P, class Q, class... R>
struct PassValue<std::tuple<E...>, Types<P, Q, R...>> {
    template <class C>
    static void call(const C& callee, ValueState<std::tuple<E...>>& state) {
        spread(callee, pass_value(state), IndicesFor<sizeof...(E)>());
    }
    template <class C, std::size_t... I>
    static void spread(const C& callee, std::tuple<E...> values, Indices<I...>) {
        callee(std::get<I>(std::move(values))...);
    }
};

}  // namespace detail
}  // namespace reactor

#endif
