// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DEADLINE_HPP
#define REACTOR_NET_DEADLINE_HPP

#include <reactor/clock.hpp>
#include <reactor/event_loop.hpp>

#include <chrono>

namespace reactor {
namespace net {

/// By when an operation must be done: a length of time from the call on, or a point of the loop's
/// time. Converts from either, so that a call reads `socket.read(1024, seconds(5))`. A value: any
/// thread may hold one.
class Deadline {
public:
    /// No limit.
    Deadline() noexcept = default;
    /// From the call on; none or a negative one leaves the operation what it can do at once.
    /// Throws std::invalid_argument for NaN.
    template <class Rep, class Period>
    Deadline(std::chrono::duration<Rep, Period> length) : length_(saturated(length, "Deadline")) {}
    Deadline(TimePoint when) noexcept : when_(when) {}

    /// As a point of the loop's time; never() if there is no limit.
    TimePoint at(const EventLoop& loop) const noexcept {
        return length_ == forever() ? when_ : deadline_after(loop.time(), length_);
    }

private:
    Duration length_ = forever();
    TimePoint when_ = never();
};

}  // namespace net
}  // namespace reactor

#endif
