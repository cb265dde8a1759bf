// SPDX-License-Identifier: BSL-1.0
#include "proxy.hpp"

#include <memory>
#include <vector>

using namespace proxy_test;

BOOST_AUTO_TEST_SUITE(proxy_shutdown)

BOOST_AUTO_TEST_CASE(what_runs_is_finished_and_nobody_else_is_let_in) {
    plain::Listener target;
    Proxy proxy({"--to", target.address(), "--grace", "60"});
    std::vector<std::unique_ptr<Pair>> pairs;
    for (int i = 0; i < 5; ++i) {
        pairs.emplace_back(new Pair(proxy, target));
        pairs.back()->client.send("question");
        BOOST_TEST(pairs.back()->target.read(8) == "question");
        pairs.back()->target.send("half an");
    }
    proxy.begin_to_end();
    for (const auto& pair : pairs) {
        pair->target.send(" answer");
        pair->target.close();
        BOOST_TEST(pair->client.read_to_end() == "half an answer");
        pair->client.close();
    }
    const Exit exit = proxy.process().wait();
    const Summary summary(exit);
    BOOST_TEST(summary.finished == 5u);
    BOOST_TEST(summary.closed == 0u);
    BOOST_TEST(summary.aborted == 0u);
    BOOST_TEST(summary.accepted == 5u);
    summary.check_nothing_lost();
    BOOST_TEST(contains(exit.out, "Ending: 5 connections are open\n"), exit.text());
}

BOOST_AUTO_TEST_CASE(it_ends_in_order_even_if_nobody_reads_what_it_prints) {
    Proxy proxy({"--to", "127.0.0.1:9"});
    proxy.process().close_output();
    const Exit exit = proxy.stop();
    BOOST_TEST(exit.status == 0, exit.text());
}

BOOST_AUTO_TEST_CASE(an_idle_connection_is_closed_when_the_grace_is_over) {
    plain::Listener target;
    Proxy proxy({"--to", target.address(), "--grace", "0.2"});
    Pair pair(proxy, target);
    pair.client.send("x");
    BOOST_TEST(pair.target.read(1) == "x");
    proxy.begin_to_end();
    BOOST_TEST(pair.client.error_at_end() == 0);
    BOOST_TEST(pair.target.error_at_end() == 0);
    const Summary summary(proxy.process().wait());
    BOOST_TEST(summary.finished == 0u);
    BOOST_TEST(summary.closed == 1u);
    BOOST_TEST(summary.aborted == 0u);
    summary.check_nothing_lost();
}

BOOST_AUTO_TEST_CASE(who_is_cut_off_in_the_middle_sees_a_reset) {
    plain::Listener target;
    Proxy proxy({"--to", target.address(), "--grace", "0"});
    Pair pair(proxy, target);
    // More than fits on the way, to a client that reads nothing.
    pair.target.send_until_full(noise(65536), 512 * 1024 * 1024);
    const Summary summary(proxy.stop());
    BOOST_TEST(summary.finished == 0u);
    BOOST_TEST(summary.aborted == 1u);
    BOOST_TEST(summary.open == 0u);
    BOOST_TEST(pair.client.error_at_end() == ECONNRESET);
    BOOST_TEST(summary.to_clients < summary.from_targets);
}

BOOST_AUTO_TEST_CASE(a_second_signal_resets_all_at_once) {
    for (const int second : {SIGTERM, SIGINT}) {
        plain::Listener target;
        Proxy proxy({"--to", target.address(), "--grace", "1000"});
        Pair pair(proxy, target);
        pair.client.send("x");
        BOOST_TEST(pair.target.read(1) == "x");
        proxy.begin_to_end();
        proxy.process().send_signal(second);
        const Summary summary(proxy.process().wait());
        BOOST_TEST(summary.open == 0u);
        BOOST_TEST(summary.finished + summary.closed == 0u);
        BOOST_TEST(summary.aborted == 1u);
        BOOST_TEST(pair.client.error_at_end() == ECONNRESET);
        BOOST_TEST(pair.target.error_at_end() == ECONNRESET);
    }
}

BOOST_AUTO_TEST_CASE(two_signals_at_once) {
    plain::Listener target;
    Proxy proxy({"--to", target.address(), "--grace", "1000"});
    Pair pair(proxy, target);
    pair.client.send("x");
    BOOST_TEST(pair.target.read(1) == "x");
    proxy.process().send_signal(SIGTERM);
    proxy.process().send_signal(SIGINT);
    const Summary summary(proxy.process().wait());
    BOOST_TEST(summary.finished + summary.closed == 0u);
    BOOST_TEST(summary.aborted == 1u);
    BOOST_TEST(pair.client.error_at_end() == ECONNRESET);
}

BOOST_AUTO_TEST_CASE(without_connections_it_ends_at_once) {
    plain::Listener target;
    for (const int signal : {SIGTERM, SIGINT}) {
        Proxy proxy({"--to", target.address(), "--grace", "1000"});
        proxy.process().send_signal(signal);
        const Exit exit = proxy.process().wait();
        const Summary summary(exit);
        BOOST_TEST(summary.finished + summary.closed + summary.aborted == 0u, exit.text());
        BOOST_TEST(lines_in(exit.out) == 4u, exit.text());
    }
}

BOOST_AUTO_TEST_CASE(what_is_still_on_its_way_to_a_target_gets_there) {
    plain::Listener target;
    Proxy proxy({"--to", target.address(), "--grace", "0"});
    Pair pair(proxy, target);
    // The proxy holds a part of it, and the target reads only once the client is gone.
    const std::size_t sent = pair.client.send_until_full(noise(65536), 512 * 1024 * 1024);
    pair.client.end_sending();
    std::size_t all = 0;
    while (all < sent) all += pair.target.read(65536).size();
    pair.target.close();
    const Summary summary(proxy.stop());
    BOOST_TEST(summary.from_clients == sent);
    summary.check_nothing_lost();
}

BOOST_AUTO_TEST_SUITE_END()
