// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_PROMISE_VALUES_HPP
#define REACTOR_DETAIL_PROMISE_VALUES_HPP

#include <reactor/detail/done_callback.hpp>
#include <reactor/detail/invoke.hpp>
#include <reactor/detail/value_state.hpp>

#include <cstddef>
#include <tuple>
#include <vector>

namespace reactor {

template <class T>
class Promise;

namespace detail {

// Values that consist of promises: those of gather_settled() and its kin. Seen wherever a Promise
// is complete, so that each state of such a value knows of them.

template <class T>
void overrule(const Promise<T>& promise) noexcept {
    if (promise) PromiseAccess::state(promise)->overrule();
}

template <class T>
struct Outcomes<Promise<T>> {
    static void overrule(const Promise<T>& promise) noexcept { detail::overrule(promise); }
};

template <class T>
struct Outcomes<std::vector<Promise<T>>> {
    static void overrule(const std::vector<Promise<T>>& promises) noexcept {
        for (const Promise<T>& promise : promises) detail::overrule(promise);
    }
};

template <class... T>
struct Outcomes<std::tuple<Promise<T>...>> {
    static void overrule(const std::tuple<Promise<T>...>& promises) noexcept {
        each(promises, IndicesFor<sizeof...(T)>());
    }
    template <std::size_t... I>
    static void each(const std::tuple<Promise<T>...>& promises, Indices<I...>) noexcept {
        static_cast<void>(promises);
        const int in_order[] = {0, (detail::overrule(std::get<I>(promises)), 0)...};
        static_cast<void>(in_order);
    }
};

}  // namespace detail
}  // namespace reactor

#endif
