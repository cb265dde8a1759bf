// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_UDP_TIME_TIMESTAMP_HPP
#define REACTOR_UDP_TIME_TIMESTAMP_HPP

#include <reactor/clock.hpp>

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>

namespace udp_time {

/// A moment by the system's clock, which can be set, as clock_gettime() tells it. A value.
struct UnixTime {
    std::int64_t seconds = 0;      // since 1970, without leap seconds
    std::int64_t nanoseconds = 0;  // 0 to 999999999
};

inline UnixTime unix_now() {
    ::timespec now = {0, 0};
    ::clock_gettime(CLOCK_REALTIME, &now);  // cannot fail for this clock
    UnixTime time;
    time.seconds = now.tv_sec;
    time.nanoseconds = now.tv_nsec;
    return time;
}

/// "2036-02-07T06:28:16.000000Z": the microseconds are cut off.
inline std::string utc_text(const UnixTime& time) {
    const std::time_t seconds = static_cast<std::time_t>(time.seconds);
    std::tm parts;
    if (::gmtime_r(&seconds, &parts) == nullptr) {
        return std::to_string(time.seconds) + " seconds since 1970";
    }
    char text[64];
    const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    std::snprintf(text + length, sizeof text - length, ".%06dZ",
                  static_cast<int>(time.nanoseconds / 1000));
    return text;
}

/// A moment as it is sent (RFC 5905, 6): 32 bits of seconds since 1900 and 32 bits of their
/// fraction. The seconds begin anew every 136 years, next in February 2036; which of these eras is
/// meant only a moment nearby can tell. All zero: not known. A value.
struct Timestamp {
    std::uint64_t bits = 0;

    bool known() const { return bits != 0; }
    std::uint32_t seconds() const { return static_cast<std::uint32_t>(bits >> 32); }
    std::uint32_t fraction() const { return static_cast<std::uint32_t>(bits); }

    friend bool operator==(Timestamp a, Timestamp b) { return a.bits == b.bits; }
    friend bool operator!=(Timestamp a, Timestamp b) { return a.bits != b.bits; }
};

/// From 1900 to 1970, with 17 leap days.
constexpr std::int64_t seconds_to_1970 = (70LL * 365 + 17) * 86400;

/// Never zero: the one moment of each era that would be is told a quarter of a nanosecond later.
inline Timestamp to_timestamp(const UnixTime& time) {
    Timestamp stamp;
    const std::uint64_t seconds = static_cast<std::uint64_t>(time.seconds + seconds_to_1970);
    const std::uint64_t nanoseconds = static_cast<std::uint64_t>(time.nanoseconds);
    stamp.bits = seconds << 32 | (nanoseconds << 32) / 1000000000;
    if (!stamp.known()) stamp.bits = 1;
    return stamp;
}

namespace detail {

/// To the nearest one: so that nanoseconds come back as they were. May be a whole second.
inline std::int64_t nanoseconds_of(std::uint32_t fraction) {
    return static_cast<std::int64_t>((fraction * std::uint64_t(1000000000) + (1ULL << 31)) >> 32);
}

}  // namespace detail

/// The moment of that name that is less than 68 years away from `near` (RFC 5905, 6).
inline UnixTime to_unix_time(Timestamp stamp, const UnixTime& near) {
    const std::uint32_t near_seconds = static_cast<std::uint32_t>(near.seconds + seconds_to_1970);
    UnixTime time;
    time.seconds = near.seconds + static_cast<std::int32_t>(stamp.seconds() - near_seconds);
    time.nanoseconds = detail::nanoseconds_of(stamp.fraction());
    if (time.nanoseconds == 1000000000) {
        ++time.seconds;
        time.nanoseconds = 0;
    }
    return time;
}

/// later - earlier, also across the end of an era; right for moments within 68 years.
inline reactor::Duration between(Timestamp earlier, Timestamp later) {
    const std::uint64_t difference = later.bits - earlier.bits;
    const std::int32_t seconds = static_cast<std::int32_t>(difference >> 32);
    const std::uint32_t fraction = static_cast<std::uint32_t>(difference);
    return reactor::Duration(seconds * std::int64_t(1000000000) + detail::nanoseconds_of(fraction));
}

}  // namespace udp_time

#endif
