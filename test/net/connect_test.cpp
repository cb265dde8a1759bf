// SPDX-License-Identifier: BSL-1.0
#include <net/connect.hpp>

#include "connected.hpp"

#include <net/resolver.hpp>

#include <cerrno>

using namespace connected;
using reactor::net::connect;
using reactor::net::ConnectError;
using Endpoints = std::vector<Endpoint>;

namespace {

// A name has addresses, not ports; but the ports are all that tells this machine's servers apart.
// So the test connects to port 0 of addresses of the whole 127.0.0.0/8 network.
void answer(TestLoop& loop, const Endpoints& addresses) {
    be_patient(loop);
    loop.service<reactor::net::Resolver>().set_lookup(
        [addresses](const std::string&) { return addresses; });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(connecting)

// Rows CN-01 and F2.
REACTOR_LOOP_TEST(a_name_is_resolved_and_connected_to) {
    Listener listener(loop, any_port);
    const std::uint16_t port = listener.local_endpoint().port();
    answer(loop, {Endpoint("127.0.0.1", 0)});
    const Promise<Socket> accepted = listener.accept();
    Socket client = loop.run_until_complete(connect(loop, "pics.example", port));
    Socket server = loop.run_until_complete(accepted);
    BOOST_TEST(client.send("hello").done());
    BOOST_TEST(loop.run_until_complete(server.read()) == "hello");

    loop.call_soon([&] {
        connect("127.0.0.1", port, seconds(60)).add_done_callback([&](const Promise<Socket>& done) {
            BOOST_TEST(done.take().is_connected());
            loop.stop();
        });
    });
    loop.run_forever();
    loop.run_iterations(1);
}

// Row CN-03.
REACTOR_LOOP_TEST(addresses_are_tried_in_order_until_one_accepts) {
    const Listener listener(loop, Endpoint("127.0.0.3", 0));
    const std::uint16_t port = listener.local_endpoint().port();
    answer(loop, {Endpoint("127.0.0.1", 0), Endpoint("127.0.0.2", 0), Endpoint("127.0.0.3", 0),
                  Endpoint("127.0.0.4", 0)});
    Socket client = loop.run_until_complete(connect(loop, "pics.example", port));
    BOOST_TEST((client.remote_endpoint() == listener.local_endpoint()));
    const std::size_t before = reactor::testing::open_descriptors();
    client = Socket();
    BOOST_TEST(reactor::testing::open_descriptors() == before - 1);
}

// Row CN-04.
REACTOR_LOOP_TEST(if_all_fail_the_error_tells_why) {
    const Refusing refusing("127.0.0.1");
    const std::uint16_t port = refusing.endpoint.port();
    const std::string refused = "connect to " + refusing.endpoint.str() + ": Connection refused";
    answer(loop, {Endpoint("127.0.0.1", 0)});
    BOOST_TEST(error_of(loop, connect(loop, "one", port)) == refused);
    answer(loop, {Endpoint("127.0.0.1", 0), Endpoint("127.0.0.1", 0)});
    BOOST_TEST(error_of(loop, connect(loop, "alike", port)) == refused);

    // Broadcasting takes a permission; what the system says of it is another reason.
    answer(loop, {Endpoint("127.0.0.1", 0), Endpoint("255.255.255.255", 0)});
    const Promise<Socket> failed = connect(loop, "pics.example", port);
    const std::string error = error_of(loop, failed);
    const std::string begin = "connect to pics.example port " + std::to_string(port) +
                              ": 127.0.0.1:" + std::to_string(port) +
                              ": Connection refused; 255.255.255.255:" + std::to_string(port) +
                              ": ";
    BOOST_TEST(error.find(begin) == 0u);
    try {
        failed.result();
        BOOST_ERROR("connected to nobody");
    } catch (const ConnectError& all) {
        BOOST_TEST(all.attempts.size() == 2u);
        BOOST_TEST(all.code().value() == ECONNREFUSED);
    }
    answer(loop, {});
    BOOST_TEST(error_of(loop, connect(loop, "none", port)) ==
               "resolve none: Cannot assign requested address");
}

REACTOR_LOOP_TEST(an_address_that_does_not_answer_leaves_time_for_the_next) {
    const Full full(loop);
    const std::uint16_t port = full.listener.local_endpoint().port();
    const Listener listener(loop, Endpoint("127.0.0.2", port));
    answer(loop, {Endpoint("127.0.0.1", 0), Endpoint("127.0.0.2", 0)});
    const reactor::TimePoint begin = loop.time();
    const Promise<Socket> connection = connect(loop, "pics.example", port, seconds(10));
    while (loop.timer_count() == 0 || loop.watch_count() == 0) loop.run_once();  // the look-up
    loop.selector().set_patience(milliseconds(1));
    while (!connection.done()) loop.run_once();
    const Socket client = connection.take();
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
    loop.run_iterations(3);
    BOOST_TEST(reactor::testing::open_descriptors() == before + 1);
    BOOST_TEST(connection.cancel());
    loop.run_until_idle();
    BOOST_TEST(connection.cancelled());
    BOOST_TEST(reactor::testing::open_descriptors() == before);
    BOOST_TEST(loop.timer_count() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
