// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_STAGGERED_RACE_HPP
#define REACTOR_NET_STAGGERED_RACE_HPP

#include <reactor/clock.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace reactor {
namespace net {

/// How a staggered race ended. A value, like the promise in it.
template <class T>
struct RaceOutcome {
    Promise<T> winner;      ///< done, with the value; empty if nobody won
    std::size_t index = 0;  ///< the winner's, among the starters
    /// One for each attempt that was started: why it lost, CancelledError for one that was still
    /// under way; null for the winner.
    std::vector<std::exception_ptr> errors;
};

namespace detail {

template <class T>
class StaggeredRace;

}  // namespace detail

/// Starts one attempt after the other, each when the one before it has failed or has had `delay`,
/// until one succeeds; the others are cancelled then, and their end awaited. forever(): only when
/// the one before it has failed. It does not fail if all attempts do: the outcome has no winner
/// then. Of two that succeed before the race can look, the first is the winner; the other's value
/// is destroyed. Starters are called from the loop, and what they throw is their attempt's error.
/// Cancelling the race cancels the attempts. Throws std::invalid_argument for an empty starter and
/// for a delay that is NaN. On the loop's thread. asyncio: staggered.staggered_race; RFC 8305.
template <class T, class Rep, class Period>
Promise<RaceOutcome<T>> staggered_race(EventLoop& loop,
                                       std::vector<std::function<Promise<T>()>> starters,
                                       std::chrono::duration<Rep, Period> delay) {
    loop.core().check("staggered_race");
    const Duration length = saturated(delay);
    for (const std::function<Promise<T>()>& starter : starters) {
        if (!starter) throw std::invalid_argument("staggered_race: a starter is empty");
    }
    return loop.create_task<detail::StaggeredRace<T>>(std::move(starters), length);
}

}  // namespace net
}  // namespace reactor

#include <net/detail/staggered_racing.hpp>

#endif
