// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_SOAK_RANDOM_HPP
#define REACTOR_TEST_SOAK_RANDOM_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace soak {

/// splitmix64's step: every bit of the result depends on every bit of `x`.
inline std::uint64_t mixed(std::uint64_t x) noexcept {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/// Numbers that depend on the seed alone, not on the library. A value.
class Random {
public:
    explicit Random(std::uint64_t seed) noexcept : state_(mixed(seed)) {}

    /// 0 to bound - 1.
    std::uint64_t below(std::uint64_t bound) noexcept {
        state_ += 0x9e3779b97f4a7c15u;
        return mixed(state_) % bound;
    }
    bool one_in(std::uint64_t many) noexcept { return below(many) == 0; }
    std::chrono::microseconds up_to(std::chrono::microseconds most) noexcept {
        return std::chrono::microseconds(below(static_cast<std::uint64_t>(most.count()) + 1));
    }
    /// A length: mostly short, seldom up to `most`.
    std::size_t length(std::size_t most) noexcept {
        const std::uint64_t kind = below(16);
        return static_cast<std::size_t>(below(kind == 0 ? most : kind < 4 ? most / 16 : 600));
    }

private:
    std::uint64_t state_;
};

}  // namespace soak

#endif
