// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_BIRTHS_HPP
#define REACTOR_DETAIL_BIRTHS_HPP

#include <reactor/clock.hpp>
#include <reactor/detail/promise_state.hpp>
#include <reactor/event_loop.hpp>

#include <cstddef>
#include <unordered_map>

namespace reactor {
namespace detail {

/// When the pending promises of a loop were made, those that were made in debug mode: a service of
/// the loop, so that who does not debug pays with neither memory nor the clock. A promise takes
/// itself out when it is done or goes.
class Births {
public:
    explicit Births(EventLoop& loop) : core_(loop.core()) { core_.births = this; }
    ~Births() { core_.births = nullptr; }
    Births(const Births&) = delete;
    Births& operator=(const Births&) = delete;

    /// Whether it is known from now on: not without memory.
    static bool note(const PromiseState& state) noexcept {
        try {
            Births* births = state.core->births;
            if (!births) births = &state.core->loop->service<Births>();
            births->times_[&state] = state.core->clock->now();
            return true;
        } catch (...) {
            return false;  // an age that nobody can tell is no reason to fail
        }
    }
    void forget(const PromiseState& state) noexcept { times_.erase(&state); }

    std::size_t count() const noexcept { return times_.size(); }

    /// Negative if that is not known.
    static Duration age(const PromiseState& state) {
        if (!state.dated) return Duration(-1);
        return state.core->clock->now() - state.core->births->times_.at(&state);
    }

private:
    LoopCore& core_;
    std::unordered_map<const PromiseState*, TimePoint> times_;
};

}  // namespace detail
}  // namespace reactor

#endif
