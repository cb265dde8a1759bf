// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_INVOKE_HPP
#define REACTOR_DETAIL_INVOKE_HPP

#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace reactor {

class Callback;

namespace detail {

// What C++14 and 17 call index_sequence and invoke. Calls inside the library are always qualified:
// an unqualified invoke(…) would be ambiguous with std::invoke by argument-dependent look-up from
// C++17 on, and inside a SFINAE test the ambiguity silently means "not callable".

template <std::size_t... I>
struct Indices {};
template <std::size_t N, std::size_t... I>
struct MakeIndices : MakeIndices<N - 1, N - 1, I...> {};
template <std::size_t... I>
struct MakeIndices<0, I...> {
    using type = Indices<I...>;
};
template <std::size_t N>
using IndicesFor = typename MakeIndices<N>::type;

template <class F>
struct Invoker {
    template <class G, class... A>
    static auto call(G&& g, A&&... a) -> decltype(std::forward<G>(g)(std::forward<A>(a)...)) {
        return std::forward<G>(g)(std::forward<A>(a)...);
    }
};

// Member functions and data members, on an object, a reference or anything that * takes to one.
template <class M, class C>
struct Invoker<M C::*> {
    template <class O>
    using IsObject = std::is_base_of<C, typename std::decay<O>::type>;

    template <class O, class... A>
    static auto on(std::true_type, M C::*f, O&& o, A&&... a)
        -> decltype((std::forward<O>(o).*f)(std::forward<A>(a)...)) {
        return (std::forward<O>(o).*f)(std::forward<A>(a)...);
    }
    template <class O, class... A>
    static auto on(std::false_type, M C::*f, O&& o, A&&... a)
        -> decltype(((*std::forward<O>(o)).*f)(std::forward<A>(a)...)) {
        return ((*std::forward<O>(o)).*f)(std::forward<A>(a)...);
    }
    template <class O, class... A>
    static auto call(M C::*f, O&& o, A&&... a)
        -> decltype(on(IsObject<O>(), f, std::forward<O>(o), std::forward<A>(a)...)) {
        return on(IsObject<O>(), f, std::forward<O>(o), std::forward<A>(a)...);
    }
};

template <class F, class... A>
auto invoke(F&& f, A&&... a)
    -> decltype(Invoker<typename std::decay<F>::type>::call(std::forward<F>(f),
                                                            std::forward<A>(a)...)) {
    return Invoker<typename std::decay<F>::type>::call(std::forward<F>(f), std::forward<A>(a)...);
}

template <class F, class... A>
struct IsInvocable {
    template <class G>
    static auto test(int)
        -> decltype(detail::invoke(std::declval<G>(), std::declval<A>()...), std::true_type());
    template <class>
    static std::false_type test(...);
    static constexpr bool value = decltype(test<F>(0))::value;
};

template <class F, class... A>
using InvokeResult = decltype(detail::invoke(std::declval<F>(), std::declval<A>()...));

// A bound argument as the call sees it: std::ref is undone, everything else is moved.
template <class T>
struct Unwrap {
    using Moved = T&&;
    using Kept = T&;
    static T&& move(T& t) { return static_cast<T&&>(t); }
    static T& keep(T& t) { return t; }
};
template <class T>
struct Unwrap<std::reference_wrapper<T>> {
    using Moved = T&;
    using Kept = T&;
    static T& move(std::reference_wrapper<T>& t) { return t.get(); }
    static T& keep(std::reference_wrapper<T>& t) { return t.get(); }
};

#define REACTOR_BINDING_SENTENCE                                                          \
    "the callable cannot be called with these arguments (a null pointer is nullptr, not " \
    "NULL or 0; a reference is std::ref; a member function takes its object first)"

/// A callable and its arguments as decayed copies, called once: with rvalues if the callable takes
/// them, else with lvalues, so that both `f(std::unique_ptr<T>)` and `f(T&)` work on what was
/// bound.
template <class F, class... A>
class BoundOnce {
public:
    template <class G, class... B>
    explicit BoundOnce(G&& f, B&&... arguments)
        : f_(std::forward<G>(f)), arguments_(std::forward<B>(arguments)...) {}

    static constexpr bool takes_rvalues = IsInvocable<F, typename Unwrap<A>::Moved...>::value;
    static_assert(takes_rvalues || IsInvocable<F&, typename Unwrap<A>::Kept...>::value,
                  REACTOR_BINDING_SENTENCE);

    void operator()() {
        call(std::integral_constant<bool, takes_rvalues>(), IndicesFor<sizeof...(A)>());
    }

private:
    template <std::size_t... I>
    void call(std::true_type, Indices<I...>) {
        detail::invoke(std::move(f_), Unwrap<A>::move(std::get<I>(arguments_))...);
    }
    template <std::size_t... I>
    void call(std::false_type, Indices<I...>) {
        detail::invoke(f_, Unwrap<A>::keep(std::get<I>(arguments_))...);
    }

    F f_;
    std::tuple<A...> arguments_;
};

/// The same, called many times: always with lvalues.
template <class F, class... A>
class BoundMany {
public:
    template <class G, class... B>
    explicit BoundMany(G&& f, B&&... arguments)
        : f_(std::forward<G>(f)), arguments_(std::forward<B>(arguments)...) {}

    static_assert(IsInvocable<F&, typename Unwrap<A>::Kept...>::value, REACTOR_BINDING_SENTENCE);

    void operator()() { call(IndicesFor<sizeof...(A)>()); }

private:
    template <std::size_t... I>
    void call(Indices<I...>) {
        detail::invoke(f_, Unwrap<A>::keep(std::get<I>(arguments_))...);
    }

    F f_;
    std::tuple<A...> arguments_;
};

// Without arguments the callable needs no wrapper: smaller, and one call less to inline.
template <class F>
class BoundOnce<F> {
public:
    template <class G>
    explicit BoundOnce(G&& f) : f_(std::forward<G>(f)) {}
    static_assert(IsInvocable<F>::value || IsInvocable<F&>::value, REACTOR_BINDING_SENTENCE);

    void operator()() { call(std::integral_constant<bool, IsInvocable<F&>::value>()); }

private:
    void call(std::true_type) { f_(); }
    void call(std::false_type) { std::move(f_)(); }

    F f_;
};
template <class F>
class BoundMany<F> {
public:
    template <class G>
    explicit BoundMany(G&& f) : f_(std::forward<G>(f)) {}
    static_assert(IsInvocable<F&>::value, REACTOR_BINDING_SENTENCE);

    void operator()() { f_(); }

private:
    F f_;
};

#undef REACTOR_BINDING_SENTENCE

template <class F, class... A>
using BindOnce = BoundOnce<typename std::decay<F>::type, typename std::decay<A>::type...>;
template <class F, class... A>
using BindMany = BoundMany<typename std::decay<F>::type, typename std::decay<A>::type...>;

// A callable that is there but names nothing is refused when it is given, not when it is due.
template <class F>
bool is_null(const F&) noexcept {
    return false;
}
template <class R, class... A>
bool is_null(R (*f)(A...)) noexcept {
    return f == nullptr;
}
template <class M, class C>
bool is_null(M C::*f) noexcept {
    return f == nullptr;
}
template <class S>
bool is_null(const std::function<S>& f) noexcept {
    return !f;
}

bool is_null(const Callback& f) noexcept;

[[noreturn]] void throw_null_callable(const char* call);

template <class F>
void refuse_null(const F& f, const char* call) {
    if (detail::is_null(f)) throw_null_callable(call);
}

}  // namespace detail
}  // namespace reactor

#endif
