// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_LOOP_MAIN_HPP
#define REACTOR_DETAIL_LOOP_MAIN_HPP

#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

namespace reactor {
namespace detail {

/// What a loop of a group runs: the end of the promise is its end.
using LoopMain = std::function<Promise<void>(EventLoop&, std::size_t)>;

inline Promise<void> without_value(Promise<void> promise) { return promise; }
template <class T>
Promise<void> without_value(const Promise<T>& promise) {
    return promise.then([] {});
}

template <class F>
using LoopMainResult =
    decltype(std::declval<F&>()(std::declval<EventLoop&>(), std::declval<std::size_t>()));

/// One that calls f, which returns nothing: the promise is pending until it is cancelled.
template <class F>
typename std::enable_if<std::is_void<LoopMainResult<F>>::value, LoopMain>::type loop_main(F f) {
    return [f](EventLoop& loop, std::size_t index) mutable {
        f(loop, index);
        return loop.create_promise<void>();
    };
}
/// The same for one that returns a promise or a task.
template <class F>
typename std::enable_if<!std::is_void<LoopMainResult<F>>::value, LoopMain>::type loop_main(F f) {
    return
        [f](EventLoop& loop, std::size_t index) mutable { return without_value(f(loop, index)); };
}

}  // namespace detail
}  // namespace reactor

#endif
