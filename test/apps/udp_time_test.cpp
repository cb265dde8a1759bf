// SPDX-License-Identifier: BSL-1.0
#include "udp_time.hpp"

#include <cmath>

using namespace udp_time_test;

namespace {

std::string request_of(unsigned version, unsigned mode = udp_time::mode_client) {
    udp_time::Packet packet;
    packet.version = version;
    packet.mode = mode;
    packet.poll = 6;
    packet.transmit.bits = 0x0123456789abcdef;
    return udp_time::encode(packet);
}

/// A line of a server on this machine: its clock is ours, within what the way may hide.
void check_line(const std::string& line, const std::string& who) {
    BOOST_TEST(line.compare(0, who.size() + 2, who + ": ") == 0, line);
    BOOST_TEST(contains(line, "Z, offset "), line);
    const double round_trip = number_behind("round trip", line);
    BOOST_TEST(round_trip >= 0, line);
    BOOST_TEST(std::fabs(number_behind("offset", line)) <= round_trip / 2 + 0.000002, line);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(udp_time_app)

BOOST_AUTO_TEST_CASE(it_ends_in_order_even_if_nobody_reads_what_it_prints) {
    Server server({"127.0.0.1:0"});
    server.process().close_output();
    const Exit exit = server.stop();
    BOOST_TEST(exit.status == 0, exit.text());
}

BOOST_AUTO_TEST_CASE(several_servers_at_once_over_ipv4_and_ipv6) {
    Strings at = {"127.0.0.1:0", "127.0.0.1:0", "--stratum", "3"};
    if (plain::has_ipv6()) at.push_back("[::1]:0");
    Server server(at);
    const std::size_t count = at.size() - 2;
    BOOST_TEST_REQUIRE(server.addresses().size() == count);

    const Exit exit = support::run(ask(server.addresses()));
    BOOST_TEST_REQUIRE(exit.status == 0, exit.text());
    BOOST_TEST(exit.err == "");
    const Strings lines = exit.lines();
    BOOST_TEST_REQUIRE(lines.size() == count + 1, exit.text());
    for (const std::string& address : server.addresses()) {
        for (const std::string& line : lines) {
            if (line.compare(0, address.size(), address) == 0) check_line(line, address);
        }
        BOOST_TEST(contains(exit.out, address + ": "), exit.text());
    }
    BOOST_TEST(contains(lines[0], "stratum 3"), exit.text());
    BOOST_TEST(number_before("addresses asked", exit.out) == count);
    BOOST_TEST(number_before("answers", exit.out) == count);
    BOOST_TEST(number_before("failed", exit.out) == 0u);

    const Exit ended = server.stop();
    BOOST_TEST(ended.status == 0, ended.text());
    BOOST_TEST(ended.err == "");
    BOOST_TEST(number_before("answered", ended.out) >= count, ended.text());
    BOOST_TEST(number_before("datagrams malformed", ended.out) == 0u, ended.text());
}

BOOST_AUTO_TEST_CASE(each_address_of_a_name) {
    Server server({"127.0.0.1:0"});
    const std::string port = server.address().substr(server.address().rfind(':'));
    // Nobody listens on ::1, if the name is that one's, too: one answer is enough.
    const Exit exit = support::run(ask({"localhost" + port}));
    BOOST_TEST_REQUIRE(exit.status == 0, exit.text());
    check_line(exit.lines().at(0), "localhost" + port + " (127.0.0.1" + port + ")");
    BOOST_TEST(number_before("answers", exit.out) == 1u, exit.text());
}

BOOST_AUTO_TEST_CASE(an_answer_says_what_the_rfc_wants) {
    Server server({"127.0.0.1:0", "--stratum", "1"});
    Peer client;
    for (unsigned version = 1; version <= 4; ++version) {
        const udp_time::UnixTime before = udp_time::unix_now();
        client.send(request_of(version), server.address());
        const Peer::Datagram datagram = client.receive();
        BOOST_TEST(datagram.from.str() == server.address());
        BOOST_TEST(datagram.bytes.size() == 48u);
        const udp_time::Packet answer = decoded(datagram.bytes);
        BOOST_TEST((answer.leap == udp_time::Leap::none));
        BOOST_TEST(answer.version == version);
        BOOST_TEST(answer.mode == 4u);
        BOOST_TEST(answer.stratum == 1u);
        BOOST_TEST(answer.poll == 6);
        BOOST_TEST(answer.precision < 0);
        BOOST_TEST(answer.reference_id == 0x4c4f434cu);  // LOCL
        BOOST_TEST(answer.originate.bits == 0x0123456789abcdefu);
        const auto zero = reactor::Duration::zero();
        const udp_time::Timestamp sent = udp_time::to_timestamp(before);
        BOOST_TEST((udp_time::between(sent, answer.receive) >= zero));
        BOOST_TEST((udp_time::between(answer.receive, answer.transmit) >= zero));
        BOOST_TEST((udp_time::between(answer.reference, answer.transmit) >= zero));
    }
    // Fields of extensions, a signature: ours is no longer for them.
    client.send(request_of(4) + std::string(20, 'x'), server.address());
    BOOST_TEST(client.receive().bytes.size() == 48u);
    const Exit ended = server.stop();
    BOOST_TEST(number_before("requests", ended.out) == 5u, ended.text());
    BOOST_TEST(number_before("answered", ended.out) == 5u, ended.text());
}

BOOST_AUTO_TEST_CASE(what_is_no_request_is_not_answered) {
    Server server({"127.0.0.1:0"});
    Peer client;
    Strings wrong = {"", "x", request_of(4).substr(0, 47), request_of(4) + "x",
                     request_of(4) + std::string(1000, 'x')};  // longer than any
    for (const unsigned version : {0u, 5u, 7u}) wrong.push_back(request_of(version));
    // Answers above all, or two servers could be made to talk with each other for ever.
    for (const unsigned mode : {0u, 1u, 2u, 4u, 5u, 6u, 7u}) wrong.push_back(request_of(4, mode));
    for (const std::string& bytes : wrong) client.send(bytes, server.address());
    std::string good = request_of(3);
    good.back() = 'g';
    client.send(good, server.address());
    // Were one of them answered, that would come before this.
    const udp_time::Packet answer = decoded(client.receive().bytes);
    BOOST_TEST(answer.originate.bits == decoded(good).transmit.bits);

    const Exit ended = server.stop();
    BOOST_TEST(ended.status == 0, ended.text());
    BOOST_TEST(number_before("requests", ended.out) == 1u, ended.text());
    BOOST_TEST(number_before("answered", ended.out) == 1u, ended.text());
    BOOST_TEST(number_before("unanswered", ended.out) == 0u, ended.text());
    BOOST_TEST(number_before("datagrams malformed", ended.out) == wrong.size(), ended.text());
}

BOOST_AUTO_TEST_CASE(either_signal_ends_the_server) {
    for (const int signal : {SIGTERM, SIGINT}) {
        Server server({"127.0.0.1:0", "127.0.0.1:0"});
        const Exit ended = server.stop(signal);
        BOOST_TEST(ended.status == 0, ended.text());
        BOOST_TEST(ended.err == "");
        BOOST_TEST(ended.lines().back() ==
                   "Ended: 0 requests, 0 answered, 0 unanswered; 0 datagrams malformed");
        const Exit exit = support::run(ask({server.address(), "--timeout", "1000"}));
        BOOST_TEST(exit.status == 1, exit.text());
        BOOST_TEST(contains(exit.err, server.address() + ": refused"), exit.text());
    }
}

BOOST_AUTO_TEST_SUITE_END()
