// SPDX-License-Identifier: BSL-1.0
#include "udp_time.hpp"

#include <functional>
#include <set>

using namespace udp_time_test;
using udp_time::encode;
using udp_time::Leap;
using udp_time::Packet;

namespace {

/// A question to `peer` that gives up when the test does, and asks once.
support::Command ask_once(const Peer& peer) {
    return ask({peer.address(), "--timeout", "1000", "--retry", "1000"});
}

/// One that asks again and again.
support::Command ask_often(const Peer& peer) {
    return ask({peer.address(), "--timeout", "1000", "--retry", "0.01"});
}

void check_answered(const Exit& exit, const Peer& peer, unsigned stratum) {
    BOOST_TEST_REQUIRE(exit.status == 0, exit.text());
    BOOST_TEST(exit.err == "");
    BOOST_TEST(lines_in(exit.out) == 2u, exit.text());
    BOOST_TEST(exit.out.compare(0, peer.address().size() + 2, peer.address() + ": ") == 0,
               exit.text());
    BOOST_TEST(number_behind("stratum", exit.out) == stratum, exit.text());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(udp_time_faults)

BOOST_AUTO_TEST_CASE(lost_datagrams_are_sent_again) {
    Peer peer;
    support::ChildProcess asking(ask_often(peer));
    std::set<std::uint64_t> nonces;
    Peer::Datagram request;
    for (int i = 0; i < 4; ++i) {
        request = peer.receive();
        BOOST_TEST(request.bytes.size() == 48u);
        const Packet packet = decoded(request.bytes);
        // Nothing of us is in it, and nothing that could be guessed.
        nonces.insert(packet.transmit.bits);
        Packet bare;
        bare.transmit = packet.transmit;
        BOOST_TEST((request.bytes == encode(bare)));
    }
    BOOST_TEST(nonces.size() == 4u);
    peer.send(encode(answer_to(request)), request.from);
    const Exit exit = asking.wait();
    check_answered(exit, peer, 2);
    BOOST_TEST(number_before("requests", exit.out) >= 4u, exit.text());
}

BOOST_AUTO_TEST_CASE(a_late_answer_has_its_own_round_trip) {
    Peer peer;
    support::ChildProcess asking(ask_often(peer));
    const Peer::Datagram first = peer.receive();
    const std::string answer = encode(answer_to(first));
    peer.receive();
    peer.send(answer, first.from);
    const Exit exit = asking.wait();
    check_answered(exit, peer, 2);
    // The pause between the two, less its jitter.
    BOOST_TEST(number_behind("round trip", exit.out) >= 0.009, exit.text());
}

BOOST_AUTO_TEST_CASE(what_is_no_answer_to_us_is_ignored) {
    Peer peer;
    support::ChildProcess asking(ask_once(peer));
    const Peer::Datagram request = peer.receive();
    const Packet good = answer_to(request);

    Strings wrong = {"", encode(good).substr(0, 47), encode(good) + std::string(1000, 'x'),
                     request.bytes};
    for (const unsigned mode : {0u, 1u, 2u, 3u, 5u, 6u, 7u}) {
        Packet other = good;
        other.mode = mode;
        wrong.push_back(encode(other));
    }
    for (const unsigned version : {0u, 3u, 5u}) {
        Packet other = good;
        other.version = version;
        wrong.push_back(encode(other));
    }
    // Who cannot see the request cannot answer it, nor refuse.
    for (const std::uint64_t forged : {std::uint64_t(0), good.originate.bits + 1}) {
        Packet other = good;
        other.originate.bits = forged;
        wrong.push_back(encode(other));
        other.stratum = 0;
        wrong.push_back(encode(other));
    }
    for (const std::string& bytes : wrong) peer.send(bytes, request.from);
    peer.send(encode(answer_to(request, 7)), request.from);

    const Exit exit = asking.wait();
    check_answered(exit, peer, 7);
    BOOST_TEST(number_before("requests", exit.out) == 1u, exit.text());
    BOOST_TEST(number_before("datagrams ignored", exit.out) == wrong.size(), exit.text());
}

BOOST_AUTO_TEST_CASE(a_stranger_is_not_heard) {
    Peer peer, stranger;
    support::ChildProcess asking(ask_once(peer));
    const Peer::Datagram request = peer.receive();
    stranger.send(encode(answer_to(request, 1)), request.from);
    peer.send(encode(answer_to(request, 7)), request.from);
    check_answered(asking.wait(), peer, 7);
}

BOOST_AUTO_TEST_CASE(an_answer_without_the_time_is_named) {
    struct {
        const char* reason;
        std::function<void(Packet&)> make;
    } const cases[] = {
        {"kiss of death DENY",
         [](Packet& packet) {
             packet.stratum = 0;
             packet.leap = Leap::not_set;
             packet.reference_id = 0x44454e59;
         }},
        {"kiss of death R?",
         [](Packet& packet) {
             packet.stratum = 0;
             packet.reference_id = 0x521b0000;  // an escape, for a terminal
         }},
        {"has not been set", [](Packet& packet) { packet.leap = Leap::not_set; }},
        {"stratum 16", [](Packet& packet) { packet.stratum = 16; }},
        {"too far away", [](Packet& packet) { packet.root_dispersion = 16 * 65536; }},
        {"too far away", [](Packet& packet) { packet.root_delay = 0xffffffff; }},
        {"has not told its time", [](Packet& packet) { packet.receive.bits = 0; }},
        {"has not told its time", [](Packet& packet) { packet.transmit.bits = 0; }},
        {"set back", [](Packet& packet) { packet.reference.bits += 1ULL << 34; }},
        {"before it was asked", [](Packet& packet) { packet.receive.bits += 1ULL << 34; }},
        {"longer than the answer took", [](Packet& packet) { packet.transmit.bits += 1ULL << 50; }},
    };
    for (const auto& one : cases) {
        Peer peer;
        support::ChildProcess asking(ask_once(peer));
        const Peer::Datagram request = peer.receive();
        Packet answer = answer_to(request);
        one.make(answer);
        peer.send(encode(answer), request.from);
        const Exit exit = asking.wait();
        BOOST_TEST(exit.status == 1, exit.text());
        BOOST_TEST(contains(exit.err, "udp_time: " + peer.address() + ": "), exit.text());
        BOOST_TEST(contains(exit.err, one.reason), exit.text());
        BOOST_TEST(lines_in(exit.out) == 1u, exit.text());
        BOOST_TEST(number_before("failed", exit.out) == 1u, exit.text());
    }
}

BOOST_AUTO_TEST_CASE(a_second_of_difference_ahead_is_told) {
    for (const Leap leap : {Leap::one_more, Leap::one_less}) {
        Peer peer;
        support::ChildProcess asking(ask_once(peer));
        const Peer::Datagram request = peer.receive();
        Packet answer = answer_to(request);
        answer.leap = leap;
        peer.send(encode(answer), request.from);
        const Exit exit = asking.wait();
        check_answered(exit, peer, 2);
        BOOST_TEST(contains(exit.out, leap == Leap::one_more ? "a second more" : "a second less"),
                   exit.text());
    }
}

BOOST_AUTO_TEST_CASE(a_port_without_a_server_is_told_at_once) {
    std::string nobody;
    {
        const Peer gone;
        nobody = gone.address();
    }
    Server server({"127.0.0.1:0"});
    const Exit exit = support::run(ask({nobody, server.address(), "--timeout", "1000"}));
    BOOST_TEST(exit.status == 1, exit.text());
    BOOST_TEST(exit.err == "udp_time: " + nobody + ": refused: nobody listens there\n");
    BOOST_TEST(contains(exit.out, server.address() + ": "), exit.text());
    BOOST_TEST(number_before("answers", exit.out) == 1u, exit.text());
    BOOST_TEST(number_before("failed", exit.out) == 1u, exit.text());
}

BOOST_AUTO_TEST_CASE(silence_ends_with_the_time) {
    const Peer silent;
    const Exit exit = support::run(ask({silent.address(), "--timeout", "0.1", "--retry", "0.01"}));
    BOOST_TEST(exit.status == 1, exit.text());
    BOOST_TEST(contains(exit.err, "udp_time: " + silent.address() + ": no answer to "),
               exit.text());
    BOOST_TEST(number_before("failed", exit.out) == 1u, exit.text());
}

BOOST_AUTO_TEST_CASE(a_signal_ends_the_question) {
    for (const int signal : {SIGINT, SIGTERM}) {
        Peer silent;
        support::ChildProcess asking(ask_once(silent));
        silent.receive();
        asking.send_signal(signal);
        const Exit exit = asking.wait();
        BOOST_TEST(exit.status == 128 + signal, exit.text());
        BOOST_TEST(exit.err == "");
        BOOST_TEST(number_before("answers", exit.out) == 0u, exit.text());
    }
}

BOOST_AUTO_TEST_CASE(whoever_answers_a_broadcast_is_heard_once) {
    Peer one("0.0.0.0:0"), two, three;
    const std::string all = "127.255.255.255" + one.address().substr(one.address().rfind(':'));
    support::ChildProcess asking(
        ask({all, "--broadcast", "--answers", "2", "--timeout", "1000", "--retry", "1000"}));
    const Peer::Datagram request = one.receive();
    Packet refusal = answer_to(request);
    refusal.stratum = 0;
    refusal.reference_id = 0x52415445;
    two.send(encode(answer_to(request, 2)), request.from);
    two.send(encode(answer_to(request, 9)), request.from);  // a copy, or somebody who hopes for it
    three.send(encode(refusal), request.from);
    one.send(encode(answer_to(request, 3)), request.from);
    const Exit exit = asking.wait();
    BOOST_TEST(exit.status == 0, exit.text());
    BOOST_TEST(contains(exit.out, two.address() + ": "), exit.text());
    BOOST_TEST(contains(exit.out, "stratum 2"), exit.text());
    BOOST_TEST(!contains(exit.out, "stratum 9"), exit.text());
    BOOST_TEST(contains(exit.out, "stratum 3"), exit.text());
    BOOST_TEST(contains(exit.err, three.address() + ": "), exit.text());
    BOOST_TEST(contains(exit.err, "kiss of death RATE"), exit.text());
    BOOST_TEST(number_before("answers", exit.out) == 2u, exit.text());
    BOOST_TEST(number_before("datagrams ignored", exit.out) == 1u, exit.text());
}

BOOST_AUTO_TEST_CASE(our_own_server_answers_a_broadcast) {
    Server server({"0.0.0.0:0"});
    const std::string port = server.address().substr(server.address().rfind(':'));
    const Exit exit = support::run(
        ask({"127.255.255.255" + port, "--broadcast", "--answers", "1", "--timeout", "90"}));
    BOOST_TEST(exit.status == 0, exit.text());
    BOOST_TEST(number_before("answers", exit.out) == 1u, exit.text());
}

BOOST_AUTO_TEST_SUITE_END()
