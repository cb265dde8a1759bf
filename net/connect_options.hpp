// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_CONNECT_OPTIONS_HPP
#define REACTOR_NET_CONNECT_OPTIONS_HPP

#include <net/deadline.hpp>
#include <net/endpoint.hpp>
#include <reactor/clock.hpp>

#include <chrono>
#include <cstddef>
#include <vector>

namespace reactor {
namespace net {

/// What connect() may be told; a value: any thread may hold one. Made of a deadline, too:
/// connect(host, 80, seconds(5)).
class ConnectOptions {
public:
    ConnectOptions() = default;
    ConnectOptions(Deadline deadline) : deadline_(deadline) {}
    ConnectOptions(TimePoint when) : deadline_(when) {}
    template <class Rep, class Period>
    ConnectOptions(std::chrono::duration<Rep, Period> length) : deadline_(length) {}

    /// By when look-up and attempts must be over, all together. Default: no limit.
    ConnectOptions& deadline(Deadline when) noexcept {
        deadline_ = when;
        return *this;
    }

    /// The head start of an attempt before the next one begins, unless it fails sooner. forever():
    /// one address after the other, where each gets an equal share of the time that is left, but at
    /// least two seconds, so that one that does not answer leaves time for the next. Throws
    /// std::invalid_argument for NaN. asyncio: happy_eyeballs_delay.
    template <class Rep, class Period>
    ConnectOptions& happy_eyeballs_delay(std::chrono::duration<Rep, Period> delay) {
        delay_ = saturated(delay);
        return *this;
    }

    /// How many addresses of the resolver's first family come before the families take turns; 0
    /// leaves the resolver's order. Default 1. asyncio: interleave.
    ConnectOptions& interleave(std::size_t first_family_count) noexcept {
        first_family_count_ = first_family_count;
        return *this;
    }

    /// Looks up addresses of this family only. Default: none, which stands for both.
    ConnectOptions& family(Endpoint::Family only) noexcept {
        family_ = only;
        return *this;
    }

    /// Connects from this address: one for each family, the last one given. Once there is any, an
    /// attempt at an address of a family without one fails. See Socket::connect(). asyncio:
    /// local_addr.
    ConnectOptions& local(const Endpoint& from) {
        for (Endpoint& other : locals_) {
            if (other.family() == from.family()) {
                other = from;
                return *this;
            }
        }
        locals_.push_back(from);
        return *this;
    }

    /// If all attempts fail: a ConnectError with every single one, also if there was but one or if
    /// they are alike. asyncio: all_errors.
    ConnectOptions& all_errors(bool on) noexcept {
        all_errors_ = on;
        return *this;
    }

    Deadline deadline() const noexcept { return deadline_; }
    Duration happy_eyeballs_delay() const noexcept { return delay_; }
    std::size_t interleave() const noexcept { return first_family_count_; }
    Endpoint::Family family() const noexcept { return family_; }
    const std::vector<Endpoint>& locals() const noexcept { return locals_; }
    bool all_errors() const noexcept { return all_errors_; }

private:
    Deadline deadline_;
    Duration delay_ = std::chrono::milliseconds(250);  // RFC 8305, section 5
    std::size_t first_family_count_ = 1;
    Endpoint::Family family_ = Endpoint::Family::none;
    bool all_errors_ = false;
    std::vector<Endpoint> locals_;
};

}  // namespace net
}  // namespace reactor

#endif
