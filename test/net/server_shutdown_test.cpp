// SPDX-License-Identifier: BSL-1.0
#include <net/server.hpp>

#include "server_fixture.hpp"

#include <reactor/task.hpp>

using namespace served;

#define SERVER_TEST(name) REACTOR_LOOP_TEST_IN(ServerTest, name)

namespace {

/// "finished closed aborted" of one that is done.
std::string counts(const Promise<ShutdownSummary>& done) {
    if (!done.done()) return "pending";
    const ShutdownSummary summary = done.result();
    return std::to_string(summary.finished) + " " + std::to_string(summary.closed) + " " +
           std::to_string(summary.aborted);
}

/// Waits for the end of the stream, or until it is cancelled; then says goodbye.
class Polite : public reactor::Task<void> {
public:
    explicit Polite(Stream stream) : stream_(std::move(stream)) {}

private:
    Next start() override { return await(stream_.read_all(1 << 20), &Polite::ended); }
    Next ended() { return finish(); }
    Next finally() override {
        stream_.write("goodbye");
        return await(stream_.close(), &Polite::closed);
    }
    Next closed() { return end(); }

    Stream stream_;
};

/// Does not heed its cancellation, and goes on without its connection.
class Stubborn : public reactor::Task<void> {
public:
    Stubborn(Stream stream, Promise<void> until)
        : stream_(std::move(stream)), until_(std::move(until)) {}

private:
    Next start() override { return wait(); }
    Next wait() { return await(never_, &Stubborn::ended, &Stubborn::cancelled); }
    Next cancelled(const std::exception_ptr&) { return await(until_, &Stubborn::ended); }
    Next ended() {
        stream_.abort();
        return finish();
    }

    Stream stream_;
    Promise<void> until_;
    Promise<void> never_ = loop().create_promise<void>();
};

}  // namespace

BOOST_AUTO_TEST_SUITE(server_shutdown)

SERVER_TEST(without_clients_it_is_over_at_once) {
    serve();
    BOOST_TEST(counts(server.shutdown(seconds(10))) == "0 0 0");
    BOOST_TEST(!server.is_serving());
    BOOST_TEST(counts(server.shutdown(seconds(10))) == "0 0 0");
}

SERVER_TEST(one_client_finishes_one_is_closed_and_one_aborted) {
    serve();
    for (int i = 0; i < 3; ++i) connect();
    run_until_open(3);
    courses[2].transport.write(std::string(16 << 20, 'x'));  // which its client never reads
    const Promise<void> closed = server.wait_closed();
    const Promise<ShutdownSummary> over = server.shutdown(seconds(10), seconds(3));
    BOOST_TEST(Client(address).error == ECONNREFUSED);
    clients[0].descriptor.close();
    loop.run_for(seconds(9));
    run_until([&] { return courses[0].lost == 1; });
    BOOST_TEST(lost() == 1u);
    BOOST_TEST(!courses[1].transport.is_closing());
    loop.run_for(milliseconds(1001));
    run_until([&] { return courses[1].lost == 1; });
    BOOST_TEST(!courses[1].error);
    BOOST_TEST(courses[2].lost == 0);
    loop.run_for(milliseconds(2990));
    BOOST_TEST(counts(over) == "pending");
    loop.run_for(milliseconds(20));
    BOOST_TEST(counts(over) == "1 1 1");
    BOOST_TEST(lost() == 3u);
    BOOST_TEST(closed.done());
    BOOST_TEST(loop.timer_count() == 0u);
}

SERVER_TEST(it_is_over_as_soon_as_the_last_client_has_gone) {
    serve();
    connect();
    run_until_open(1);
    const Promise<ShutdownSummary> over = server.shutdown(seconds(10));
    clients.clear();
    run_until([&] { return over.done(); });
    BOOST_TEST(counts(over) == "1 0 0");
    BOOST_TEST(loop.timer_count() == 0u);
}

SERVER_TEST(of_two_the_shorter_ends_the_clients) {
    serve();
    connect();
    run_until_open(1);
    const Promise<ShutdownSummary> patient = server.shutdown(reactor::forever());
    loop.run_for(seconds(1));
    const Promise<ShutdownSummary> hasty = server.shutdown(seconds(-1), seconds(0));
    run_until([&] { return hasty.done(); });
    BOOST_TEST(counts(hasty) == "0 1 0");
    BOOST_TEST(counts(patient) == "1 0 0");
}

SERVER_TEST(those_that_are_aborted_meanwhile_count_as_aborted) {
    serve();
    for (int i = 0; i < 3; ++i) connect();
    run_until_open(3);
    const Promise<ShutdownSummary> over = server.shutdown(reactor::forever());
    clients[0].descriptor.close();
    run_until([&] { return lost() == 1; });
    server.abort_clients();
    server.abort_clients();
    run_until([&] { return over.done(); });
    BOOST_TEST(counts(over) == "1 0 2");
}

SERVER_TEST(those_that_are_aborted_while_being_closed_count_as_aborted) {
    serve();
    connect();
    run_until_open(1);
    const Promise<ShutdownSummary> flushing = server.shutdown(seconds(0), reactor::forever());
    courses.back().transport.write(std::string(16 << 20, 'x'));  // which its client never reads
    loop.run_for(seconds(1));
    BOOST_TEST(counts(flushing) == "pending");
    server.abort_clients();
    run_until([&] { return flushing.done(); });
    BOOST_TEST(counts(flushing) == "0 0 1");
}

SERVER_TEST(a_cancelled_one_ends_nobody) {
    serve();
    connect();
    run_until_open(1);
    const Promise<ShutdownSummary> over = server.shutdown(seconds(1));
    over.cancel();
    loop.run_for(seconds(10));
    BOOST_TEST(over.cancelled());
    BOOST_TEST(lost() == 0u);
    BOOST_TEST(!server.is_serving());
    BOOST_TEST(loop.timer_count() == 0u);
}

SERVER_TEST(serve_forever_is_done_when_somebody_has_shut_the_server_down) {
    serve(ServerOptions().start_serving(false));
    const Promise<void> serving = server.serve_forever();
    BOOST_TEST(server.is_serving());
    connect();
    run_until_open(1);
    const Promise<ShutdownSummary> over = server.shutdown(seconds(1));
    BOOST_TEST(!serving.done());
    run_until([&] { return loop.run_for(milliseconds(100)), over.done(); });
    BOOST_TEST(serving.done());
    BOOST_TEST(!serving.error());
    BOOST_TEST(server.serve_forever().done());
}

SERVER_TEST(serve_forever_that_is_cancelled_closes_the_server) {
    serve();
    connect();
    run_until_open(1);
    const Promise<void> serving = server.serve_forever();
    loop.run_iterations(3);
    BOOST_TEST(!serving.done());
    serving.cancel();
    BOOST_TEST(serving.cancelled());
    BOOST_TEST(!server.is_serving());
    BOOST_TEST(lost() == 0u);
}

SERVER_TEST(handlers_finish_or_are_cancelled_and_may_say_goodbye) {
    server = start_server(loop, reactor::net::serve_with<Polite>(), any_port);
    address = server.endpoints().front();
    connect();
    connect();
    run_until([&] { return server.counters().open == 2; });
    loop.run_iterations(3);
    const Promise<ShutdownSummary> over = server.shutdown(seconds(10));
    clients[0].end_sending();
    std::string first, second;
    run_until([&] { return (first += clients[0].received()) == "goodbye"; });
    clients[0].descriptor.close();
    run_until([&] { return server.counters().open == 1; });
    loop.run_for(seconds(9));
    BOOST_TEST(clients[1].received() == "");
    loop.run_for(seconds(1));
    run_until([&] { return (second += clients[1].received()) == "goodbye"; });
    run_until([&] { return over.done(); });
    BOOST_TEST(counts(over) == "1 1 0");
    BOOST_TEST(clients[1].ended());
}

SERVER_TEST(handlers_that_heed_nothing_lose_their_connection_and_are_left_to_themselves) {
    const Promise<void> until = loop.create_promise<void>();
    server = start_server(loop, reactor::net::serve_with<Stubborn>(until), any_port);
    address = server.endpoints().front();
    connect();
    run_until([&] { return server.counters().open == 1; });
    loop.run_iterations(3);
    const Promise<void> serving = server.serve_forever();
    const Promise<void> closed = server.wait_closed();
    const Promise<ShutdownSummary> over = server.shutdown(seconds(1), seconds(1));
    loop.run_for(milliseconds(1500));
    BOOST_TEST(counts(over) == "pending");
    loop.run_for(milliseconds(501));
    run_until([&] { return over.done(); });
    BOOST_TEST(counts(over) == "0 0 1");
    BOOST_TEST(closed.done());
    BOOST_TEST(!serving.done());
    until.set_result();
    run_until([&] { return serving.done(); });
}

// A connection that is lost is not the end of a client whose handler goes on.
SERVER_TEST(a_handler_without_its_connection_is_waited_for) {
    const Promise<void> work = loop.create_promise<void>();
    const auto handler = [&](Stream stream) {
        stream.abort();
        return work;
    };
    server = start_server(loop, handler, any_port);
    address = server.endpoints().front();
    connect();
    run_until([&] { return clients[0].ended(); });
    run_until([&] { return server.counters().open == 0; });
    const Promise<ShutdownSummary> over = server.shutdown(seconds(10));
    BOOST_TEST(server.wait_closed().done());
    loop.run_for(seconds(1));
    BOOST_TEST(counts(over) == "pending");
    work.set_result();
    loop.run_iterations(2);
    BOOST_TEST(counts(over) == "1 0 0");
}

BOOST_AUTO_TEST_SUITE_END()
