// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_VALUE_PASSING_HPP
#define REACTOR_DETAIL_VALUE_PASSING_HPP

#include <reactor/detail/value_state.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace reactor {
namespace detail {

// How a value gets out of a promise. By value it is moved if nobody else can see the promise, else
// copied; a move-only value is moved, once.

/// std::is_copy_constructible, and the same of what it contains: a vector of move-only elements
/// claims to be copyable and fails to compile when it is copied.
template <class T, class = void>
struct IsCopyable : std::is_copy_constructible<T> {};

template <bool... B>
struct Bools {};
template <bool... B>
using All = std::is_same<Bools<true, B...>, Bools<B..., true>>;

template <class A, class B>
struct IsCopyable<std::pair<A, B>, void> : All<IsCopyable<A>::value, IsCopyable<B>::value> {};
template <class... A>
struct IsCopyable<std::tuple<A...>, void> : All<IsCopyable<A>::value...> {};
template <class T>
struct IsCopyable<T, typename std::enable_if<!std::is_same<typename T::value_type, T>::value>::type>
    : All<std::is_copy_constructible<T>::value, IsCopyable<typename T::value_type>::value> {};

/// What result() returns.
template <class T>
struct ResultReference {
    using type = const T&;
};
template <>
struct ResultReference<void> {
    using type = void;
};

template <class T>
const T& read_value(ValueState<T>& state) {
    state.check_value("result");
    return state.value();
}
inline void read_value(ValueState<void>& state) { state.check_value("result"); }

/// Moves the value out; throws InvalidStateError if that was done before.
template <class T>
T&& take_value(ValueState<T>& state, const char* call) {
    state.check_value(call);
    state.taken = true;
    return std::move(state.value());
}
inline void take_value(ValueState<void>& state, const char* call) { state.check_value(call); }

template <class T>
T pass_value(ValueState<T>& state, std::int32_t held, std::true_type /*copyable*/) {
    if (state.count.total() <= held) return take_value(state, "take");
    return read_value(state);
}
template <class T>
T pass_value(ValueState<T>& state, std::int32_t, std::false_type) {
    return take_value(state, "take");
}
/// The value by value, of a promise of which the caller holds `held` references. Throws what
/// result() throws.
template <class T>
T pass_value(ValueState<T>& state, std::int32_t held = 1) {
    return detail::pass_value(state, held, std::integral_constant<bool, IsCopyable<T>::value>());
}
inline void pass_value(ValueState<void>& state, std::int32_t = 1) { state.check_value("take"); }

/// Completes `to` as `from` is done.
template <class T>
void pass_outcome(ValueState<T>& from, ValueState<T>& to) {
    if (from.status == PromiseStatus::value) {
        to.set(detail::pass_value(from));
    } else {
        to.fail_like(from);
    }
}
inline void pass_outcome(ValueState<void>& from, ValueState<void>& to) {
    if (from.status == PromiseStatus::value) {
        to.set();
    } else {
        to.fail_like(from);
    }
}

}  // namespace detail
}  // namespace reactor

#endif
