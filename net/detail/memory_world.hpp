// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_MEMORY_WORLD_HPP
#define REACTOR_NET_DETAIL_MEMORY_WORLD_HPP

#include <net/detail/memory_random.hpp>
#include <net/testing.hpp>
#include <reactor/clock.hpp>
#include <reactor/testing_clock.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace reactor {
namespace net {
namespace detail {

/// What all sockets of a network in memory share: its time, its chance, what is under way, and the
/// diary. Shared by MemorySockets, MemoryNames and their MemoryNetwork.
class MemoryWorld {
public:
    MemoryWorld(const reactor::testing::VirtualClock& clock, std::uint64_t seed,
                const testing::MemoryNetworkOptions& network_options);
    MemoryWorld(const MemoryWorld&) = delete;
    MemoryWorld& operator=(const MemoryWorld&) = delete;

    TimePoint now() const noexcept { return clock_->now(); }
    Duration latency() { return random.between(options.shortest_latency, options.longest_latency); }

    /// `happening` runs at that time. What comes at the same time happens in the order of the
    /// calls.
    void at(TimePoint time, std::function<void()> happening);
    /// Lets happen what is due.
    void run_due();
    TimePoint next() const noexcept {
        return coming_.empty() ? never() : coming_.begin()->first.first;
    }

    void note(const std::string& text);
    std::string diary() const;

    /// The end of the network: the clock is not asked any more, and nothing happens.
    void end() noexcept;
    bool over() const noexcept { return clock_ == nullptr; }

    const testing::MemoryNetworkOptions options;
    MemoryRandom random;
    testing::MemoryNetworkCounters counters;

private:
    using Place = std::pair<TimePoint, std::uint64_t>;

    const reactor::testing::VirtualClock* clock_;
    const TimePoint start_;
    std::map<Place, std::function<void()>> coming_;
    std::uint64_t sequence_ = 0;
    std::deque<std::string> lines_;
    std::uint64_t lines_before_ = 0;  // that are not kept
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
