// SPDX-License-Identifier: BSL-1.0
#include <net/backoff.hpp>

#include <algorithm>
#include <random>
#include <stdexcept>

namespace reactor {
namespace net {

namespace {

std::uint64_t random_seed() {
    std::random_device system;
    const std::uint64_t high = system();
    return high << 32 ^ system();
}

/// `length` times `times`, which is not negative, at most `most`.
Duration stretched(Duration length, double times, Duration most) noexcept {
    // Compared before the conversion, which is undefined out of range. Of a double's 53 bits no
    // pause misses the rest.
    const double product = static_cast<double>(length.count()) * times;
    if (!(product < static_cast<double>(most.count()))) return most;
    return Duration(static_cast<Duration::rep>(product));
}

}  // namespace

Duration BackoffOptions::checked(Duration pause) {
    if (pause < Duration::zero()) throw std::invalid_argument("Backoff: a pause is not negative");
    return pause;
}

BackoffOptions& BackoffOptions::factor(double times) {
    // Written so that NaN is refused, too.
    if (!(times >= 1)) throw std::invalid_argument("Backoff: the factor is at least 1");
    factor_ = times;
    return *this;
}

BackoffOptions& BackoffOptions::jitter(double part) {
    if (!(part >= 0 && part <= 1)) {
        throw std::invalid_argument("Backoff: the jitter is a number from 0 to 1");
    }
    jitter_ = part;
    return *this;
}

Backoff::Backoff(const BackoffOptions& options)
    : options_(options), random_(options.seeded() ? options.seed() : random_seed()) {}

Duration Backoff::next() noexcept {
    pause_ = count_ == 0 ? std::min(options_.first(), options_.most())
                         : stretched(pause_, options_.factor(), options_.most());
    ++count_;
    return stretched(pause_, 1 - options_.jitter() * chance(), pause_);
}

double Backoff::chance() noexcept {
    // SplitMix64: the standard's distributions give other numbers with every library.
    random_ += 0x9e3779b97f4a7c15u;
    std::uint64_t bits = random_;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    bits ^= bits >> 31;
    return static_cast<double>(bits >> 11) / 9007199254740992.0;  // 53 bits of 2^53
}

}  // namespace net
}  // namespace reactor
