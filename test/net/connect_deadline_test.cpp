// SPDX-License-Identifier: BSL-1.0
#include <net/connect.hpp>

#include "names.hpp"

using namespace connected;
using namespace names;
using reactor::net::connect;
using reactor::net::ConnectOptions;

BOOST_AUTO_TEST_SUITE(connect_deadline)

REACTOR_LOOP_TEST(an_address_that_does_not_answer_leaves_time_for_the_next) {
    const Full full(loop);
    const Endpoint silent = full.listener.local_endpoint();
    const Listener listener(loop, any_port);
    const reactor::TimePoint begin = loop.time();
    const auto one_by_one = ConnectOptions(seconds(10)).happy_eyeballs_delay(reactor::forever());
    loop.selector().set_patience(milliseconds(1));
    const Socket client =
        loop.run_until_complete(connect(loop, {silent, listener.local_endpoint()}, one_by_one));
    BOOST_TEST((client.remote_endpoint() == listener.local_endpoint()));
    BOOST_TEST((loop.time() - begin == seconds(5)));
    loop.run_iterations(1);
}

REACTOR_LOOP_TEST(the_deadline_is_for_all_addresses_together) {
    const Full full(loop);
    const std::uint16_t port = full.listener.local_endpoint().port();
    const Promise<Socket> alone = connect(loop, "127.0.0.1", port, seconds(3));
    const reactor::TimePoint begin = loop.time();
    BOOST_CHECK_THROW(loop.run_until_complete(alone), TimeoutError);
    BOOST_TEST((loop.time() - begin == seconds(3)));
    const std::string at = "127.0.0.1:" + std::to_string(port);
    BOOST_TEST(error_of(loop, alone) == "connect to " + at + ": Connection timed out");
}

REACTOR_LOOP_TEST(a_time_out_tells_each_reason_once) {
    const Full full(loop);
    const std::uint16_t port = full.listener.local_endpoint().port();
    const auto late = [&](const Endpoints& addresses) {
        answer(loop, addresses);
        const Promise<Socket> connection = connect(loop, "pics.example", port, seconds(3));
        while (loop.timer_count() == 0 || loop.watch_count() == 0) loop.run_once();  // the look-up
        loop.selector().set_patience(milliseconds(1));
        const std::string error = error_of(loop, connection);
        BOOST_TEST(bool(connection.error()));
        BOOST_CHECK_THROW(connection.result(), TimeoutError);
        loop.run_iterations(1);
        return error;
    };
    const std::string number = std::to_string(port);
    const std::string begin = "connect to pics.example port " + number + ": ";
    const Endpoint silent("127.0.0.1", 0);
    // A number that is one server's at 127.0.0.1 may be free at 127.0.0.2.
    const Endpoint refusing("127.0.0.2", 0);
    BOOST_TEST(late({silent}) == "connect to 127.0.0.1:" + number + ": Connection timed out");
    BOOST_TEST(late({silent, silent}) ==
               begin + "127.0.0.1:" + number + ", 127.0.0.1:" + number + ": Connection timed out");
    BOOST_TEST(late({refusing, silent}) == begin + "127.0.0.2:" + number +
                                               ": Connection refused; 127.0.0.1:" + number +
                                               ": Connection timed out");
}

REACTOR_LOOP_TEST(a_cancelled_connect_closes_its_socket) {
    const Full full(loop);
    const std::size_t before = reactor::testing::open_descriptors();
    const Promise<Socket> connection =
        connect(loop, "127.0.0.1", full.listener.local_endpoint().port(), seconds(60));
    loop.run_iterations(6);
    BOOST_TEST(reactor::testing::open_descriptors() == before + 1);
    BOOST_TEST(connection.cancel());
    loop.run_until_idle();
    BOOST_TEST(connection.cancelled());
    BOOST_TEST(reactor::testing::open_descriptors() == before);
    BOOST_TEST(loop.timer_count() == 0u);
}

// Fault D5: a time limit, success and cancellation in one pass have one outcome. The readiness of a
// descriptor comes before what is due.
REACTOR_LOOP_TEST(a_connection_that_comes_about_as_its_time_is_up_is_a_connection) {
    Listener listener(loop, any_port);
    for (const bool cancelled : {false, true}) {
        const Promise<Socket> connection =
            connect(loop, {listener.local_endpoint()}, milliseconds(5));
        while (loop.watch_count() == 0) loop.run_iterations(1);
        const Promise<Socket> accepted = listener.accept();  // it has come about
        loop.clock().advance(milliseconds(5));
        if (cancelled) BOOST_TEST(connection.cancel());
        loop.run_until_idle();
        BOOST_TEST(connection.done());
        BOOST_TEST(connection.cancelled() == cancelled);
        BOOST_TEST(loop.timer_count() == 0u);
        be_patient(loop);
        Socket server = loop.run_until_complete(accepted);
        if (cancelled) {
            BOOST_TEST(loop.run_until_complete(server.read()) == "");
        } else {
            BOOST_TEST(connection.result().is_connected());
        }
        loop.run_iterations(1);
    }
}

REACTOR_LOOP_TEST(a_connection_that_is_cancelled_as_it_comes_about_is_closed) {
    Listener listener(loop, any_port);
    // In each iteration from the call to the connection once.
    for (int iteration = 0;; ++iteration) {
        const Promise<Socket> connection = connect(loop, {listener.local_endpoint()}, seconds(5));
        loop.run_iterations(static_cast<std::size_t>(iteration));
        if (connection.done()) {
            BOOST_TEST(connection.result().is_connected());
            BOOST_TEST(iteration > 5);
            break;
        }
        BOOST_TEST(connection.cancel());
        loop.run_until_idle();
        BOOST_TEST(connection.cancelled());
        BOOST_TEST(loop.timer_count() == 0u);
        BOOST_TEST(loop.watch_count() == 0u);
    }
}

REACTOR_LOOP_TEST(a_limit_that_is_up_as_the_connection_comes_about_closes_it) {
    Listener listener(loop, any_port);
    const auto server_sees_the_end = [&] {
        be_patient(loop);
        Socket server = loop.run_until_complete(listener.accept());
        return loop.run_until_complete(server.read());
    };
    // How many iterations there are up to the one that connects.
    std::size_t steps = 0;
    {
        const Promise<Socket> connection = connect(loop, {listener.local_endpoint()});
        for (; loop.watch_count() == 0; ++steps) loop.run_iterations(1);
        BOOST_TEST(connection.cancel());
        loop.run_until_idle();
        BOOST_TEST(server_sees_the_end() == "");
        loop.run_iterations(1);
    }
    // wait_for() sees the end of its time and not yet the connection, in one pass: the step that
    // connects is in the queue already, the expiry comes behind it.
    for (const bool cancelled : {false, true}) {
        const Promise<Socket> connection =
            reactor::wait_for(connect(loop, {listener.local_endpoint()}), milliseconds(5));
        const std::size_t before = reactor::testing::open_descriptors();
        loop.run_iterations(steps - 1);
        BOOST_TEST(reactor::testing::open_descriptors() == before);
        loop.clock().advance(milliseconds(5));
        if (cancelled) loop.call_soon([&] { BOOST_TEST(connection.cancel()); });
        loop.run_iterations(1);
        loop.run_until_idle();
        BOOST_TEST(reactor::testing::open_descriptors() == before);
        BOOST_TEST(loop.timer_count() == 0u);
        BOOST_TEST(server_sees_the_end() == "");
        BOOST_TEST(connection.cancelled() == cancelled);
        if (!cancelled) BOOST_CHECK_THROW(connection.result(), TimeoutError);
    }
}

BOOST_AUTO_TEST_SUITE_END()
