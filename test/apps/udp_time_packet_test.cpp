// SPDX-License-Identifier: BSL-1.0
// What both ends of the time service know without a socket: time-stamps, packets, requests.
#include "udp_time.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <limits>

using namespace udp_time;
using udp_time_test::Strings;
namespace data = boost::unit_test::data;

namespace {

constexpr std::int64_t end_of_era_0 = 2085978496;  // 2036-02-07T06:28:16Z

UnixTime at(std::int64_t seconds, std::int64_t nanoseconds = 0) {
    UnixTime time;
    time.seconds = seconds;
    time.nanoseconds = nanoseconds;
    return time;
}

Timestamp stamp(std::uint64_t bits) {
    Timestamp timestamp;
    timestamp.bits = bits;
    return timestamp;
}

std::string bytes_of(const std::string& hexadecimal) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hexadecimal.size(); i += 2) {
        bytes += static_cast<char>(std::stoi(hexadecimal.substr(i, 2), nullptr, 16));
    }
    return bytes;
}

/// Every field is another number.
const std::string every_field =
    "dc02faec"           // leap 3, version 3, mode 4, stratum 2, poll -6, precision -20
    "01020304"           // root delay
    "05060708"           // root dispersion
    "4c4f434c"           // LOCL
    "1112131415161718"   // reference
    "2122232425262728"   // originate
    "3132333435363738"   // receive
    "4142434445464748";  // transmit

}  // namespace

BOOST_AUTO_TEST_SUITE(udp_time_packet)

BOOST_AUTO_TEST_CASE(time_stamps_of_known_moments) {
    BOOST_TEST(to_timestamp(at(0)).bits == 2208988800ull << 32);
    BOOST_TEST(to_timestamp(at(-2208988800 + 1)).bits == 1ull << 32);
    BOOST_TEST(to_timestamp(at(0, 500000000)).bits == (2208988800ull << 32 | 0x80000000u));
    BOOST_TEST(to_timestamp(at(end_of_era_0 - 1, 999999999)).bits == 0xfffffffffffffffbu);
    BOOST_TEST(to_timestamp(at(end_of_era_0 + 1)).bits == 1ull << 32);
    // "Not known" is never told by chance.
    BOOST_TEST(to_timestamp(at(end_of_era_0)).bits == 1u);
}

BOOST_AUTO_TEST_CASE(nanoseconds_come_back_as_they_were) {
    for (const std::int64_t seconds : {std::int64_t(0), std::int64_t(-1), end_of_era_0 - 1,
                                       end_of_era_0, std::int64_t(1) << 33}) {
        for (const std::int64_t part : {0, 1, 2, 123456789, 499999999, 999999998, 999999999}) {
            const UnixTime back = to_unix_time(to_timestamp(at(seconds, part)), at(seconds));
            BOOST_TEST(back.seconds == seconds);
            BOOST_TEST(back.nanoseconds == part);
        }
    }
    // The last fraction of a second is nearer to the next one than to any nanosecond.
    const UnixTime next = to_unix_time(stamp(2208988800ull << 32 | 0xffffffffu), at(0));
    BOOST_TEST(next.seconds == 1);
    BOOST_TEST(next.nanoseconds == 0);
}

BOOST_AUTO_TEST_CASE(the_era_is_the_one_nearby) {
    const Timestamp second_of_era = stamp(1ull << 32);
    BOOST_TEST(to_unix_time(second_of_era, at(end_of_era_0 - 1)).seconds == end_of_era_0 + 1);
    BOOST_TEST(to_unix_time(second_of_era, at(end_of_era_0 + 1000000000)).seconds ==
               end_of_era_0 + 1);
    BOOST_TEST(to_unix_time(second_of_era, at(-2208988800)).seconds == -2208988800 + 1);
    const Timestamp last = stamp(0xffffffffull << 32);
    BOOST_TEST(to_unix_time(last, at(end_of_era_0 + 1)).seconds == end_of_era_0 - 1);
    BOOST_TEST(to_unix_time(last, at(end_of_era_0 + (1ll << 32))).seconds ==
               end_of_era_0 + (1ll << 32) - 1);
}

BOOST_AUTO_TEST_CASE(differences_across_the_end_of_an_era) {
    const Timestamp before = to_timestamp(at(end_of_era_0 - 1, 750000000));
    const Timestamp after = to_timestamp(at(end_of_era_0 + 1, 250000000));
    BOOST_TEST(between(before, after).count() == 1500000000);
    BOOST_TEST(between(after, before).count() == -1500000000);
    BOOST_TEST(between(after, after).count() == 0);
    BOOST_TEST(between(stamp(0), stamp(1ull << 63)).count() == -(1ll << 31) * 1000000000);
    BOOST_TEST(between(stamp(0), stamp((1ull << 63) - 1)).count() == (1ll << 31) * 1000000000);
}

BOOST_AUTO_TEST_CASE(moments_as_text) {
    BOOST_TEST(utc_text(at(0)) == "1970-01-01T00:00:00.000000Z");
    BOOST_TEST(utc_text(at(end_of_era_0, 123456999)) == "2036-02-07T06:28:16.123456Z");
    BOOST_TEST(utc_text(at(951782400)) == "2000-02-29T00:00:00.000000Z");
    BOOST_TEST(utc_text(at((std::numeric_limits<std::int64_t>::max)())) ==
               "9223372036854775807 seconds since 1970");
}

BOOST_AUTO_TEST_CASE(every_field_has_its_place) {
    const std::string bytes = bytes_of(every_field);
    Packet packet;
    BOOST_TEST_REQUIRE(decode(bytes, packet));
    BOOST_TEST((packet.leap == Leap::not_set));
    BOOST_TEST(packet.version == 3u);
    BOOST_TEST(packet.mode == 4u);
    BOOST_TEST(packet.stratum == 2u);
    BOOST_TEST(packet.poll == -6);
    BOOST_TEST(packet.precision == -20);
    BOOST_TEST(packet.root_delay == 0x01020304u);
    BOOST_TEST(packet.root_dispersion == 0x05060708u);
    BOOST_TEST(packet.reference_id == 0x4c4f434cu);
    BOOST_TEST(packet.reference.bits == 0x1112131415161718u);
    BOOST_TEST(packet.originate.bits == 0x2122232425262728u);
    BOOST_TEST(packet.receive.bits == 0x3132333435363738u);
    BOOST_TEST(packet.transmit.bits == 0x4142434445464748u);
    BOOST_TEST((encode(packet) == bytes));
}

BOOST_AUTO_TEST_CASE(any_bytes_are_a_packet_if_they_are_enough) {
    std::uint32_t n = 1;
    for (int i = 0; i < 1000; ++i) {
        std::string bytes;
        while (bytes.size() < packet_size) {
            n = n * 1664525 + 1013904223;
            bytes += static_cast<char>(static_cast<unsigned char>(n >> 24));
        }
        Packet packet;
        BOOST_TEST_REQUIRE(decode(bytes + "more", packet));
        BOOST_TEST((encode(packet) == bytes));
        Packet other;
        other.stratum = 99;
        BOOST_TEST(!decode(bytes.substr(0, n % packet_size), other));
        BOOST_TEST(other.stratum == 99u);
    }
}

BOOST_AUTO_TEST_CASE(requests_are_those_of_clients) {
    Packet packet;
    for (unsigned first = 0; first < 256; ++first) {
        std::string bytes(packet_size, '\0');
        bytes[0] = static_cast<char>(static_cast<unsigned char>(first));
        const unsigned version = first >> 3 & 7, mode = first & 7;
        BOOST_TEST(is_request(bytes, packet) == (mode == 3 && version >= 1 && version <= 4));
    }
    const std::string request = encode(Packet());
    for (std::size_t size = 0; size < packet_size; ++size) {
        BOOST_TEST(!is_request(request.substr(0, size), packet));
    }
    for (std::size_t more = 0; more < 100; ++more) {
        BOOST_TEST(is_request(request + std::string(more, 'x'), packet) == (more % 4 == 0));
    }
}

BOOST_DATA_TEST_CASE(an_answer_is_no_request_and_no_longer, data::xrange(1, 16), stratum) {
    Packet request;
    request.poll = 10;
    request.transmit = stamp(42);
    ServerClock clock;
    clock.stratum = static_cast<unsigned>(stratum);
    const Packet answer = make_answer(request, clock, at(100, 5), at(100, 7));
    BOOST_TEST(answer.stratum == clock.stratum);
    BOOST_TEST(answer.poll == 10);
    BOOST_TEST(answer.precision == clock.precision);
    BOOST_TEST(answer.reference_id == (stratum == 1 ? 0x4c4f434cu : 0x7f7f0101u));
    BOOST_TEST((answer.originate == request.transmit));
    BOOST_TEST((answer.receive == to_timestamp(at(100, 5))));
    BOOST_TEST((answer.transmit == to_timestamp(at(100, 7))));
    Packet again;
    BOOST_TEST(encode(answer).size() == packet_size);
    BOOST_TEST(!is_request(encode(answer), again));
}

BOOST_AUTO_TEST_SUITE_END()
