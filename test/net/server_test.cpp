// SPDX-License-Identifier: BSL-1.0
#include <net/server.hpp>

#include "server_fixture.hpp"

#include <reactor/inspect.hpp>

#include <test/support/temporary_directory.hpp>

#include <netinet/tcp.h>

using namespace served;

#define SERVER_TEST(name) REACTOR_LOOP_TEST_IN(ServerTest, name)

BOOST_AUTO_TEST_SUITE(server)

SERVER_TEST(SV_01_one_protocol_for_each_client_on_a_port_that_the_server_tells) {
    serve();
    BOOST_TEST(server.is_serving());
    BOOST_REQUIRE(server.endpoints().size() == 1u);
    BOOST_TEST(address.port() != 0);
    connect().send("one");
    connect().send("two");
    run_until([&] { return courses.size() == 2 && !courses[1].bytes.empty(); });
    loop.run_iterations(3);
    BOOST_TEST(courses.size() == 2u);
    BOOST_TEST(courses[0].calls == "made data");
    BOOST_TEST(courses[0].bytes == "one");
    BOOST_TEST(courses[1].bytes == "two");
    BOOST_TEST(server.counters().accepted == 2u);
    BOOST_TEST(server.counters().open == 2u);
    courses[0].transport.write("answer");
    run_until([&] { return clients[0].received() == "answer"; });
}

SERVER_TEST(SV_02_serving_starts_when_asked_and_once) {
    serve(ServerOptions().start_serving(false));
    BOOST_TEST(!server.is_serving());
    BOOST_TEST(address.port() != 0);
    BOOST_TEST(Client(address).error == ECONNREFUSED);
    loop.run_iterations(2);
    server.start_serving();
    BOOST_TEST(server.is_serving());
    server.start_serving();
    BOOST_TEST(server.is_serving());
    BOOST_TEST((server.endpoints().front() == address));
    connect();
    run_until_open(1);
}

SERVER_TEST(SV_03_close_stops_listening_at_once_and_leaves_the_connections_alone) {
    serve();
    connect();
    run_until_open(1);
    server.close();
    BOOST_TEST(!server.is_serving());
    BOOST_TEST(server.endpoints().empty());
    BOOST_TEST(Client(address).error == ECONNREFUSED);
    server.close();
    clients[0].send("more");
    run_until([&] { return courses[0].bytes == "more"; });
    courses[0].transport.write("answer");
    run_until([&] { return clients[0].received() == "answer"; });
    BOOST_TEST(courses[0].lost == 0);
    BOOST_CHECK_THROW(server.start_serving(), StateError);
}

SERVER_TEST(close_resets_the_clients_in_the_backlog_and_no_other) {
    const support::TemporaryDirectory folder;
    for (const Endpoint& at : {any_port, Endpoint::local_path(folder / "socket")}) {
        clients.clear();
        serve(ServerOptions(), at);
        connect();
        run_until_open(1);
        connect();
        connect().send("hello");
        server.close();
        run_until([&] { return clients[1].was_reset(); });
        run_until([&] { return clients[2].was_reset(); });
        loop.run_iterations(3);
        BOOST_TEST(!clients[0].ended());
        BOOST_TEST(server.counters().accepted == 1u);
        clients.clear();
        run_until([&] { return server.counters().open == 0; });
        courses.clear();
    }
}

SERVER_TEST(SV_04_a_waiter_from_before_the_close_without_a_client) {
    serve();
    const Promise<void> waiter = server.wait_closed();
    loop.run_iterations(3);
    BOOST_TEST(!waiter.done());
    server.close();
    loop.run_iterations(1);
    BOOST_TEST(waiter.done());
    BOOST_TEST(!waiter.error());
    BOOST_TEST(server.wait_closed().done());
}

SERVER_TEST(SV_04_waiters_from_before_the_close_and_after_it_with_a_client) {
    serve();
    Client& client = connect();
    run_until_open(1);
    const Promise<void> before = server.wait_closed();
    const Promise<void> given_up = server.wait_closed();
    loop.run_iterations(3);
    server.close();
    const Promise<void> after = server.wait_closed();
    given_up.cancel();
    bool lost_first = false;
    after.add_done_callback([&](const Promise<void>&) { lost_first = courses[0].destroyed == 1; });
    loop.run_iterations(5);
    BOOST_TEST(!before.done());
    BOOST_TEST(!after.done());
    client.descriptor.close();
    run_until([&] { return before.done(); });
    loop.run_iterations(1);
    BOOST_TEST(after.done());
    BOOST_TEST(!after.error());
    BOOST_TEST(lost_first);
    BOOST_TEST(server.wait_closed().done());
}

// The last connection is lost first, the server closed afterwards.
SERVER_TEST(SV_04_the_other_order) {
    serve();
    connect();
    run_until_open(1);
    const Promise<void> waiter = server.wait_closed();
    clients.clear();
    run_until([&] { return server.counters().open == 0; });
    loop.run_iterations(3);
    BOOST_TEST(!waiter.done());
    server.close();
    BOOST_TEST(waiter.done());
}

SERVER_TEST(SV_05_the_clients_can_be_closed_together) {
    on_client = [](Course& course) {
        course.on_made = [&course] { shrink(course.transport.native_handle()); };
    };
    serve();
    connect();
    connect();
    run_until_open(2);
    courses[0].transport.write(std::string(4 << 20, 'x'));
    BOOST_TEST(courses[0].transport.write_buffer_size() > 0u);
    server.close();
    const Promise<void> waiter = server.wait_closed();
    server.close_clients();
    run_until([&] { return courses[1].lost == 1; });
    BOOST_TEST(courses[0].lost == 0);
    BOOST_TEST(!waiter.done());
    std::size_t got = 0;
    run_until([&] {
        got += clients[0].received().size();
        return waiter.done();
    });
    run_until([&] { return (got += clients[0].received().size()) >= 4 << 20; });
    BOOST_TEST(got == 4u << 20);
    BOOST_TEST(!courses[0].error);
    BOOST_TEST(clients[1].ended());
    BOOST_TEST(!clients[1].was_reset());
}

SERVER_TEST(SV_05_or_aborted_together) {
    serve();
    connect();
    connect();
    run_until_open(2);
    courses[0].transport.write(std::string(16 << 20, 'x'));
    BOOST_TEST(courses[0].transport.write_buffer_size() > 0u);
    server.close();
    const Promise<void> waiter = server.wait_closed();
    server.abort_clients();
    BOOST_TEST(lost() == 0u);
    loop.run_iterations(2);
    BOOST_TEST(lost() == 2u);
    BOOST_TEST(waiter.done());
    BOOST_TEST(clients[0].received().size() < 16u << 20);
    BOOST_TEST(clients[1].was_reset());
}

SERVER_TEST(SV_10_a_factory_that_throws_costs_its_client_the_connection_and_nobody_else) {
    int calls = 0;
    on_client = [&](Course&) {
        if (++calls % 2 == 1) throw std::runtime_error("no protocol today");
    };
    serve();
    for (const bool debug : {false, true}) {
        loop.set_debug(debug);
        Client& first = connect();
        Client& second = connect();
        const std::string text = debug ? "debug" : "hello";
        second.send(text);
        run_until([&] { return first.ended() && last_bytes() == text; });
        const std::vector<Report> reports = take_reports();
        BOOST_TEST(reports.size() == (debug ? 1u : 0u));
        if (debug) {
            BOOST_TEST(reports[0].message.find("client") != std::string::npos);
            BOOST_TEST(reactor::describe(reports[0].exception) == "no protocol today");
        }
    }
    BOOST_TEST(server.is_serving());
    BOOST_TEST(server.counters().failed == 2u);
    BOOST_TEST(server.counters().accepted == 2u);
}

SERVER_TEST(a_factory_that_makes_nothing_is_one_that_fails) {
    server = create_server(
        loop, [] { return std::unique_ptr<Protocol>(); }, any_port);
    address = server.endpoints().front();
    loop.set_debug(true);
    Client& client = connect();
    run_until([&] { return client.ended(); });
    const std::vector<Report> reports = take_reports();
    BOOST_REQUIRE(reports.size() == 1u);
    BOOST_CHECK_THROW(std::rethrow_exception(reports[0].exception), std::invalid_argument);
}

SERVER_TEST(loop_exit_from_a_factory_leaves_the_run_and_the_server_goes_on) {
    bool leave = true;
    on_client = [&](Course&) {
        if (leave) throw reactor::LoopExit(3);
    };
    serve();
    Client& client = connect();
    BOOST_CHECK_THROW(loop.run_forever(), reactor::LoopExit);
    BOOST_TEST(client.ended());
    leave = false;
    connect();
    run_until([&] { return server.counters().open == 1; });
}

SERVER_TEST(the_options_reach_every_connection) {
    serve(ServerOptions()
              .idle_timeout(seconds(9))
              .read_timeout(seconds(3))
              .write_limits(reactor::net::WriteLimits(1000, 100)));
    connect();
    run_until_open(1);
    BOOST_TEST(courses[0].transport.write_limits().high == 1000u);
    loop.run_for(milliseconds(2900));
    BOOST_TEST(courses[0].lost == 0);
    loop.run_for(milliseconds(200));
    BOOST_TEST(courses[0].lost == 1);
    BOOST_CHECK_THROW(std::rethrow_exception(courses[0].error), reactor::TimeoutError);
}

SERVER_TEST(the_idle_timeout_of_the_options_ends_a_connection_where_nothing_happens) {
    serve(ServerOptions().idle_timeout(seconds(9)));
    connect();
    run_until_open(1);
    loop.run_for(milliseconds(8900));
    clients[0].send("x");
    run_until([&] { return last_bytes() == "x"; });
    loop.run_for(milliseconds(8900));
    BOOST_TEST(courses[0].lost == 0);
    loop.run_for(milliseconds(200));
    BOOST_TEST(courses[0].lost == 1);
    BOOST_TEST(courses[0].text().find("nothing came or went for 9 s") != std::string::npos,
               courses[0].text());
}

// A client that sends, and does not read. (A Unix socket takes at once what it ever takes.)
SERVER_TEST(the_write_timeout_of_the_options_ends_a_connection_whose_peer_takes_nothing) {
    const support::TemporaryDirectory folder;
    serve(ServerOptions().write_timeout(seconds(9)), Endpoint::local_path(folder / "socket"));
    connect();
    run_until_open(1);
    loop.run_for(seconds(100));
    BOOST_TEST(courses[0].lost == 0);
    courses[0].transport.write(std::string(16 << 20, 'x'));
    loop.run_for(milliseconds(8000));
    clients[0].send("x");
    run_until([&] { return last_bytes() == "x"; });
    BOOST_TEST(courses[0].lost == 0);
    loop.run_for(milliseconds(1100));
    BOOST_TEST(courses[0].lost == 1);
    BOOST_TEST(
        courses[0].text().find("nothing of what waits was taken for 9 s") != std::string::npos,
        courses[0].text());
}

// Linux hands it down from the listening socket.
SERVER_TEST(accepted_connections_do_not_delay_small_writes) {
    serve();
    connect();
    run_until_open(1);
    BOOST_TEST(socket_option(courses[0].transport.native_handle(), IPPROTO_TCP, TCP_NODELAY) == 1);
}

SERVER_TEST(an_inspection_tells_of_it) {
    serve();
    const Promise<void> closed = server.wait_closed();
    const std::string text = reactor::why_alive(loop).text();
    BOOST_TEST(text.find("net::Server accepts") != std::string::npos, text);
    BOOST_TEST(text.find("Server::wait_closed") != std::string::npos, text);
    server.close();
}

BOOST_AUTO_TEST_SUITE_END()
