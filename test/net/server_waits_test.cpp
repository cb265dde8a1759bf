// SPDX-License-Identifier: BSL-1.0
#include <net/server.hpp>

#include "server_fixture.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace served;

#define SERVER_TEST(name) REACTOR_LOOP_TEST_IN(ServerTest, name)

BOOST_AUTO_TEST_SUITE(server_waits)

// The client that is about to get its protocol is one that must be waited for.
SERVER_TEST(a_factory_that_closes_the_server_waits_for_its_client_as_well) {
    Promise<void> closed;
    Promise<void> forever;
    on_client = [&](Course&) {
        server.close();
        closed = server.wait_closed();
        forever = server.serve_forever();
    };
    serve();
    Client& client = connect();
    run_until([&] { return made() == 1; });
    loop.run_iterations(3);
    BOOST_TEST(!closed.done());
    BOOST_TEST(!forever.done());
    client.reset();
    run_until([&] { return closed.done() && forever.done(); });
    BOOST_TEST(lost() == 1u);
}

SERVER_TEST(a_factory_that_shuts_the_server_down_counts_its_client_as_well) {
    Promise<ShutdownSummary> over;
    serve();
    connect();
    run_until_open(1);
    on_client = [&](Course&) { over = server.shutdown(seconds(1)); };
    connect();
    run_until([&] { return made() == 2; });
    loop.run_for(seconds(10));
    run_until([&] { return over.done(); });
    BOOST_TEST(over.result().finished == 0u);
    BOOST_TEST(over.result().closed == 2u);
    BOOST_TEST(over.result().aborted == 0u);
}

SERVER_TEST(a_factory_that_throws_after_it_has_closed_the_server_ends_the_waiting) {
    Promise<void> closed;
    on_client = [&](Course&) {
        server.close();
        closed = server.wait_closed();
        BOOST_TEST(!closed.done());
        throw std::runtime_error("no");
    };
    serve();
    connect();
    run_until([&] { return closed && closed.done(); });
    BOOST_TEST(server.counters().open == 0u);
}

SERVER_TEST(any_number_may_wait_and_leave) {
    serve();
    connect();
    run_until_open(1);
    std::vector<Promise<void>> waiting;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < 20000; ++i) {
        waiting.push_back(i % 2 == 0 ? server.wait_closed() : server.serve_forever());
        if (i % 2000 == 0) {
            waiting.back().add_done_callback(
                [&order, i](const Promise<void>&) { order.push_back(i); });
        }
    }
    for (std::size_t i = 10000; i > 5000; --i) waiting[2 * (i - 5000)].cancel();
    server.close();
    server.abort_clients();
    run_until([&] { return order.size() == 10; });
    BOOST_TEST(std::is_sorted(order.begin() + 5, order.end()));
    for (const Promise<void>& promise : waiting) BOOST_REQUIRE(promise.done());
}

// The loop's end drops the callback that holds the last reference of the server.
SERVER_TEST(what_waits_for_a_server_that_goes_with_its_loop_is_cancelled) {
    Promise<void> forever;
    Promise<void> closed;
    Promise<ShutdownSummary> over;
    {
        TestLoop other;
        const auto waited = std::make_shared<Server>(create_server(other, factory(), any_port));
        forever = waited->serve_forever();
        closed = waited->wait_closed();
        other.call_soon([waited] {});
        const auto ended = std::make_shared<Server>(start_server(
            other, [&other](Stream) { return other.create_promise<void>(); },
            Endpoint("127.0.0.1", 0)));
        address = ended->endpoints().front();
        connect();
        const auto open = [&] { return ended->counters().open == 1; };
        for (int i = 0; i < 10000 && !open(); ++i) other.run_iterations(1);
        over = ended->shutdown(seconds(1));
        other.call_soon([waited, ended] {});
    }
    BOOST_TEST(forever.cancelled());
    BOOST_TEST(closed.cancelled());
    BOOST_TEST(over.done());
}

SERVER_TEST(a_handlers_promise_of_another_loop_is_refused) {
    TestLoop other;
    const Promise<void> foreign = other.create_promise<void>();
    server = start_server(
        loop, [foreign](Stream) { return foreign; }, any_port);
    address = server.endpoints().front();
    Client& client = connect();
    run_until([&] { return client.ended(); });
    const std::vector<Report> reports = take_reports();
    BOOST_REQUIRE(reports.size() == 1u);
    const std::string text = reports[0].text();
    BOOST_TEST(text.find("Unhandled exception in client_connected_cb") != std::string::npos, text);
    BOOST_TEST(text.find("another event loop") != std::string::npos, text);
}

BOOST_AUTO_TEST_SUITE_END()
