// SPDX-License-Identifier: BSL-1.0
#include "echo.hpp"

#include <test/support/http_peer.hpp>

#include <thread>

using namespace echo_test;

BOOST_AUTO_TEST_SUITE(echo_load)

BOOST_AUTO_TEST_CASE(counts_what_goes_and_comes) {
    Server server({});
    const Exit exit = load({server.address(), "--connections", "10", "--rounds", "30", "--size",
                            "100", "--pipeline", "7"});
    BOOST_TEST(exit.status == 0, exit.text());
    BOOST_TEST(number_before("round trips", exit.out) == 300u, exit.text());
    BOOST_TEST(number_before("bytes out", exit.out) == 30000u, exit.text());
    BOOST_TEST(number_before("bytes back", exit.out) == 30000u, exit.text());
    BOOST_TEST(contains(exit.out, "10 of 10 connected, 0 errors"), exit.text());
    BOOST_TEST(lines_in(exit.out) == 1u);
    BOOST_TEST(exit.err == "");
}

BOOST_AUTO_TEST_CASE(runs_for_a_time) {
    Server server({"--streams"});
    const Exit exit = load({server.address(), "--connections", "3", "--seconds", "0.2"});
    BOOST_TEST(exit.status == 0, exit.text());
    BOOST_TEST(number_before("bytes out", exit.out) == number_before("bytes back", exit.out));
    BOOST_TEST(number_before("round trips", exit.out) * 64 ==
               number_before("bytes back", exit.out));
    BOOST_TEST(number_before("round trips", exit.out) > 0u);
}

BOOST_AUTO_TEST_CASE(large_messages_in_flight_on_both_sides) {
    Server server({});
    const Exit exit =
        load({server.address(), "--rounds", "20", "--size", "1000000", "--pipeline", "10"});
    BOOST_TEST(exit.status == 0, exit.text());
    BOOST_TEST(number_before("bytes back", exit.out) == 20000000u, exit.text());
}

BOOST_AUTO_TEST_CASE(by_name) {
    Server server({});
    const std::string port = server.address().substr(server.address().rfind(':'));
    const Exit exit = load({"localhost" + port, "--rounds", "5"});
    BOOST_TEST(exit.status == 0, exit.text());
}

BOOST_AUTO_TEST_CASE(nobody_listens) {
    const support::RefusingPort port;
    const Exit exit =
        load({"127.0.0.1:" + std::to_string(port.port()), "--connections", "5", "--rounds", "1"});
    BOOST_TEST(exit.status == 1, exit.text());
    BOOST_TEST(contains(exit.out, "0 of 5 connected, 5 errors"), exit.text());
    BOOST_TEST(contains(exit.err, "5 of 5 connections: connect to 127.0.0.1:"), exit.text());
    BOOST_TEST(contains(exit.err, "Connection refused"), exit.text());
    BOOST_TEST(lines_in(exit.err) == 1u, exit.text());
}

BOOST_AUTO_TEST_CASE(what_comes_back_is_something_else) {
    plain::Listener listener;
    std::thread server([&listener] {
        plain::Socket client = listener.accept();
        std::string bytes = client.read(64);
        client.send(bytes);
        bytes = client.read(64);
        bytes[63] = static_cast<char>(bytes[63] ^ 1);
        client.send(bytes);
        client.error_at_end();
    });
    const Exit exit = load({listener.address(), "--rounds", "5"});
    server.join();
    BOOST_TEST(exit.status == 1, exit.text());
    BOOST_TEST(number_before("round trips", exit.out) == 1u, exit.text());
    BOOST_TEST(contains(exit.err, "an answer differs"), exit.text());
}

BOOST_AUTO_TEST_CASE(the_answers_of_another_connection_are_noticed) {
    plain::Listener listener;
    std::thread server([&listener] {
        plain::Socket first = listener.accept(), second = listener.accept();
        const std::string from_first = first.read(64), from_second = second.read(64);
        first.send(from_second);
        second.send(from_first);
        first.error_at_end();
        second.error_at_end();
    });
    const Exit exit = load({listener.address(), "--connections", "2", "--rounds", "1"});
    server.join();
    BOOST_TEST(exit.status == 1, exit.text());
    BOOST_TEST(contains(exit.err, "2 of 2 connections: an answer differs"), exit.text());
}

BOOST_AUTO_TEST_CASE(the_server_ends_or_resets_in_the_middle) {
    plain::Listener listener;
    std::thread server([&listener] {
        plain::Socket client = listener.accept();
        client.send(client.read(10));
        client.read(54);
        client.end_sending();
        client.error_at_end();
    });
    Exit exit = load({listener.address(), "--rounds", "5"});
    server.join();
    BOOST_TEST(exit.status == 1, exit.text());
    BOOST_TEST(contains(exit.err, "closed before all answers"), exit.text());
    BOOST_TEST(number_before("bytes back", exit.out) == 10u, exit.text());

    std::thread resetting([&listener] {
        plain::Socket client = listener.accept();
        client.read(64);
        client.reset();
    });
    exit = load({listener.address(), "--rounds", "5"});
    resetting.join();
    BOOST_TEST(exit.status == 1, exit.text());
    BOOST_TEST(contains(exit.err, "Connection reset by peer"), exit.text());
}

BOOST_AUTO_TEST_CASE(a_signal_ends_it_with_its_counts) {
    const plain::Listener silent;
    for (const int signal : {SIGINT, SIGTERM}) {
        support::ChildProcess process(
            command("echo", {"load", silent.address(), "--connections", "3", "--timeout", "1000"}));
        plain::Listener& listener = const_cast<plain::Listener&>(silent);
        const plain::Socket first = listener.accept(), second = listener.accept(),
                            third = listener.accept();
        process.send_signal(signal);
        const Exit exit = process.wait();
        BOOST_TEST(exit.status == 128 + signal, exit.text());
        BOOST_TEST(contains(exit.out, "0 round trips"), exit.text());
        BOOST_TEST(exit.err == "");
    }
}

BOOST_AUTO_TEST_SUITE_END()
