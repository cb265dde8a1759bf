// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_ROOM_PAUSE_HPP
#define REACTOR_NET_DETAIL_ROOM_PAUSE_HPP

#include <reactor/clock.hpp>

#include <algorithm>
#include <chrono>

namespace reactor {
namespace net {
namespace detail {

/// How long to wait before a full Unix receiver is asked again, where no event tells when it has
/// room: at once, then longer and longer. A value.
class RoomPause {
public:
    Duration next() noexcept {
        const Duration now = pause_;
        const Duration longest = std::chrono::milliseconds(100);
        pause_ =
            now == Duration::zero() ? std::chrono::milliseconds(1) : std::min(now * 2, longest);
        return now;
    }
    void reset() noexcept { pause_ = Duration::zero(); }

private:
    Duration pause_{0};
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
