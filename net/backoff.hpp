// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_BACKOFF_HPP
#define REACTOR_NET_BACKOFF_HPP

#include <reactor/clock.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace reactor {
namespace net {

/// How a Backoff grows; a value: any thread may hold one. The setters throw std::invalid_argument,
/// which says why, and change nothing then.
class BackoffOptions {
public:
    BackoffOptions() noexcept = default;

    /// The pause after the first failure. Default: one second.
    template <class Rep, class Period>
    BackoffOptions& first(std::chrono::duration<Rep, Period> pause) {
        first_ = checked(saturated(pause));
        return *this;
    }
    /// No pause is longer. Default: two minutes.
    template <class Rep, class Period>
    BackoffOptions& most(std::chrono::duration<Rep, Period> pause) {
        most_ = checked(saturated(pause));
        return *this;
    }
    /// Each pause is so many times the one before it; at least 1. Default: 1.6, as in gRPC.
    BackoffOptions& factor(double times);
    /// How much of a pause is left to chance, from 0 to 1, so that those who lost one server
    /// together do not come back together: 0.2 makes ten seconds between eight and ten. Default:
    /// 0.5.
    BackoffOptions& jitter(double part);
    /// Makes chance repeatable, for tests. Default: the system's random numbers.
    BackoffOptions& seed(std::uint64_t number) noexcept {
        seed_ = number;
        seeded_ = true;
        return *this;
    }

    Duration first() const noexcept { return first_; }
    Duration most() const noexcept { return most_; }
    double factor() const noexcept { return factor_; }
    double jitter() const noexcept { return jitter_; }
    std::uint64_t seed() const noexcept { return seed_; }
    bool seeded() const noexcept { return seeded_; }

private:
    static Duration checked(Duration pause);

    Duration first_ = std::chrono::seconds(1);
    Duration most_ = std::chrono::minutes(2);
    double factor_ = 1.6;
    double jitter_ = 0.5;
    std::uint64_t seed_ = 0;
    bool seeded_ = false;
};

/// How long to wait before trying again: exponentially longer, with jitter. A value, used by one
/// thread at a time. Elsewhere: gRPC's connection back-off, Twisted's backoffPolicy.
class Backoff {
public:
    /// Throws what std::random_device throws, if it has to ask for a seed.
    explicit Backoff(const BackoffOptions& options = BackoffOptions());

    /// The pause after one more failure.
    Duration next() noexcept;
    /// The next pause is the first again.
    void reset() noexcept { pause_ = Duration::zero(), count_ = 0; }
    /// How many pauses there were since reset().
    std::size_t count() const noexcept { return count_; }

private:
    /// From 0 to 1, without 1.
    double chance() noexcept;

    BackoffOptions options_;
    std::uint64_t random_;
    Duration pause_ = Duration::zero();  // the last one, without jitter
    std::size_t count_ = 0;
};

}  // namespace net
}  // namespace reactor

#endif
