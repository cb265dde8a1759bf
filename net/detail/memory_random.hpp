// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_MEMORY_RANDOM_HPP
#define REACTOR_NET_DETAIL_MEMORY_RANDOM_HPP

#include <reactor/clock.hpp>

#include <cstddef>
#include <cstdint>
#include <random>

namespace reactor {
namespace net {
namespace detail {

/// The chance in a network in memory. The engine's numbers are the standard's; the distributions of
/// <random> are not, they differ from one library to the next.
class MemoryRandom {
public:
    explicit MemoryRandom(std::uint64_t seed) : engine_(seed) {}

    std::uint64_t next() { return engine_(); }
    /// From 0 to bound - 1; `bound` is not 0. The lower numbers are more likely by less than
    /// 2^-32 for any bound that occurs.
    std::size_t below(std::size_t bound) { return static_cast<std::size_t>(engine_() % bound); }
    Duration between(Duration shortest, Duration longest) {
        const auto steps = static_cast<std::uint64_t>((longest - shortest).count()) + 1;
        return shortest + Duration(static_cast<Duration::rep>(engine_() % steps));
    }
    /// No number is drawn for what never happens: an option that is off leaves a run as it is.
    bool chance(double probability) {
        if (probability <= 0) return false;
        return static_cast<double>(engine_() >> 11) * (1.0 / 9007199254740992.0) < probability;
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
