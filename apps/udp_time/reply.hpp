// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_UDP_TIME_REPLY_HPP
#define REACTOR_UDP_TIME_REPLY_HPP

#include "packet.hpp"

#include <net/byte_view.hpp>
#include <reactor/clock.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace udp_time {

/// A request that is on its way; a value.
struct Attempt {
    Timestamp nonce;             // what it has as its transmit time-stamp
    UnixTime sent;               // by the clock whose offset is asked for,
    reactor::TimePoint sent_at;  // and by one that nobody sets
};

/// The time-stamp is a random number instead of the time: who does not see the request cannot
/// guess it, and learns nothing of our clock. The server sends it back whatever it is.
inline Packet make_request(Timestamp nonce) {
    Packet request;
    request.transmit = nonce;
    return request;
}

/// What a client makes of a datagram; a value.
struct Reply {
    enum class Kind {
        stray,    // nothing that a server would answer to us: as if it had not come
        refusal,  // the server has answered, and there is no time in it
        answer
    };

    Kind kind = Kind::stray;
    std::string reason;  // unless it is an answer

    UnixTime time;                    // of the server, when it answered
    reactor::Duration offset{0};      // of its clock from ours
    reactor::Duration round_trip{0};  // without what the server needed
    unsigned stratum = 0;
    Leap leap = Leap::none;
};

namespace detail {

inline Reply no_answer(Reply::Kind kind, std::string reason) {
    Reply reply;
    reply.kind = kind;
    reply.reason = std::move(reason);
    return reply;
}

/// "DENY", "RATE", …; what is no letter or digit does not get to a terminal.
inline std::string code_text(std::uint32_t id) {
    std::string text;
    for (int shift = 24; shift >= 0; shift -= 8) {
        const char c = static_cast<char>(static_cast<unsigned char>(id >> shift));
        const bool printable =
            (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (c != '\0') text += printable ? c : '?';
    }
    return text;
}

/// Why there is no time in an answer that is to us (RFC 4330, 5; RFC 5905, A.5.1.1); empty if there
/// is.
inline std::string why_no_time(const Packet& packet) {
    // Of a server whose distance from a clock is more than this nobody knows the time (MAXDISP).
    constexpr std::uint64_t farthest = 16 * 65536;

    if (packet.stratum == 0) {
        const std::string code = code_text(packet.reference_id);
        return "the server gives us no time (kiss of death" + (code.empty() ? "" : " " + code) +
               ")";
    }
    if (packet.leap == Leap::not_set) return "the server's clock has not been set";
    if (packet.stratum > 15) {
        return "the server has no clock to go by (stratum " + std::to_string(packet.stratum) + ")";
    }
    if (packet.root_delay / 2 + std::uint64_t(packet.root_dispersion) >= farthest) {
        return "the server is too far away from a clock to know the time";
    }
    if (!packet.receive.known() || !packet.transmit.known()) {
        return "the server has not told its time";
    }
    const auto zero = reactor::Duration::zero();
    if (packet.reference.known() && between(packet.reference, packet.transmit) < zero) {
        return "the server's clock has been set back";
    }
    if (between(packet.receive, packet.transmit) < zero) {
        return "the server has answered before it was asked";
    }
    return std::string();
}

}  // namespace detail

/// Takes apart what came while these requests were on their way. Any of them may be the one
/// answered, so that a late answer has its true round trip.
///
///     ours:    sent ──────────────── elapsed ───────────────> heard
///                \                                           /
///     theirs:     T2 receive ─────────────────── T3 transmit
///
/// The round trip is elapsed - (T3 - T2), the offset the middle of theirs less the middle of ours.
inline Reply judge(net::ByteView bytes, const std::vector<Attempt>& attempts,
                   reactor::TimePoint heard_at) {
    // Of which the server may have needed more than there was: clocks do not all run alike, and are
    // read in steps.
    constexpr std::chrono::milliseconds slack(1);
    using Kind = Reply::Kind;

    Packet packet;
    if (!decode(bytes, packet)) {
        return detail::no_answer(
            Kind::stray, "it is shorter than a packet: " + std::to_string(bytes.size()) + " bytes");
    }
    if (packet.mode != mode_server) {
        return detail::no_answer(Kind::stray,
                                 "it is no server's: mode " + std::to_string(packet.mode));
    }
    if (packet.version != Packet().version) {
        return detail::no_answer(Kind::stray, "it is of version " + std::to_string(packet.version) +
                                                  ", not of " + std::to_string(Packet().version));
    }
    const Attempt* asked = nullptr;
    for (const Attempt& attempt : attempts) {
        if (packet.originate == attempt.nonce) asked = &attempt;
    }
    if (asked == nullptr) {
        return detail::no_answer(Kind::stray, "its originate time-stamp is not ours");
    }
    std::string reason = detail::why_no_time(packet);
    const reactor::Duration elapsed = heard_at - asked->sent_at;
    const reactor::Duration needed = between(packet.receive, packet.transmit);
    if (reason.empty() && needed > elapsed + slack) {
        reason = "the server says that it needed longer than the answer took";
    }
    if (!reason.empty()) return detail::no_answer(Kind::refusal, std::move(reason));

    const Timestamp sent = to_timestamp(asked->sent);
    Reply reply;
    reply.kind = Kind::answer;
    reply.time = to_unix_time(packet.transmit, asked->sent);
    reply.offset = (between(sent, packet.receive) + between(sent, packet.transmit) - elapsed) / 2;
    reply.round_trip = needed < elapsed ? elapsed - needed : reactor::Duration::zero();
    reply.stratum = packet.stratum;
    reply.leap = packet.leap;
    return reply;
}

}  // namespace udp_time

#endif
