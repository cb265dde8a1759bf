// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_COMBINATORS_HPP
#define REACTOR_COMBINATORS_HPP

#include <reactor/clock.hpp>
#include <reactor/detail/gather.hpp>
#include <reactor/detail/wait_for.hpp>
#include <reactor/promise.hpp>

#include <chrono>
#include <tuple>
#include <utility>
#include <vector>

namespace reactor {

// Promises made of other promises, and of time. Called on the loop's thread; the result belongs to
// the loop of what it is made of. What is made of a promise keeps it no longer than it is pending:
// who will complete it must do that.

/// A promise that is done once `delay` has passed; cancelling it cancels its timer. forever() or an
/// infinite floating-point delay: only by cancelling. Throws StateError if no loop runs on this
/// thread, std::invalid_argument for NaN. asyncio: sleep.
template <class Rep, class Period>
Promise<void> sleep(std::chrono::duration<Rep, Period> delay, Here here = Here()) {
    EventLoop& loop =
        detail::running_loop_for("sleep", "call from a callback, or sleep(loop, delay)");
    return detail::sleep_for(loop, saturated(delay, "sleep"), here);
}
/// The same on a loop that need not run yet. Throws StateError if it is closed.
template <class Rep, class Period>
Promise<void> sleep(EventLoop& loop, std::chrono::duration<Rep, Period> delay, Here here = Here()) {
    return detail::sleep_for(loop, saturated(delay, "sleep"), here);
}

/// The outcome of `promise`, or TimeoutError if that takes longer than `limit`. The promise is then
/// cancelled, and its end awaited: TimeoutError comes only after it has really ended, and not at
/// all if it ends with a value or another error in spite of the cancellation. If value and expiry
/// meet in one iteration, the value wins. Cancelling the result cancels the promise. No limit:
/// forever() or an infinite duration. Throws std::invalid_argument for NaN. asyncio: wait_for.
template <class T, class Rep, class Period>
Promise<T> wait_for(Promise<T> promise, std::chrono::duration<Rep, Period> limit,
                    Here here = Here()) {
    return detail::wait_at_most(std::move(promise), saturated(limit, "wait_for"), here);
}

/// The values of all, in the order of the arguments; Unit stands for void. The first failure seen
/// is the result's; the others go on, and what becomes of them counts as read. A cancelled one
/// fails it with CancelledError. Cancelling the result cancels all that are pending; it ends with
/// CancelledError when they have ended, and is not `cancelled()` itself. If all are done already,
/// so is the result; of nothing, on get_event_loop(). A promise given twice is awaited once. Throws
/// std::invalid_argument for promises of different loops, StateError for an empty one and on a
/// closed loop. asyncio: gather.
template <class... T>
Promise<std::tuple<detail::Gathered<T>...>> gather(Promise<T>... promises) {
    using Values = std::tuple<detail::Gathered<T>...>;
    return detail::gather_all<Values>(detail::as_list(std::move(promises)...),
                                      &detail::collect_tuple<Values, T...>, false);
}
/// The same for any number of promises (or task handles) of one type.
template <class P, class T = detail::ValueOf<P>>
Promise<std::vector<detail::Gathered<T>>> gather(std::vector<P> promises) {
    return detail::gather_all<std::vector<detail::Gathered<T>>>(detail::as_list(promises),
                                                                &detail::collect_vector<T>, false);
}

/// Waits for all and gives the promises themselves, done: it does not fail if they do. An error
/// that nobody reads there is reported as ever; not so if a cancellation comes before the result
/// has reached whoever waits for it. asyncio: gather(…, return_exceptions=True).
template <class... T>
Promise<std::tuple<Promise<T>...>> gather_settled(Promise<T>... promises) {
    using Values = std::tuple<Promise<T>...>;
    return detail::gather_all<Values>(detail::as_list(std::move(promises)...),
                                      &detail::settled_tuple<T...>, true);
}
template <class P, class T = detail::ValueOf<P>>
Promise<std::vector<Promise<T>>> gather_settled(std::vector<P> promises) {
    return detail::gather_all<std::vector<Promise<T>>>(detail::as_list(promises),
                                                       &detail::settled_vector<T>, true);
}

}  // namespace reactor

#endif
