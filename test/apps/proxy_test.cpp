// SPDX-License-Identifier: BSL-1.0
#include "proxy.hpp"

#include <future>
#include <utility>

#include <test/support/http_peer.hpp>
#include <test/support/temporary_directory.hpp>

using namespace proxy_test;

namespace {

/// On a thread of its own; what it throws comes out of get().
template <class F>
auto in_thread(F f) -> std::future<decltype(f())> {
    return std::async(std::launch::async, std::move(f));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(proxy_app)

BOOST_AUTO_TEST_CASE(bytes_go_both_ways) {
    plain::Listener target;
    Proxy proxy({"--to", target.address()});
    Pair pair(proxy, target);
    pair.client.send("question");
    BOOST_TEST(pair.target.read(8) == "question");
    pair.target.send("answer");
    BOOST_TEST(pair.client.read(6) == "answer");
    // The server speaks first, and much at once on both sides.
    const std::string large = noise(5000000, 1), other = noise(3000000, 2);
    auto sending = in_thread([&] { pair.target.send(large); });
    auto answering = in_thread([&] { pair.client.send(other); });
    auto receiving = in_thread([&] { return pair.target.read(other.size()); });
    BOOST_TEST((pair.client.read(large.size()) == large));
    BOOST_TEST((receiving.get() == other));
    sending.get();
    answering.get();
    pair.client.end_sending();
    BOOST_TEST(pair.target.read_to_end() == "");
    pair.target.close();
    BOOST_TEST(pair.client.error_at_end() == 0);

    const Summary summary(proxy.stop());
    summary.check_nothing_lost();
    BOOST_TEST(summary.from_clients == 3000008u);
    BOOST_TEST(summary.from_targets == 5000006u);
    BOOST_TEST(summary.accepted == 1u);
    BOOST_TEST(summary.forwarded == 1u);
}

BOOST_AUTO_TEST_CASE(an_end_is_passed_on_and_the_other_direction_goes_on) {
    plain::Listener target;
    Proxy proxy({"--to", target.address()});
    {
        Pair pair(proxy, target);
        pair.client.send("all I have");
        pair.client.end_sending();
        BOOST_TEST(pair.target.read_to_end() == "all I have");
        const std::string answer = noise(1000000);
        auto sending = in_thread([&] {
            pair.target.send(answer);
            pair.target.close();
        });
        BOOST_TEST((pair.client.read_to_end() == answer));
        sending.get();
    }
    {
        Pair pair(proxy, target);
        pair.target.send("goodbye");
        pair.target.end_sending();
        BOOST_TEST(pair.client.read_to_end() == "goodbye");
        const std::string rest = noise(1000000);
        auto sending = in_thread([&] {
            pair.client.send(rest);
            pair.client.close();
        });
        BOOST_TEST((pair.target.read_to_end() == rest));
        sending.get();
    }
    const Summary summary(proxy.stop());
    summary.check_nothing_lost();
    BOOST_TEST(summary.from_clients == 1000010u);
    BOOST_TEST(summary.from_targets == 1000007u);
}

BOOST_AUTO_TEST_CASE(a_reset_is_passed_on) {
    plain::Listener target;
    Proxy proxy({"--to", target.address()});
    {
        Pair pair(proxy, target);
        pair.client.send("x");
        BOOST_TEST(pair.target.read(1) == "x");
        pair.client.reset();
        BOOST_TEST(pair.target.error_at_end() == ECONNRESET);
    }
    {
        Pair pair(proxy, target);
        pair.client.send("x");
        BOOST_TEST(pair.target.read(1) == "x");
        pair.target.reset();
        BOOST_TEST(pair.client.error_at_end() == ECONNRESET);
    }
    {
        // Also of one that has sent its end before.
        Pair pair(proxy, target);
        pair.client.end_sending();
        BOOST_TEST(pair.target.read_to_end() == "");
        pair.target.send("half an ans");
        BOOST_TEST(pair.client.read(11) == "half an ans");
        pair.target.reset();
        BOOST_TEST(pair.client.error_at_end() == ECONNRESET);
    }
    const Summary summary(proxy.stop());
    BOOST_TEST(summary.open == 0u);
    BOOST_TEST(summary.forwarded == 3u);
}

BOOST_AUTO_TEST_CASE(who_does_not_read_pauses_the_other_side_and_costs_no_memory) {
    plain::Listener target;
    Proxy proxy({"--to", target.address()});
    const std::string piece = noise(65536);
    const std::size_t offered = 512 * 1024 * 1024;
    Pair warm(proxy, target);
    for (int round = 0; round < 2; ++round) {
        Pair pair(proxy, target);
        plain::Socket& stalled = round == 0 ? pair.client : pair.target;
        plain::Socket& flooding = round == 0 ? pair.target : pair.client;
        const std::size_t before = proxy.resident();
        const std::size_t sent = flooding.send_until_full(piece, offered);
        BOOST_TEST(sent < offered);
        // Two high marks, one read, and what the allocator rounds up.
        BOOST_TEST(proxy.resident() < before + 4 * 1024 * 1024);
        // The other direction has its own account, and nothing is lost.
        stalled.send("still there");
        BOOST_TEST(flooding.read(11) == "still there");
        flooding.end_sending();
        BOOST_TEST(stalled.read_to_end().size() == sent);
    }
    warm.client.close();
    warm.target.close();
    Summary(proxy.stop()).check_nothing_lost();
}

BOOST_AUTO_TEST_CASE(a_target_that_refuses) {
    const support::RefusingPort port;
    const std::string to = "127.0.0.1:" + std::to_string(port.port());
    Proxy proxy({"--to", to});
    plain::Socket client(proxy.address());
    BOOST_TEST(client.error_at_end() == ECONNRESET);
    const Exit exit = proxy.stop();
    const Summary summary(exit);
    BOOST_TEST(summary.unreached == 1u);
    BOOST_TEST(summary.forwarded == 0u);
    BOOST_TEST(contains(exit.err, "client 127.0.0.1:"), exit.text());
    BOOST_TEST(contains(exit.err, "connect to " + to + ": Connection refused: connection reset\n"),
               exit.text());
}

BOOST_AUTO_TEST_CASE(a_target_that_does_not_answer) {
    const support::SilentPort port;
    const std::string to = "127.0.0.1:" + std::to_string(port.port());
    Proxy proxy({"--to", to, "--connect-timeout", "0.2"});
    plain::Socket client(proxy.address());
    BOOST_TEST(client.error_at_end() == ECONNRESET);
    const Exit exit = proxy.stop();
    BOOST_TEST(Summary(exit).unreached == 1u);
    BOOST_TEST(contains(exit.err, "Connection timed out: connection reset\n"), exit.text());
}

BOOST_AUTO_TEST_CASE(a_client_that_leaves_while_its_target_is_sought) {
    const support::SilentPort port;
    Proxy proxy({"--to", "127.0.0.1:" + std::to_string(port.port()), "--grace", "0", "--stats"});
    plain::Socket client(proxy.address());
    client.send("anybody?");
    BOOST_TEST(proxy.process().wait_for_output("Traffic: 1 open"));
    const Summary summary(proxy.stop());
    BOOST_TEST(summary.open == 0u);
    BOOST_TEST(summary.closed == 1u);
    BOOST_TEST(summary.unreached == 0u);
}

BOOST_AUTO_TEST_CASE(targets_take_turns) {
    plain::Listener targets[3];
    Proxy proxy(
        {"--to", targets[0].address(), "--to", targets[1].address(), "--to", targets[2].address()});
    for (int round = 0; round < 2; ++round) {
        for (plain::Listener& target : targets) {
            Pair pair(proxy, target);
            pair.target.send("me");
            BOOST_TEST(pair.client.read(2) == "me");
        }
    }
}

BOOST_AUTO_TEST_CASE(a_target_that_is_gone_is_left_out) {
    plain::Listener target;
    const support::RefusingPort gone;
    const std::string refusing = "127.0.0.1:" + std::to_string(gone.port());
    for (const bool failover : {false, true}) {
        Strings arguments = {"--to", refusing, "--to", target.address()};
        if (failover) arguments.push_back("--failover");
        Proxy proxy(arguments);
        for (int round = 0; round < 10; ++round) {
            Pair pair(proxy, target);
            pair.target.send("me");
            BOOST_TEST(pair.client.read(2) == "me");
        }
        const Exit exit = proxy.stop();
        BOOST_TEST(Summary(exit).unreached == 0u);
        BOOST_TEST(contains(exit.err, "Connection refused: trying the next target\n"));
        // It is not asked again for each client.
        BOOST_TEST(lines_in(exit.err) < 10u, exit.text());
    }
}

BOOST_AUTO_TEST_CASE(failover_prefers_the_first) {
    plain::Listener first, second;
    Proxy proxy({"--failover", "--to", first.address(), "--to", second.address()});
    for (int round = 0; round < 3; ++round) Pair(proxy, first).target.send("me");
    BOOST_TEST(!second.has_client());
}

BOOST_AUTO_TEST_CASE(names_unix_sockets_and_ipv6) {
    const support::TemporaryDirectory directory;
    const std::string path = "unix:" + (directory / "proxy.sock");
    plain::Listener target;
    // From a path to a name's port, and from IPv6 to the path.
    Proxy inner({"--to", "localhost" + target.address().substr(target.address().rfind(':'))}, path);
    BOOST_TEST(inner.address() == path);
    Proxy outer({"--to", path}, "[::1]:0");
    {
        Pair pair(outer, target);
        pair.client.send("far");
        pair.client.end_sending();
        BOOST_TEST(pair.target.read_to_end() == "far");
        pair.target.send("away");
        pair.target.close();
        BOOST_TEST(pair.client.read_to_end() == "away");
    }
    Summary(outer.stop()).check_nothing_lost();
    Summary(inner.stop()).check_nothing_lost();
}

BOOST_AUTO_TEST_CASE(limits_of_connections) {
    plain::Listener target;
    Proxy proxy({"--to", target.address(), "--max-connections", "2"});
    {
        Pair first(proxy, target), second(proxy, target);
        plain::Socket third(proxy.address());  // in the backlog
        third.send("waiting");
        first.client.send("x");
        BOOST_TEST(first.target.read(1) == "x");
        BOOST_TEST(!target.has_client());
        first.client.close();
        first.target.close();
        plain::Socket thirds = target.accept();
        BOOST_TEST(thirds.read(7) == "waiting");
    }
    Proxy narrow({"--to", target.address(), "--per-address", "1"});
    {
        Pair first(narrow, target);
        plain::Socket second(narrow.address());
        BOOST_TEST(second.error_at_end() == ECONNRESET);
        first.target.send("y");
        BOOST_TEST(first.client.read(1) == "y");
    }
    BOOST_TEST(Summary(narrow.stop()).refused == 1u);
}

BOOST_AUTO_TEST_CASE(silence_ends_a_connection_on_both_sides) {
    plain::Listener target;
    Proxy proxy({"--to", target.address(), "--idle-timeout", "0.2"});
    {
        Pair pair(proxy, target);
        pair.client.send("x");
        BOOST_TEST(pair.target.read(1) == "x");
        BOOST_TEST(pair.client.error_at_end() == 0);
        BOOST_TEST(pair.target.error_at_end() == 0);
    }
    {
        // Who has not taken what waits for him sees a reset.
        Pair pair(proxy, target);
        const std::string piece(1000000, 'x');
        try {
            for (;;) pair.target.send(piece);
        } catch (const std::system_error& error) {
            BOOST_TEST((error.code().value() == ECONNRESET || error.code().value() == EPIPE));
        }
        BOOST_TEST(pair.client.error_at_end() == ECONNRESET);
    }
    BOOST_TEST(Summary(proxy.stop()).open == 0u);
}

BOOST_AUTO_TEST_CASE(stats_are_printed_when_something_has_happened) {
    plain::Listener target;
    Proxy proxy({"--to", target.address(), "--stats"});
    Pair pair(proxy, target);
    pair.client.send("four");
    BOOST_TEST(pair.target.read(4) == "four");
    BOOST_TEST(proxy.process().wait_for_output("bytes: 4 from clients, 4 to targets, 0 from"));
    BOOST_TEST(contains(proxy.process().output(), "Traffic: 1 open, 1 accepted, 1 forwarded"));
}

BOOST_AUTO_TEST_SUITE_END()
