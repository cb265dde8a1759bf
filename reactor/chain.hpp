// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_CHAIN_HPP
#define REACTOR_CHAIN_HPP

#include <reactor/detail/chain_link.hpp>
#include <reactor/promise.hpp>

#include <memory>
#include <utility>

namespace reactor {

/// Lets `destination` take the outcome of `source`, and `source` the cancellation of `destination`:
/// the one way for promises of two loops, on two threads, to wait for each other. Called on the
/// thread of either loop. asyncio: what wrap_future() is made of (_chain_future).
///
///     Promise<Page> here = mine.create_promise<Page>();
///     chain(other_loops_promise, here);           // both loops go on running on their threads
///     here.then(show);
///
/// On one loop `destination` follows one iteration after `source`, and the other way round. Between
/// two the outcome is posted: the value moved if nobody else holds `source`, else copied; a
/// move-only value is moved, once. If the destination's loop is closed the outcome is dropped, but
/// an error stays unread with `source`. Whoever completes `source` keeps `destination`, not the
/// other way round; if `source` is dropped while it is pending, or its loop closed, `destination`
/// breaks (BrokenPromise). A destination that somebody else completes keeps what it has.
///
/// Throws StateError for an empty promise, for one chained into itself, for a destination that is
/// a task's promise, on a third thread while the loops run, and on a closed loop if both are of it
/// or it is the caller's.
template <class T>
void chain(Promise<T> source, Promise<T> destination) {
    const bool at_source = detail::check_chain(source, destination);
    detail::LoopCore& of_source = *detail::PromiseAccess::state(source)->core;
    detail::LoopCore& of_destination = *detail::PromiseAccess::state(destination)->core;
    const bool one_loop = &of_source == &of_destination;
    const auto ends = std::make_shared<detail::ChainEnds>(of_source, one_loop);
    detail::TieDestination far(destination, ends);
    detail::TieSource<T> near(std::move(source), std::move(destination), ends);
    // The watch first, so that it holds no destination any more when the source is let go of.
    if (at_source && !one_loop) {
        detail::post_to(of_destination, Callback(std::move(far)));
    } else {
        far();
    }
    if (at_source) {
        near();
    } else {
        detail::post_to(of_source, Callback(std::move(near)));
    }
}

}  // namespace reactor

#endif
