// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_UDP_TIME_ANSWER_HPP
#define REACTOR_UDP_TIME_ANSWER_HPP

#include "packet.hpp"

#include <net/byte_view.hpp>

#include <cstddef>
#include <cstdint>

namespace udp_time {

/// Whether a server answers it: a request of a client, of any version that there was. Never an
/// answer: two servers would send each other one for ever, once a forged request has told them to.
/// Beyond the packet there may be fields that we do not know (RFC 7822), of whole words.
inline bool is_request(net::ByteView bytes, Packet& packet) {
    return bytes.size() % 4 == 0 && decode(bytes, packet) && packet.mode == mode_client &&
           packet.version >= 1 && packet.version <= 4;
}

/// What a server says of its clock; a value.
struct ServerClock {
    unsigned stratum = 10;  // what others take only if there is nothing better
    int precision = -20;    // log2 of seconds
};

/// The answer (RFC 4330, 6), to be sent at once: 48 bytes, and so never longer than the request.
/// Who forges a sender's address gains nothing by us.
inline Packet make_answer(const Packet& request, const ServerClock& clock, const UnixTime& received,
                          const UnixTime& now) {
    // An undisciplined local clock. The second is an address that nobody has, as ntpd and chronyd
    // give it: a server of a higher stratum names the one above it.
    constexpr std::uint32_t locl = 0x4c4f434c;
    constexpr std::uint32_t local_clock = 0x7f7f0101;  // 127.127.1.1

    Packet answer;
    answer.version = request.version;
    answer.mode = mode_server;
    answer.stratum = clock.stratum;
    answer.poll = request.poll;
    answer.precision = clock.precision;
    answer.reference_id = clock.stratum == 1 ? locl : local_clock;
    answer.reference = to_timestamp(received);
    answer.originate = request.transmit;
    answer.receive = to_timestamp(received);
    answer.transmit = to_timestamp(now);
    return answer;
}

}  // namespace udp_time

#endif
