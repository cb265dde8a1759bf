// SPDX-License-Identifier: BSL-1.0
#include <net/server_group.hpp>

#include "server_group_fixture.hpp"

#include <net/listener.hpp>
#include <reactor/combinators.hpp>
#include <test/support/temporary_directory.hpp>

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <thread>

using namespace grouped;

namespace {

using Numbers = std::vector<std::uint64_t>;

/// Throws when its client sends something.
class Failing : public Protocol {
    void data_received(reactor::net::ByteView) override { throw std::runtime_error("mine"); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(server_group, ServerGroupTest)

BOOST_AUTO_TEST_CASE(in_turn_every_loop_gets_as_many) {
    serve(Spread::in_turn);
    BOOST_TEST(listening_at(address) == 1);
    const std::vector<Client> clients = served(10);
    BOOST_TEST(accepted() == (Numbers{5, 5}), boost::test_tools::per_element());
    const ServerCounters all = wait(server.counters(loop));
    BOOST_TEST(all.accepted == 10u);
    BOOST_TEST(all.open == 10u);
}

BOOST_AUTO_TEST_CASE(by_system_every_loop_listens_at_one_port) {
    serve();
    BOOST_TEST(address.port() != 0);
    BOOST_TEST(server.endpoints().size() == 1u);
    BOOST_TEST(listening_at(address) == 2);
    const std::vector<Client> clients = served(200);
    const Numbers each = accepted();
    // The system promises no more than that.
    BOOST_TEST(each.at(0) + each.at(1) == 200u);
    std::printf("200 clients spread by the system: %d and %d\n", static_cast<int>(each[0]),
                static_cast<int>(each[1]));
}

BOOST_AUTO_TEST_CASE(what_serves_is_made_once_for_each_loop_on_its_thread) {
    std::vector<EventLoop*> made_on;
    std::vector<std::thread::id> threads;
    const auto factory = [&](EventLoop& on) {
        made_on.push_back(&on);
        threads.push_back(std::this_thread::get_id());
        return echo_factory(on);
    };
    for (const Spread spread : {Spread::by_system, Spread::in_turn}) {
        made_on.clear();
        threads.clear();
        server =
            wait(create_server_group(loop, loops, factory, {any_port}, ServerOptions(), spread));
        const auto here = [] {
            return std::make_pair(&reactor::get_running_loop(), std::this_thread::get_id());
        };
        BOOST_REQUIRE(made_on.size() == 2u);
        for (std::size_t i = 0; i < 2; ++i) {
            BOOST_TEST(
                (submit(loops.poster(i), here).take() == std::make_pair(made_on[i], threads[i])));
        }
    }
}

BOOST_AUTO_TEST_CASE(streams_on_every_loop) {
    for (const Spread spread : {Spread::by_system, Spread::in_turn}) {
        server = wait(start_server_group(
            loop, loops, [](EventLoop&) { return reactor::net::serve_with<echo::EchoTask>(); },
            {any_port}, ServerOptions(), spread));
        address = server.endpoints().at(0);
        served(4);
    }
}

BOOST_AUTO_TEST_CASE(a_unix_socket_is_accepted_by_the_first_loop) {
    const support::TemporaryDirectory directory;
    const std::string path = directory.path() + "/socket";
    serve(Spread::by_system, ServerOptions(), Endpoint::local_path(path));
    const std::vector<Client> clients = served(6);
    BOOST_TEST(accepted() == (Numbers{3, 3}), boost::test_tools::per_element());
    wait(server.shutdown(loop, seconds(0)));
    BOOST_TEST(::access(path.c_str(), F_OK) != 0);
}

BOOST_AUTO_TEST_CASE(inherited_sockets_are_taken_over) {
    reactor::net::Listener listener(loop, any_port);
    address = listener.local_endpoint();
    reactor::net::ListeningSockets sockets;
    sockets.add(::dup(listener.native_handle()));
    listener.close();
    server = wait(create_server_group(loop, loops, &echo_factory, std::move(sockets)));
    BOOST_TEST((server.endpoints().at(0) == address));
    const std::vector<Client> clients = served(6);
    BOOST_TEST(accepted() == (Numbers{3, 3}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_loop_of_the_group_may_ask_for_it_all) {
    const auto on_loop = [this] {
        return create_server_group(reactor::get_running_loop(), loops, &echo_factory, {any_port});
    };
    server = submit(loops.poster(1), on_loop).take();
    address = server.endpoints().at(0);
    const std::vector<Client> clients = served(3);
    const auto counters = [this] { return server.counters(reactor::get_running_loop()); };
    BOOST_TEST(submit(loops.poster(1), counters).take().open == 3u);
    const auto shutdown = [this] {
        return server.shutdown(reactor::get_running_loop(), seconds(0));
    };
    BOOST_TEST(counts(submit(loops.poster(0), shutdown).take()) == "0 3 0");
}

// ---- limits ---------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_full_loop_is_left_out_and_a_full_group_waits) {
    serve(Spread::in_turn, ServerOptions().max_connections(2));
    std::vector<Client> clients = served(4);
    Client waiting(address);
    waiting.send("hello");
    BOOST_TEST(wait(server.counters(loop)).accepted == 4u);
    // Loop 0 would be next.
    clients.pop_back();
    BOOST_TEST(waiting.read() == "hello");
    BOOST_TEST(accepted() == (Numbers{2, 3}), boost::test_tools::per_element());
    waiting.close();
    clients.push_back(served());
    for (int i = 0; i < 20; ++i) {
        clients.pop_back();
        clients.push_back(served());
    }
    BOOST_TEST(accepted() == (Numbers{2, 24}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_client_that_is_refused_leaves_its_place) {
    serve(Spread::in_turn, ServerOptions().max_connections(1).max_per_address(1));
    const std::vector<Client> clients = served(2);
    BOOST_TEST(wait(server.counters(loop)).open == 2u);
    server = ServerGroup();
    serve(Spread::in_turn, ServerOptions().max_connections(2).max_per_address(1));
    const std::vector<Client> others = served(2);
    for (int i = 0; i < 6; ++i) BOOST_TEST(Client(address).read() == "reset");
    BOOST_TEST(wait(server.counters(loop)).refused_by_limit == 6u);
}

// ---- errors ---------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(an_address_that_is_taken) {
    const reactor::net::Listener listener(loop, any_port);
    const Endpoint taken = listener.local_endpoint();
    for (const Spread spread : {Spread::by_system, Spread::in_turn}) {
        BOOST_TEST(error_of(create_server_group(loop, loops, &echo_factory, {any_port, taken},
                                                ServerOptions(), spread)) ==
                   "listen on " + taken.str() + ": Address already in use");
    }
    BOOST_TEST(error_of(create_server_group(loop, loops, &echo_factory, std::vector<Endpoint>())) ==
               "create_server: there is no address to listen on");
}

BOOST_AUTO_TEST_CASE(what_one_loop_fails_with_ends_the_others) {
    int calls = 0;
    Endpoint at;
    {
        const reactor::net::Listener free(loop, any_port);
        at = free.local_endpoint();
    }
    const auto factory = [&](EventLoop& on) {
        if (++calls == 2) throw std::runtime_error("not here");
        return echo_factory(on);
    };
    BOOST_TEST(error_of(create_server_group(loop, loops, factory, {at})) == "not here");
    // The loops have been told.
    for (std::size_t i = 0; i < 2; ++i) submit(loops.poster(i), [] {}).take();
    BOOST_TEST(Client(at).error() == ECONNREFUSED);
    BOOST_TEST(error_of(create_server_group(
                   loop, loops, [](EventLoop&) { return ProtocolFactory(); }, {any_port})) ==
               "create_server_group: the protocol factory of a loop is empty");
}

BOOST_AUTO_TEST_CASE(misuse_is_told) {
    BOOST_CHECK_THROW(server.endpoints(), StateError);
    BOOST_CHECK_THROW(server.close(), StateError);
    BOOST_CHECK_THROW(server.shutdown(loop, seconds(0)), StateError);
    BOOST_CHECK_THROW(create_server_group(loop, loops, nullptr, {any_port}), std::invalid_argument);
    BOOST_CHECK_THROW(create_server_group(loop, loops, &echo_factory, {any_port},
                                          ServerOptions().start_serving(false)),
                      std::invalid_argument);
    LoopGroup idle(2);
    BOOST_TEST(error_of(create_server_group(loop, idle, &echo_factory, {any_port})) ==
               "create_server_group: loop 0 of the LoopGroup does not run: start() it before");
}

BOOST_AUTO_TEST_CASE(a_protocol_that_throws_ends_its_connection_alone) {
    std::promise<std::string> reported;
    submit(loops.poster(1), [&reported] {
        reactor::get_running_loop().set_exception_handler(
            [&reported](EventLoop&, const reactor::Report& report) {
                reported.set_value(reactor::describe(report.exception));
            });
    }).take();
    int index = 0;
    server = wait(create_server_group(
        loop, loops,
        [&index](EventLoop& on) -> ProtocolFactory {
            if (index++ == 0) return echo_factory(on);
            return [] { return std::unique_ptr<Protocol>(new Failing); };
        },
        {any_port}, ServerOptions(), Spread::in_turn));
    address = server.endpoints().at(0);
    const Client first = served();
    BOOST_TEST(Client(address).echo("x") != "x");
    BOOST_TEST(reported.get_future().get() == "mine");
    BOOST_TEST(first.echo("again") == "again");
}

BOOST_AUTO_TEST_CASE(what_leaves_a_loop_ends_the_group_and_reaches_its_owner) {
    server = wait(create_server_group(loop, loops,
                                      [](EventLoop&) -> ProtocolFactory {
                                          return []() -> std::unique_ptr<Protocol> {
                                              throw LoopExit(7);
                                          };
                                      },
                                      {any_port}));
    const Promise<void> ended = loops.wait(loop);
    const Client client(server.endpoints().at(0));
    BOOST_TEST(error_of(ended) == "exit 7");
    BOOST_TEST(wait(server.counters(loop)).accepted == 0u);
    BOOST_TEST(counts(wait(server.shutdown(loop, hours(1)))) == "0 0 0");
}

BOOST_AUTO_TEST_CASE(a_loop_that_has_ended_is_given_no_client) {
    LoopGroup some(2);
    std::promise<Promise<void>> told;
    some.start([&](EventLoop& on, std::size_t index) {
        const Promise<void> main = on.create_promise<void>();
        if (index == 1) told.set_value(main);
        return main;
    });
    server = wait(create_server_group(loop, some, &echo_factory, {any_port}, ServerOptions(),
                                      Spread::in_turn));
    address = server.endpoints().at(0);
    const Promise<void> main = told.get_future().get();
    some.poster(1).post([main] { main.set_result(); });
    while (some.poster(1).post([] {})) std::this_thread::yield();
    const std::vector<Client> clients = served(4);
    BOOST_TEST(accepted() == (Numbers{4, 0}), boost::test_tools::per_element());
    server = ServerGroup();
}

BOOST_AUTO_TEST_CASE(it_may_outlive_the_loops) {
    {
        LoopGroup some(2);
        some.start();
        for (const Spread spread : {Spread::by_system, Spread::in_turn}) {
            server = wait(create_server_group(loop, some, &echo_factory, {any_port},
                                              ServerOptions(), spread));
            address = server.endpoints().at(0);
            served();
        }
    }
    BOOST_TEST(Client(address).error() == ECONNREFUSED);
    server.close();
    BOOST_TEST(counts(wait(server.shutdown(loop, seconds(0)))) == "0 0 0");
}

BOOST_AUTO_TEST_SUITE_END()
