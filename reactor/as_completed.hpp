// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_AS_COMPLETED_HPP
#define REACTOR_AS_COMPLETED_HPP

#include <reactor/clock.hpp>
#include <reactor/detail/completion_order.hpp>
#include <reactor/here.hpp>
#include <reactor/promise.hpp>

#include <chrono>
#include <utility>
#include <vector>

namespace reactor {

/// As many promises as there are different ones among `promises`: the first has the outcome of that
/// which is done first, and so on, each one iteration after it. Called on the loop's thread; the
/// results belong to the loop of `promises`.
///
///     for (Promise<Page>& page : as_completed(fetches)) page.then(show);
///
/// Nobody has to hold the results: what will complete `promises` keeps them. Cancelling one of them
/// cancels nothing else, and the outcome that would have been its own goes nowhere; once all have
/// ended, `promises` carry no callback of them any more. A promise that is dropped while it is
/// pending counts as one that ends then, with BrokenPromise. Of nothing, nothing. Throws
/// std::invalid_argument for promises of different loops, StateError for an empty one and on a
/// closed loop. asyncio: as_completed.
template <class P, class T = detail::ValueOf<P>>
std::vector<Promise<T>> as_completed(std::vector<P> promises, Here here = Here()) {
    return detail::order_by_completion<T>(std::move(promises), forever(), here);
}

/// The same, but what has not come after `limit` fails with TimeoutError (which is not reported if
/// nobody reads it); nothing is cancelled. No limit: forever() or an infinite duration. Throws
/// std::invalid_argument for NaN as well.
template <class P, class Rep, class Period, class T = detail::ValueOf<P>>
std::vector<Promise<T>> as_completed(std::vector<P> promises,
                                     std::chrono::duration<Rep, Period> limit, Here here = Here()) {
    return detail::order_by_completion<T>(std::move(promises), saturated(limit, "as_completed"),
                                          here);
}

}  // namespace reactor

#endif
