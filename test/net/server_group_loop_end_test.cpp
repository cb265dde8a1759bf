// SPDX-License-Identifier: BSL-1.0
#include <net/server_group.hpp>

#include "server_group_fixture.hpp"

#include <net/detail/transport_service.hpp>
#include <net/listener.hpp>
#include <net/testing.hpp>
#include <reactor/testing.hpp>

#include <cstdint>
#include <memory>

using namespace grouped;

namespace {

const Spread both_ways[] = {Spread::by_system, Spread::in_turn};

/// An address that is free, as far as one can tell.
Endpoint free_address(EventLoop& loop) {
    const reactor::net::Listener free(loop, any_port);
    return free.local_endpoint();
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(server_group_loop_end, ServerGroupTest)

BOOST_AUTO_TEST_CASE(a_loop_that_ends_while_the_group_is_made_fails_it) {
    for (const Spread spread : both_ways) {
        for (const std::size_t first : {0u, 1u}) {
            EndingLoops some;
            const Endpoint at = free_address(loop);
            int made = 0;
            // Loop 0 ends when it has its server, or loop 1 before it has one.
            const auto factory = [&](EventLoop& on) {
                if (made++ == (first == 0 ? 1 : 0)) some.end(first);
                return echo_factory(on);
            };
            const std::string error = error_of(
                create_server_group(loop, some.loops, factory, {at}, ServerOptions(), spread));
            BOOST_TEST(error == (first == 0 ? "create_server_group: loop 0 of the LoopGroup has "
                                              "ended meanwhile"
                                            : "create_server_group: loop 1 of the LoopGroup does "
                                              "not run: start() it before"));
            // The other one has been told.
            const reactor::Poster other = some.loops.poster(1 - first);
            for (int i = 0; i < 3; ++i) submit(other, [] {}).take();
            BOOST_TEST(Client(at).error() == ECONNREFUSED);
        }
    }
}

BOOST_AUTO_TEST_CASE(what_a_factory_throws_is_told_as_it_is) {
    for (const Spread spread : both_ways) {
        const auto broken = [](EventLoop&) -> ProtocolFactory {
            throw reactor::BrokenPromise("mine");
        };
        BOOST_TEST(error_of(create_server_group(loop, loops, broken, {any_port}, ServerOptions(),
                                                spread)) == "mine");
    }
    const auto leaving = [](EventLoop&) -> ProtocolFactory { throw LoopExit(5); };
    BOOST_TEST(error_of(create_server_group(loop, loops, leaving, {any_port})) ==
               "create_server_group: loop 0 of the LoopGroup has ended meanwhile");
    BOOST_TEST(error_of(loops.wait(loop)) == "exit 5");
}

BOOST_AUTO_TEST_CASE(a_loop_that_has_ended_has_no_room) {
    EndingLoops some;
    WatchedFactories factories;
    server = wait(create_server_group(loop, some.loops, std::ref(factories), {any_port},
                                      ServerOptions().max_connections(1), Spread::in_turn));
    address = server.endpoints().at(0);
    Client only = served();
    some.end(1);
    factories.wait(1);
    const Client waiting(address);
    waiting.send("hello");
    // The first loop has seen that somebody is there.
    for (int i = 0; i < 3; ++i) wait(server.counters(loop));
    only.close();
    BOOST_TEST(waiting.read() == "hello");
    const ServerCounters counters = wait(server.counters(loop));
    BOOST_TEST(counters.accepted == 2u);
    BOOST_TEST(counters.failed == 0u);
    server = ServerGroup();
}

BOOST_AUTO_TEST_CASE(the_others_forget_the_group_though_the_first_loop_ends) {
    EndingLoops some;
    WatchedFactories factories;
    server = wait(create_server_group(loop, some.loops, std::ref(factories), {any_port},
                                      ServerOptions(), Spread::in_turn));
    {
        const Busy first(some.loops.poster(0));
        // It ends in the iteration in which it hears that the group goes.
        some.loops.poster(0).post([] { throw LoopExit(1); });
        server = ServerGroup();
    }
    for (const std::size_t index : {0u, 1u}) factories.wait(index);
    BOOST_TEST(error_of(some.loops.wait(loop)) == "exit 1");
}

BOOST_AUTO_TEST_CASE(a_loop_with_a_network_in_memory_is_refused) {
    reactor::testing::TestLoop simulated;
    reactor::net::testing::MemoryNetwork network(simulated);
    reactor::net::detail::SimulatedNetwork* const simulation =
        reactor::net::detail::socket_calls(simulated).simulated();
    const auto simulate = [simulation](bool on) {
        const std::shared_ptr<reactor::net::detail::SimulatedNetwork> none;
        const std::shared_ptr<reactor::net::detail::SimulatedNetwork> one(none, simulation);
        reactor::get_running_loop()
            .service<reactor::net::detail::TransportService>()
            .calls.simulate(on ? one : none);
    };
    submit(loops.poster(1), [simulate] { simulate(true); }).take();
    for (const Spread spread : both_ways) {
        BOOST_TEST(error_of(create_server_group(loop, loops, &echo_factory, {any_port},
                                                ServerOptions(), spread)) ==
                   "create_server_group: loop 1 has a network in memory, which is that loop's "
                   "alone: create_server()");
    }
    submit(loops.poster(1), [simulate] { simulate(false); }).take();
}

BOOST_AUTO_TEST_SUITE_END()
