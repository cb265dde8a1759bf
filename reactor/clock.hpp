// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_CLOCK_HPP
#define REACTOR_CLOCK_HPP

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace reactor {

/// Lengths of time and points of the steady clock, in whole nanoseconds. A test's clock gives
/// points of the same type, so that code under test need not know which clock it has.
using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

/// No limit, and the deadline that never comes.
constexpr Duration forever() noexcept { return (Duration::max)(); }
constexpr TimePoint never() noexcept { return (TimePoint::max)(); }

/// Where a loop reads the time. A loop borrows its clock, which must outlive it; now() is called
/// from any thread. Replaced by tests (testing.hpp); asyncio: loop.time().
class Clock {
public:
    virtual ~Clock();
    /// Never goes back, on one thread and from one thread to another.
    virtual TimePoint now() const noexcept = 0;

    /// std::chrono::steady_clock, of which there is one.
    static const Clock& steady() noexcept;
};

/// Any duration as nanoseconds: what is beyond their range (292 years) becomes the range's end, so
/// that an infinite delay is `forever()`; a fraction of a nanosecond is rounded up, since a timer
/// may be late but never early. Throws std::invalid_argument for NaN, naming `call`.
template <class Rep, class Period>
Duration saturated(std::chrono::duration<Rep, Period> length, const char* call = "saturated");

/// `from + length`, ending at never() and at the clock's first instant instead of overflowing.
inline TimePoint deadline_after(TimePoint from, Duration length) noexcept {
    const Duration since = from.time_since_epoch();
    if (length >= Duration::zero()) {
        return since >= Duration::zero() && length >= (Duration::max)() - since ? never()
                                                                                : from + length;
    }
    const bool below = since < Duration::zero() && length < (Duration::min)() - since;
    return below ? (TimePoint::min)() : from + length;
}

namespace detail {

[[noreturn]] void throw_nan_delay(const char* call);

template <class Rep, class Period>
Duration saturated(std::chrono::duration<Rep, Period> length, const char* call,
                   std::true_type /*floating*/) {
    // long double has 64 bits of mantissa on x86 and 53 at the least: the comparison below is made
    // before the conversion, because a conversion out of range is undefined.
    using Ratio = std::ratio_divide<Period, std::nano>;
    const long double ns =
        std::ceil(static_cast<long double>(length.count()) * static_cast<long double>(Ratio::num) /
                  static_cast<long double>(Ratio::den));
    if (std::isnan(ns)) throw_nan_delay(call);
    constexpr long double limit = 9223372036854775807.0L;
    if (ns >= limit) return (Duration::max)();
    if (ns <= -limit) return (Duration::min)();
    return Duration(static_cast<Duration::rep>(ns));
}

template <class Rep, class Period>
Duration saturated(std::chrono::duration<Rep, Period> length, const char* call,
                   std::false_type /*integral*/) {
    using Ratio = std::ratio_divide<Period, std::nano>;
    constexpr std::intmax_t most = (std::numeric_limits<std::intmax_t>::max)();
    constexpr std::intmax_t least = (std::numeric_limits<std::intmax_t>::min)();
    // Of more than 64 signed bits, or of a unit whose numerator and denominator are both huge.
    const bool beyond = length.count() > Rep() && static_cast<std::uintmax_t>(length.count()) >
                                                      static_cast<std::uintmax_t>(most);
    if (beyond || Ratio::num > most / Ratio::den) {
        return detail::saturated(std::chrono::duration<long double, Period>(length), call,
                                 std::true_type());
    }
    // count * num / den, in two steps of which none overflows: not duration_cast, which multiplies
    // first, and by 60 for a frame of 1/60 s.
    const std::intmax_t count = static_cast<std::intmax_t>(length.count());
    const std::intmax_t whole = count / Ratio::den;
    const std::intmax_t rest = count % Ratio::den * Ratio::num;
    const std::intmax_t part = rest / Ratio::den + (rest % Ratio::den > 0 ? 1 : 0);
    if (whole > 0 && whole > (most - part) / Ratio::num) return (Duration::max)();
    if (whole < 0 && whole < (least - part) / Ratio::num) return (Duration::min)();
    return Duration(static_cast<Duration::rep>(whole * Ratio::num + part));
}

}  // namespace detail

template <class Rep, class Period>
Duration saturated(std::chrono::duration<Rep, Period> length, const char* call) {
    return detail::saturated(length, call,
                             std::integral_constant<bool, std::is_floating_point<Rep>::value>());
}

inline Duration saturated(Duration length, const char* = "") noexcept { return length; }

}  // namespace reactor

#endif
