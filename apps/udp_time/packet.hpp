// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_UDP_TIME_PACKET_HPP
#define REACTOR_UDP_TIME_PACKET_HPP

#include "timestamp.hpp"

#include <net/byte_view.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace udp_time {

namespace net = reactor::net;

/// Whether the day ends with a second more or less than others, or the clock has not been set.
enum class Leap : unsigned { none = 0, one_more = 1, one_less = 2, not_set = 3 };

// What a packet is, of those that matter here.
constexpr unsigned mode_client = 3;
constexpr unsigned mode_server = 4;

/// Request and answer alike (RFC 5905, 7.3; RFC 4330, 4). A value.
///
///      0      |2    |5    |8               |16              |24
///     ┌───────┬─────┬─────┬────────────────┬────────────────┬────────────────┐
///   0 │ leap  │vers.│mode │    stratum     │      poll      │   precision    │
///   4 │                              root delay                              │
///   8 │                            root dispersion                           │
///  12 │                             reference id                             │
///  16 │  reference time-stamp: when the server's clock was last set          │
///  24 │  originate time-stamp: what the request had as its transmit one      │
///  32 │  receive time-stamp:   when the request came                         │
///  40 │  transmit time-stamp:  when this packet went                         │
///     └──────────────────────────────────────────────────────────────────────┘
struct Packet {
    Leap leap = Leap::none;
    unsigned version = 4;
    unsigned mode = mode_client;
    unsigned stratum = 0;  // how many servers away from a clock; 0: none of this counts, see id
    int poll = 0;          // log2 of seconds,
    int precision = 0;     // here too
    std::uint32_t root_delay = 0;       // to that clock and back, in 1/65536 s
    std::uint32_t root_dispersion = 0;  // how wrong it may be, likewise
    std::uint32_t reference_id = 0;     // a code of four letters, or the IPv4 address of a server
    Timestamp reference, originate, receive, transmit;
};

/// Others, such as signatures, may follow.
constexpr std::size_t packet_size = 48;

namespace detail {

inline void put(std::string& bytes, std::uint64_t number, unsigned size) {
    while (size-- > 0) bytes += static_cast<char>(static_cast<unsigned char>(number >> size * 8));
}

inline std::uint64_t get(net::ByteView bytes, std::size_t at, unsigned size) {
    std::uint64_t number = 0;
    for (; size > 0; --size) number = number << 8 | static_cast<unsigned char>(bytes[at++]);
    return number;
}

inline std::uint32_t get32(net::ByteView bytes, std::size_t at) {
    return static_cast<std::uint32_t>(get(bytes, at, 4));
}

inline Timestamp get_timestamp(net::ByteView bytes, std::size_t at) {
    Timestamp stamp;
    stamp.bits = get(bytes, at, 8);
    return stamp;
}

}  // namespace detail

inline std::string encode(const Packet& packet) {
    std::string bytes;
    bytes.reserve(packet_size);
    detail::put(
        bytes,
        static_cast<unsigned>(packet.leap) << 6 | (packet.version & 7) << 3 | (packet.mode & 7), 1);
    detail::put(bytes, packet.stratum, 1);
    detail::put(bytes, static_cast<std::uint64_t>(packet.poll), 1);
    detail::put(bytes, static_cast<std::uint64_t>(packet.precision), 1);
    detail::put(bytes, packet.root_delay, 4);
    detail::put(bytes, packet.root_dispersion, 4);
    detail::put(bytes, packet.reference_id, 4);
    for (const Timestamp stamp :
         {packet.reference, packet.originate, packet.receive, packet.transmit}) {
        detail::put(bytes, stamp.bits, 8);
    }
    return bytes;
}

/// False, and `packet` as it was, for what is shorter than one. Every other text is one.
inline bool decode(net::ByteView bytes, Packet& packet) {
    if (bytes.size() < packet_size) return false;
    const unsigned first = static_cast<unsigned>(detail::get(bytes, 0, 1));
    packet.leap = static_cast<Leap>(first >> 6);
    packet.version = first >> 3 & 7;
    packet.mode = first & 7;
    packet.stratum = static_cast<unsigned>(detail::get(bytes, 1, 1));
    packet.poll = static_cast<std::int8_t>(detail::get(bytes, 2, 1));
    packet.precision = static_cast<std::int8_t>(detail::get(bytes, 3, 1));
    packet.root_delay = detail::get32(bytes, 4);
    packet.root_dispersion = detail::get32(bytes, 8);
    packet.reference_id = detail::get32(bytes, 12);
    packet.reference = detail::get_timestamp(bytes, 16);
    packet.originate = detail::get_timestamp(bytes, 24);
    packet.receive = detail::get_timestamp(bytes, 32);
    packet.transmit = detail::get_timestamp(bytes, 40);
    return true;
}

}  // namespace udp_time

#endif
