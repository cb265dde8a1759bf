// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_WAIT_HPP
#define REACTOR_WAIT_HPP

#include <reactor/clock.hpp>
#include <reactor/detail/wait_set.hpp>
#include <reactor/here.hpp>
#include <reactor/promise.hpp>

#include <chrono>
#include <utility>
#include <vector>

namespace reactor {

// Waiting for some of many promises, which go on whatever comes of the wait. Called on the loop's
// thread; the result belongs to the loop of what is waited for.

/// Promises that are done and promises that are not, in the order in which they were given; each
/// once. A value.
template <class P>
struct WaitResult {
    std::vector<P> done;
    std::vector<P> pending;
};

/// The promises themselves, parted, as soon as all are done, the first is done, or the first has
/// failed (a cancelled one has not; if none fails, when all are done). `P` is a Promise<T>, a
/// TaskHandle<T>, or AnyPromise for promises of different types.
///
///     wait(std::vector<AnyPromise>{answer, hung_up}, seconds(5), ReturnWhen::first_completed)
///         .then([](WaitResult<AnyPromise> w) { for (AnyPromise& p : w.pending) p.cancel(); });
///
/// Does not fail if they do; an error that nobody reads there is reported as ever. If what is asked
/// for has come already, the result is done at once, else one iteration after the promise that
/// brings it, and whatever is done by then is in `done`. Afterwards none of the promises carries a
/// callback of the wait. cancel() of the result cancels the wait alone, at once. A promise that is
/// dropped while it is pending breaks it (BrokenPromise): the wait keeps none of them. Throws
/// std::invalid_argument for no promise at all and for promises of different loops, StateError for
/// an empty one and on a closed loop. asyncio: wait.
template <class P>
Promise<WaitResult<P>> wait(std::vector<P> promises, ReturnWhen when = ReturnWhen::all_completed,
                            Here here = Here()) {
    return detail::wait_for_some<WaitResult<P>>(std::move(promises), forever(), when, here);
}

/// The same, but after `limit` at the latest, with what is done by then. That is no error, and the
/// others are not cancelled. Zero or negative: in the next iteration. No limit: forever() or an
/// infinite duration. Throws std::invalid_argument for NaN as well.
template <class P, class Rep, class Period>
Promise<WaitResult<P>> wait(std::vector<P> promises, std::chrono::duration<Rep, Period> limit,
                            ReturnWhen when = ReturnWhen::all_completed, Here here = Here()) {
    return detail::wait_for_some<WaitResult<P>>(std::move(promises), saturated(limit, "wait"), when,
                                                here);
}

}  // namespace reactor

#endif
