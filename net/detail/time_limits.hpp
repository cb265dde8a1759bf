// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_TIME_LIMITS_HPP
#define REACTOR_NET_DETAIL_TIME_LIMITS_HPP

#include <reactor/clock.hpp>

#include <algorithm>

namespace reactor {
namespace net {
namespace detail {

/// How long a transport may wait for what, and since when it does. A value.
struct TimeLimits {
    Duration idle = forever();
    Duration read = forever();
    Duration write = forever();

    TimePoint active;  // a byte came or went
    TimePoint input;   // a byte came, or reading began
    TimePoint output;  // a byte went, or began to wait

    bool any() const noexcept {
        return idle != forever() || read != forever() || write != forever();
    }
    TimePoint idle_until() const noexcept { return deadline_after(active, idle); }
    TimePoint read_until(bool reading) const noexcept {
        return reading ? deadline_after(input, read) : never();
    }
    TimePoint write_until(bool writing) const noexcept {
        return writing ? deadline_after(output, write) : never();
    }
    TimePoint next(bool reading, bool writing) const noexcept {
        return (std::min)(idle_until(), (std::min)(read_until(reading), write_until(writing)));
    }
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
