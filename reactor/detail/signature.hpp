// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_SIGNATURE_HPP
#define REACTOR_DETAIL_SIGNATURE_HPP

#include <type_traits>

namespace reactor {
namespace detail {

/// A type as a value, to choose an overload by.
template <class T>
struct Is {
    using type = T;
};

template <class... A>
struct Types {};

/// Result and parameters of a callable that has exactly one signature: a function, a member
/// function (without its object), a lambda or other class with one operator(). `known` is false for
/// the rest: generic lambdas, overloads, std::bind.
template <class F, class = void>
struct Signature {
    static constexpr bool known = false;
    using Result = void;
    using Parameters = Types<>;
};

template <class>
struct Exists {
    using type = void;
};

template <class F>
struct Signature<F, typename Exists<decltype(&F::operator())>::type>
    : Signature<decltype(&F::operator())> {};

#define REACTOR_SIGNATURE(...)              \
    struct Signature<__VA_ARGS__, void> {   \
        static constexpr bool known = true; \
        using Result = R;                   \
        using Parameters = Types<A...>;     \
    }
#define REACTOR_SIGNATURES(NOEXCEPT)                   \
    template <class R, class... A>                     \
    REACTOR_SIGNATURE(R (*)(A...) NOEXCEPT);           \
    template <class R, class C, class... A>            \
    REACTOR_SIGNATURE(R (C::*)(A...) NOEXCEPT);        \
    template <class R, class C, class... A>            \
    REACTOR_SIGNATURE(R (C::*)(A...) const NOEXCEPT);  \
    template <class R, class C, class... A>            \
    REACTOR_SIGNATURE(R (C::*)(A...) & NOEXCEPT);      \
    template <class R, class C, class... A>            \
    REACTOR_SIGNATURE(R (C::*)(A...) const& NOEXCEPT); \
    template <class R, class C, class... A>            \
    REACTOR_SIGNATURE(R (C::*)(A...) && NOEXCEPT)

REACTOR_SIGNATURES();
#ifdef __cpp_noexcept_function_type
REACTOR_SIGNATURES(noexcept);
#endif

#undef REACTOR_SIGNATURES
#undef REACTOR_SIGNATURE

/// What is left of a callable's parameters once the first is bound; a member function's object is
/// not among them.
template <class F, bool member = std::is_member_function_pointer<F>::value>
struct SignatureAfterFirst : Signature<F> {};

template <class>
struct WithoutFirst {
    using type = Types<>;
};
template <class A, class... B>
struct WithoutFirst<Types<A, B...>> {
    using type = Types<B...>;
};
template <class F>
struct SignatureAfterFirst<F, false> {
    static constexpr bool known = Signature<F>::known;
    using Parameters = typename WithoutFirst<typename Signature<F>::Parameters>::type;
};

template <class>
struct OnlyType {
    static constexpr bool known = false;
    using type = void;
};
template <class A>
struct OnlyType<Types<A>> {
    static constexpr bool known = true;
    using type = A;
};

/// The one parameter of a callable: what its catch clause is.
template <class F>
using OnlyParameter = OnlyType<typename Signature<F>::Parameters>;

}  // namespace detail
}  // namespace reactor

#endif
