// SPDX-License-Identifier: BSL-1.0
#include <net/server_group.hpp>

#include "server_group_fixture.hpp"

#include <reactor/combinators.hpp>

#include <cstdint>
#include <thread>

using namespace grouped;

namespace {

const Spread both_ways[] = {Spread::by_system, Spread::in_turn};

/// Sends more than its client ever reads.
class Flood : public Protocol {
    void connection_made(const reactor::net::Transport& transport) override {
        transport.write(std::string(32 << 20, 'x'));
    }
    void data_received(reactor::net::ByteView) override {}
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(server_group_shutdown, ServerGroupTest)

BOOST_AUTO_TEST_CASE(without_clients_it_is_over_at_once) {
    for (const Spread spread : both_ways) {
        serve(spread);
        BOOST_TEST(counts(wait(server.shutdown(loop, hours(1)))) == "0 0 0");
        BOOST_TEST(listening_at(address) == 0);
        BOOST_TEST(Client(address).error() == ECONNREFUSED);
        BOOST_TEST(counts(wait(server.shutdown(loop, hours(1)))) == "0 0 0");
    }
}

BOOST_AUTO_TEST_CASE(who_comes_within_the_grace_is_served_and_all_finish) {
    for (const Spread spread : both_ways) {
        serve(spread);
        std::vector<Client> clients = served(8);
        const Promise<ShutdownSummary> over = server.shutdown(loop, hours(1));
        // It has begun on both loops when these figures, asked for later, are there.
        for (int i = 0; i < 3; ++i) wait(server.counters(loop));
        clients.push_back(served());
        clients.push_back(served());
        BOOST_TEST(!over.done());
        BOOST_TEST(listening_at(address) > 0);
        clients.clear();
        BOOST_TEST(counts(wait(over)) == "10 0 0");
        BOOST_TEST(listening_at(address) == 0);
    }
}

BOOST_AUTO_TEST_CASE(after_the_grace_clients_are_closed_and_then_aborted) {
    for (const Spread spread : both_ways) {
        serve(spread);
        const std::vector<Client> clients = served(3);
        BOOST_TEST(counts(wait(server.shutdown(loop, seconds(0), hours(1)))) == "0 3 0");
        for (const Client& client : clients) BOOST_TEST(client.read() == "end");

        server = wait(create_server_group(
            loop, loops,
            [](EventLoop&) -> ProtocolFactory {
                return [] { return std::unique_ptr<Protocol>(new Flood); };
            },
            {any_port}, ServerOptions(), spread));
        address = server.endpoints().at(0);
        const Client one(address);
        const Client other(address);
        BOOST_TEST(one.read() != "end");
        BOOST_TEST(other.read() != "end");
        BOOST_TEST(counts(wait(server.shutdown(loop, seconds(0), seconds(0)))) == "0 0 2");
    }
}

BOOST_AUTO_TEST_CASE(who_waits_to_be_accepted_is_served_in_spite_of_close) {
    for (const Spread spread : both_ways) {
        serve(spread);
        std::vector<Client> clients;
        {
            const Busy first(loops.poster(0));
            const Busy second(loops.poster(1));
            for (int i = 0; i < 12; ++i) clients.emplace_back(address);
            server.close();
        }
        loops_have_heard();
        for (const Client& client : clients) BOOST_TEST(client.echo("hello") == "hello");
        BOOST_TEST(wait(server.counters(loop)).open == 12u);
        BOOST_TEST(Client(address).error() == ECONNREFUSED);
        clients.clear();
        // How many of them it has seen going already, nobody knows.
        const ShutdownSummary summary = wait(server.shutdown(loop, hours(1)));
        BOOST_TEST(summary.closed + summary.aborted == 0u);
    }
}

BOOST_AUTO_TEST_CASE(who_waits_to_be_accepted_is_served_in_spite_of_the_destructor) {
    for (const Spread spread : both_ways) {
        serve(spread);
        std::vector<Client> clients = served(2);
        {
            const Busy first(loops.poster(0));
            const Busy second(loops.poster(1));
            for (int i = 0; i < 12; ++i) clients.emplace_back(address);
            server = ServerGroup();
        }
        loops_have_heard();
        for (const Client& client : clients) BOOST_TEST(client.echo("hello") == "hello");
        BOOST_TEST(Client(address).error() == ECONNREFUSED);
    }
}

BOOST_AUTO_TEST_CASE(who_waits_to_be_accepted_at_the_end_of_the_grace_is_not_reset) {
    for (const Spread spread : both_ways) {
        serve(spread);
        const Client kept = served();  // or the grace would end at once
        std::vector<Client> clients;
        Promise<ShutdownSummary> over;
        {
            const Busy first(loops.poster(0));
            const Busy second(loops.poster(1));
            for (int i = 0; i < 12; ++i) clients.emplace_back(address);
            over = server.shutdown(loop, seconds(0), hours(1));
        }
        BOOST_TEST(counts(wait(over)) == "0 13 0");
        for (const Client& client : clients) BOOST_TEST(client.read() == "end");
        BOOST_TEST(kept.read() == "end");
    }
}

BOOST_AUTO_TEST_CASE(of_two_the_shorter_ends_the_clients) {
    for (const Spread spread : both_ways) {
        serve(spread);
        const std::vector<Client> clients = served(2);
        const Promise<ShutdownSummary> patient = server.shutdown(loop, reactor::forever());
        BOOST_TEST(counts(wait(server.shutdown(loop, seconds(-1), hours(1)))) == "0 2 0");
        BOOST_TEST(counts(wait(patient)) == "2 0 0");
    }
}

BOOST_AUTO_TEST_CASE(a_cancelled_one_ends_nobody) {
    for (const Spread spread : both_ways) {
        serve(spread);
        const std::vector<Client> clients = served(2);
        const Promise<ShutdownSummary> over = server.shutdown(loop, hours(1));
        for (int i = 0; i < 3; ++i) wait(server.counters(loop));
        over.cancel();
        BOOST_CHECK_THROW(wait(over), reactor::CancelledError);
        const std::vector<Client> more = served(2);
        for (const Client& client : clients) BOOST_TEST(client.echo("hello") == "hello");
        server = ServerGroup();
    }
}

BOOST_AUTO_TEST_CASE(handlers_of_streams_are_cancelled_on_every_loop) {
    for (const Spread spread : both_ways) {
        server = wait(start_server_group(
            loop, loops, [](EventLoop&) { return reactor::net::serve_with<echo::EchoTask>(); },
            {any_port}, ServerOptions(), spread));
        address = server.endpoints().at(0);
        const std::vector<Client> clients = served(4);
        BOOST_TEST(counts(wait(server.shutdown(loop, seconds(0), hours(1)))) == "0 4 0");
        for (const Client& client : clients) BOOST_TEST(client.read() == "end");
    }
}

BOOST_AUTO_TEST_CASE(a_loop_that_ends_meanwhile_does_not_hold_it_up) {
    for (const Spread spread : both_ways) {
        LoopGroup some(2);
        std::promise<Promise<void>> told;
        some.start([&](EventLoop& on, std::size_t index) {
            const Promise<void> main = on.create_promise<void>();
            if (index == 1) told.set_value(main);
            return main;
        });
        server = wait(
            create_server_group(loop, some, &echo_factory, {any_port}, ServerOptions(), spread));
        address = server.endpoints().at(0);
        std::vector<Client> clients = served(6);
        const Promise<ShutdownSummary> over = server.shutdown(loop, hours(1));
        for (int i = 0; i < 3; ++i) wait(server.counters(loop));
        const Promise<void> main = told.get_future().get();
        some.poster(1).post([main] { main.set_result(); });
        while (some.poster(1).post([] {})) std::this_thread::yield();
        clients.clear();
        const ShutdownSummary summary = wait(over);
        BOOST_TEST(summary.closed + summary.aborted == 0u);
        BOOST_TEST(summary.finished <= 6u);
    }
}

BOOST_AUTO_TEST_CASE(the_group_may_go_while_it_shuts_down) {
    for (const Spread spread : both_ways) {
        serve(spread);
        std::vector<Client> clients = served(2);
        Promise<ShutdownSummary> over = server.shutdown(loop, hours(1));
        for (int i = 0; i < 3; ++i) wait(server.counters(loop));
        server = ServerGroup();
        loops_have_heard();
        BOOST_TEST(Client(address).error() == ECONNREFUSED);
        for (const Client& client : clients) BOOST_TEST(client.echo("hello") == "hello");
        BOOST_TEST(!over.done());
        clients.clear();
        BOOST_TEST(counts(wait(over)) == "2 0 0");

        serve(spread);
        clients = served(3);
        over = server.shutdown(loop, seconds(0), hours(1));
        server = ServerGroup();
        BOOST_TEST(counts(wait(over)) == "0 3 0");
        for (const Client& client : clients) BOOST_TEST(client.read() == "end");
    }
}

BOOST_AUTO_TEST_CASE(a_group_that_goes_is_forgotten_when_its_shutdown_is_over) {
    for (const Spread spread : both_ways) {
        for (const bool cancelled : {false, true}) {
            WatchedFactories factories;
            server = wait(create_server_group(loop, loops, std::ref(factories), {any_port},
                                              ServerOptions(), spread));
            address = server.endpoints().at(0);
            std::vector<Client> clients = served(2);
            const Promise<ShutdownSummary> over = server.shutdown(loop, hours(1));
            server = ServerGroup();
            if (cancelled) {
                over.cancel();
                BOOST_CHECK_THROW(wait(over), reactor::CancelledError);
            }
            clients.clear();
            if (!cancelled) wait(over);
            for (const std::size_t index : {0u, 1u}) factories.wait(index);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
