// SPDX-License-Identifier: BSL-1.0
// What a client makes of an answer; the datagrams that are none are in udp_time_faults_test.cpp.
#include "udp_time.hpp"

#include <apps/udp_time/reply.hpp>

#include <chrono>

using namespace udp_time;
using reactor::TimePoint;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

namespace {

constexpr std::int64_t end_of_era_0 = 2085978496;  // 2036-02-07T06:28:16Z

UnixTime at(std::int64_t seconds, milliseconds more = milliseconds(0)) {
    UnixTime time;
    time.seconds = seconds + more.count() / 1000;
    time.nanoseconds = more.count() % 1000 * 1000000;
    return time;
}

/// Requests at these moments by our clock, a second after each other, with the nonces 1, 2, …
std::vector<Attempt> attempts(std::int64_t first, int count = 1) {
    std::vector<Attempt> all;
    for (int i = 0; i < count; ++i) {
        Attempt attempt;
        attempt.nonce.bits = static_cast<unsigned>(i + 1);
        attempt.sent = at(first + i);
        attempt.sent_at = TimePoint(std::chrono::seconds(1000 + i));
        all.push_back(attempt);
    }
    return all;
}

TimePoint after(milliseconds time) { return TimePoint(std::chrono::seconds(1000)) + time; }

/// An answer to the first of them.
Packet answer(const UnixTime& received, const UnixTime& sent) {
    return make_answer(make_request(attempts(0)[0].nonce), ServerClock(), received, sent);
}

/// Fractions of 2^-32 s are no whole nanoseconds.
bool same(nanoseconds a, nanoseconds b) {
    return a - b <= nanoseconds(1) && b - a <= nanoseconds(1);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(udp_time_reply)

BOOST_AUTO_TEST_CASE(offset_and_round_trip) {
    // Five seconds ahead of us, 40 ms away on the way there and back, and 20 ms to answer.
    const Packet packet = answer(at(105, milliseconds(40)), at(105, milliseconds(60)));
    const Reply reply = judge(encode(packet), attempts(100), after(milliseconds(100)));
    BOOST_TEST_REQUIRE((reply.kind == Reply::Kind::answer), reply.reason);
    BOOST_TEST(same(reply.round_trip, milliseconds(80)));
    BOOST_TEST(same(reply.offset, milliseconds(5000)));
    BOOST_TEST(reply.time.seconds == 105);
    BOOST_TEST(reply.time.nanoseconds == 60000000);
    BOOST_TEST(reply.stratum == 10u);
}

BOOST_AUTO_TEST_CASE(a_clock_that_is_behind) {
    const Packet packet = answer(at(40), at(40));
    const Reply reply = judge(encode(packet), attempts(100), after(milliseconds(10)));
    BOOST_TEST_REQUIRE((reply.kind == Reply::Kind::answer), reply.reason);
    BOOST_TEST(same(reply.offset, milliseconds(-60005)));
    BOOST_TEST(same(reply.round_trip, milliseconds(10)));
}

BOOST_AUTO_TEST_CASE(across_the_end_of_an_era) {
    // We are before it, and the server is past it, and the other way round.
    const std::int64_t here = end_of_era_0 - 1, there = end_of_era_0 + 1;
    const Reply ahead =
        judge(encode(answer(at(there), at(there))), attempts(here), after(milliseconds(0)));
    BOOST_TEST_REQUIRE((ahead.kind == Reply::Kind::answer), ahead.reason);
    BOOST_TEST(same(ahead.offset, milliseconds(2000)));
    BOOST_TEST(ahead.time.seconds == there);
    const Reply behind =
        judge(encode(answer(at(here), at(here))), attempts(there), after(milliseconds(0)));
    BOOST_TEST_REQUIRE((behind.kind == Reply::Kind::answer), behind.reason);
    BOOST_TEST(same(behind.offset, milliseconds(-2000)));
    BOOST_TEST(behind.time.seconds == here);
    // And an answer that was on its way meanwhile.
    const Packet during = answer(at(here, milliseconds(999)), at(end_of_era_0, milliseconds(1)));
    const Reply reply = judge(encode(during), attempts(here), after(milliseconds(2000)));
    BOOST_TEST_REQUIRE((reply.kind == Reply::Kind::answer), reply.reason);
    BOOST_TEST(same(reply.round_trip, milliseconds(1998)));
    BOOST_TEST(same(reply.offset, milliseconds(0)));
}

BOOST_AUTO_TEST_CASE(the_request_that_was_answered_counts) {
    for (int n = 0; n < 3; ++n) {
        Packet packet = answer(at(103), at(103));
        packet.originate.bits = static_cast<unsigned>(n + 1);
        const Reply reply = judge(encode(packet), attempts(100, 3), after(milliseconds(3000)));
        BOOST_TEST_REQUIRE((reply.kind == Reply::Kind::answer), reply.reason);
        BOOST_TEST(same(reply.round_trip, milliseconds(3000 - 1000 * n)));
    }
    Packet packet = answer(at(103), at(103));
    packet.originate.bits = 4;
    BOOST_TEST((judge(encode(packet), attempts(100, 3), after(milliseconds(3000))).kind ==
                Reply::Kind::stray));
    packet.originate.bits = 1;
    BOOST_TEST((judge(encode(packet), {}, after(milliseconds(3000))).kind == Reply::Kind::stray));
}

BOOST_AUTO_TEST_CASE(clocks_that_do_not_run_alike) {
    // Half a millisecond too much is nothing to complain of, but there are no negative ways.
    const UnixTime received = at(100);
    UnixTime sent = at(100, milliseconds(10));
    sent.nanoseconds += 500000;
    const Reply reply =
        judge(encode(answer(received, sent)), attempts(100), after(milliseconds(10)));
    BOOST_TEST_REQUIRE((reply.kind == Reply::Kind::answer), reply.reason);
    BOOST_TEST(reply.round_trip.count() == 0);
    const Reply wrong = judge(encode(answer(received, at(100, milliseconds(20)))), attempts(100),
                              after(milliseconds(10)));
    BOOST_TEST((wrong.kind == Reply::Kind::refusal));
}

BOOST_AUTO_TEST_CASE(any_bytes_have_a_verdict) {
    std::uint32_t n = 1;
    const std::string good = encode(answer(at(100), at(100)));
    int answers = 0;
    for (int i = 0; i < 100000; ++i) {
        std::string bytes = good;
        for (int broken = 0; broken < 3; ++broken) {
            n = n * 1664525 + 1013904223;
            // Not the nonce: that would be an end of it.
            const std::size_t place = (n >> 8) % (packet_size - 8);
            bytes[place < 24 ? place : place + 8] =
                static_cast<char>(static_cast<unsigned char>(n >> 24));
        }
        const Reply reply = judge(bytes, attempts(100), after(milliseconds(10)));
        if (reply.kind == Reply::Kind::answer) {
            ++answers;
            BOOST_TEST_REQUIRE(reply.round_trip.count() >= 0);
            BOOST_TEST_REQUIRE(reply.reason.empty());
        } else {
            BOOST_TEST_REQUIRE(!reply.reason.empty());
        }
    }
    BOOST_TEST(answers > 0);
}

BOOST_AUTO_TEST_SUITE_END()
