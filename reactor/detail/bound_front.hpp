// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_BOUND_FRONT_HPP
#define REACTOR_DETAIL_BOUND_FRONT_HPP

#include <reactor/detail/invoke.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace reactor {
namespace detail {

/// A callable and its first arguments, called many times with more of them behind: what C++20 calls
/// bind_front, with std::ref undone. The bound ones are passed as lvalues.
template <class F, class... B>
class BoundFront {
public:
    template <class G, class... C>
    explicit BoundFront(G&& f, C&&... bound)
        : f_(std::forward<G>(f)), bound_(std::forward<C>(bound)...) {}

    template <class... A>
    using Result = InvokeResult<F&, typename Unwrap<B>::Kept..., A...>;

    template <class... A>
    Result<A...> operator()(A&&... arguments) {
        return call(IndicesFor<sizeof...(B)>(), std::forward<A>(arguments)...);
    }

private:
    template <std::size_t... I, class... A>
    Result<A...> call(Indices<I...>, A&&... arguments) {
        return detail::invoke(f_, Unwrap<B>::keep(std::get<I>(bound_))...,
                              std::forward<A>(arguments)...);
    }

    F f_;
    std::tuple<B...> bound_;
};

template <class F, class... B>
using BindFront = BoundFront<typename std::decay<F>::type, typename std::decay<B>::type...>;

}  // namespace detail
}  // namespace reactor

#endif
