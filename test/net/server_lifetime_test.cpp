// SPDX-License-Identifier: BSL-1.0
#include <net/server.hpp>

#include "server_fixture.hpp"

#include <reactor/task.hpp>

#include <test/support/temporary_directory.hpp>

#include <sys/wait.h>

using namespace served;

#define SERVER_TEST(name) REACTOR_LOOP_TEST_IN(ServerTest, name)

namespace {

class Forever : public reactor::Task<void> {
public:
    Forever(Stream stream, std::shared_ptr<int> alive)
        : stream_(std::move(stream)), alive_(std::move(alive)) {}

private:
    Next start() override { return await(stream_.read_line(), &Forever::ended); }
    Next ended() { return finish(); }

    Stream stream_;
    std::shared_ptr<int> alive_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(server_lifetime)

SERVER_TEST(a_server_that_is_destroyed_stops_listening_and_its_connections_go_on) {
    serve();
    connect();
    run_until_open(1);
    server = Server();
    BOOST_TEST(Client(address).error == ECONNREFUSED);
    clients[0].send("more");
    run_until([&] { return courses[0].bytes == "more"; });
    clients.clear();
    run_until([&] { return courses[0].lost == 1; });
}

SERVER_TEST(its_waiters_are_told_also_when_it_is_gone) {
    serve();
    connect();
    run_until_open(1);
    const Promise<void> closed = server.wait_closed();
    const Promise<void> forever = server.serve_forever();
    const Promise<ShutdownSummary> over = server.shutdown(seconds(100));
    server = Server();
    loop.run_iterations(3);
    BOOST_TEST(!closed.done());
    clients.clear();
    run_until([&] { return closed.done() && forever.done() && over.done(); });
    BOOST_TEST(over.result().finished == 1u);
}

// Law 5, in each callback that a server has.
SERVER_TEST(it_may_be_destroyed_in_any_callback) {
    const auto destroy = [this] { server = Server(); };
    on_client = [&](Course&) { destroy(); };
    serve();
    connect();
    connect();
    run_until([&] { return courses.size() == 1 && made() == 1; });
    loop.run_iterations(3);
    BOOST_TEST(courses.size() == 1u);  // the other one was in the backlog
    clients.clear();
    run_until([&] { return lost() == 1; });
    courses.clear();

    on_client = [&](Course& course) { course.on_made = destroy; };
    serve();
    connect();
    run_until([&] { return made() == 1; });
    BOOST_TEST(!server);
    clients.clear();
    run_until([&] { return lost() == 1; });
    courses.clear();

    on_client = [&](Course& course) { course.on_lost = destroy; };
    serve();
    connect();
    run_until_open(1);
    const Promise<void> closed = server.wait_closed();
    closed.add_done_callback([&](const Promise<void>&) { destroy(); });
    clients.clear();
    run_until([&] { return closed.done(); });
    courses.clear();
    on_client = nullptr;

    serve();
    const Promise<void> waiter = server.wait_closed();
    waiter.add_done_callback([&](const Promise<void>&) { destroy(); });
    server.close();
    loop.run_iterations(2);
    BOOST_TEST(!server);

    server = start_server(
        loop, [&](Stream stream) { destroy(), stream.abort(); }, any_port);
    address = server.endpoints().front();
    connect();
    run_until([&] { return !server; });
    run_until([&] { return clients[0].ended(); });
}

// The factory owns the server, and so goes with it.
SERVER_TEST(the_factory_may_own_the_server) {
    auto holder = std::make_shared<Server>();
    const std::weak_ptr<Server> watched = holder;
    *holder = create_server(
        loop,
        [this, holder]() mutable {
            courses.emplace_back();
            const std::shared_ptr<Server> last = std::move(holder);
            last->close();
            *last = Server();
            return told(courses.back());
        },
        any_port);
    address = holder->endpoints().front();
    holder.reset();
    connect();
    run_until([&] { return made() == 1; });
    BOOST_TEST(watched.expired());
    clients.clear();
    run_until([&] { return lost() == 1; });
}

SERVER_TEST(everything_may_be_asked_of_a_closed_one_again) {
    serve();
    server.close();
    server.close();
    server.close_clients();
    server.abort_clients();
    BOOST_TEST(server.wait_closed().done());
    BOOST_TEST(server.serve_forever().done());
    BOOST_TEST(server.shutdown(seconds(1)).done());
    BOOST_TEST(server.endpoints().empty());
    BOOST_TEST(server.counters().accepted == 0u);
    BOOST_TEST(&server.loop() == &loop);
}

SERVER_TEST(an_empty_one_does_nothing_or_says_so) {
    Server empty;
    BOOST_TEST(!empty);
    BOOST_TEST(!empty.is_serving());
    empty.close();
    empty.close_clients();
    empty.abort_clients();
    BOOST_CHECK_THROW(empty.wait_closed(), StateError);
    BOOST_CHECK_THROW(empty.serve_forever(), StateError);
    BOOST_CHECK_THROW(empty.shutdown(seconds(1)), StateError);
    BOOST_CHECK_THROW(empty.start_serving(), StateError);
    BOOST_CHECK_THROW(empty.endpoints(), StateError);
    BOOST_CHECK_THROW(empty.counters(), StateError);
    BOOST_CHECK_THROW(empty.loop(), StateError);
    serve();
    Server moved = std::move(server);
    BOOST_TEST(!server);
    BOOST_TEST(moved.is_serving());
    moved = Server();
    BOOST_TEST(Client(address).error == ECONNREFUSED);
}

SERVER_TEST(a_loop_that_closes_first_closes_the_descriptors_and_calls_nobody) {
    const auto alive = std::make_shared<int>();
    serve();
    Server streams = start_server(loop, reactor::net::serve_with<Forever>(alive), any_port);
    const Endpoint at = streams.endpoints().front();
    connect();
    clients.emplace_back(at);
    run_until_open(1);
    run_until([&] { return streams.counters().open == 1 && alive.use_count() == 3; });
    const Promise<void> closed = server.wait_closed();
    const Promise<ShutdownSummary> over = streams.shutdown(seconds(1));
    bool called = false;
    closed.add_done_callback([&](const Promise<void>&) { called = true; });
    loop.close();
    BOOST_TEST(alive.use_count() == 2);  // the handler's own copy
    BOOST_TEST(courses[0].destroyed == 1);
    BOOST_TEST(courses[0].lost == 0);
    BOOST_TEST(clients[0].ended());
    BOOST_TEST(clients[1].ended());
    BOOST_TEST(Client(address).error == ECONNREFUSED);
    BOOST_TEST(!called);
    // It is a closed server.
    BOOST_TEST(!server.is_serving());
    BOOST_TEST(server.endpoints().empty());
    server.close();
    server.abort_clients();
    BOOST_TEST(server.wait_closed().done());
    BOOST_TEST(server.serve_forever().done());
    BOOST_TEST(server.shutdown(seconds(1)).done());
    BOOST_TEST(server.counters().open == 0u);
    BOOST_CHECK_THROW(server.start_serving(), StateError);
    BOOST_CHECK_THROW(create_server(loop, factory(), any_port), StateError);
}

SERVER_TEST(a_server_may_outlive_its_loop) {
    Server later;
    {
        TestLoop other;
        later = create_server(other, factory(), any_port);
    }
    BOOST_TEST(!later.is_serving());
    later.close();
    BOOST_CHECK_THROW(later.loop(), StateError);
}

// A file of a Unix server is the parent's.
SERVER_TEST(a_forked_child_that_closes_it_leaves_the_parents_alone) {
    const support::TemporaryDirectory folder;
    serve(ServerOptions(), Endpoint::local_path(folder / "socket"));
    const ::pid_t child = ::fork();
    if (child == 0) {
        server.close();
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    connect();
    run_until_open(1);
    server.close();
    BOOST_TEST(support::names_in(folder.path()).empty());
}

BOOST_AUTO_TEST_SUITE_END()
