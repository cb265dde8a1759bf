// SPDX-License-Identifier: BSL-1.0
#include <net/connect.hpp>

#include "names.hpp"

#include <cerrno>
#include <cstdint>
#include <stdexcept>

using namespace connected;
using namespace names;
using reactor::net::connect;
using reactor::net::ConnectError;
using reactor::net::ConnectOptions;

BOOST_AUTO_TEST_SUITE(connecting)

REACTOR_LOOP_TEST(CN_01_a_name_is_resolved_and_connected_to) {
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

REACTOR_LOOP_TEST(CN_03_addresses_are_tried_in_order_until_one_accepts) {
    const Listener listener(loop, Endpoint("127.0.0.3", 0));
    const std::uint16_t port = listener.local_endpoint().port();
    answer(loop, {Endpoint("127.0.0.1", 0), Endpoint("127.0.0.2", 0), Endpoint("127.0.0.3", 0),
                  Endpoint("127.0.0.4", 0)});
    loop.run_until_complete(connect(loop, "pics.example", port));  // what a loop makes once is made
    for (const auto delay : {reactor::Duration(milliseconds(250)), reactor::forever()}) {
        const std::size_t before = reactor::testing::open_descriptors();
        const auto options = ConnectOptions().happy_eyeballs_delay(delay);
        Socket client = loop.run_until_complete(connect(loop, "pics.example", port, options));
        BOOST_TEST((client.remote_endpoint() == listener.local_endpoint()));
        BOOST_TEST(reactor::testing::open_descriptors() == before + 1);
        client = Socket();
        BOOST_TEST(reactor::testing::open_descriptors() == before);
        BOOST_TEST(loop.timer_count() == 0u);
    }
}

REACTOR_LOOP_TEST(CN_04_if_all_fail_the_error_tells_why) {
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
    BOOST_CHECK_THROW(connect(loop, Endpoints()), std::invalid_argument);
}

REACTOR_LOOP_TEST(CN_04_all_errors_can_be_asked_for) {
    be_patient(loop);
    const Refusing refusing("127.0.0.1");
    for (const std::size_t count : {1u, 3u}) {
        const Endpoints addresses(count, refusing.endpoint);
        const Promise<Socket> failed = connect(loop, addresses, ConnectOptions().all_errors(true));
        const std::string error = error_of(loop, failed);
        BOOST_TEST(error.find(refusing.endpoint.str()) != std::string::npos);
        try {
            failed.result();
            BOOST_ERROR("connected to nobody");
        } catch (const ConnectError& all) {
            BOOST_TEST(all.attempts.size() == count);
            for (const std::system_error& attempt : all.attempts) {
                BOOST_TEST(attempt.code().value() == ECONNREFUSED);
            }
        }
    }
}

REACTOR_LOOP_TEST(CN_05_the_local_address_is_bound) {
    be_patient(loop);
    Listener listener(loop, any_port);
    const Endpoint free = Refusing("127.0.0.5").endpoint;  // which goes at once
    for (const Endpoint& from : {Endpoint("127.0.0.6", 0), free}) {
        const auto options = ConnectOptions().local(Endpoint("::1", 0)).local(from);
        const Promise<Socket> accepted = listener.accept();
        Socket client =
            loop.run_until_complete(connect(loop, {listener.local_endpoint()}, options));
        const Socket server = loop.run_until_complete(accepted);
        BOOST_TEST(client.local_endpoint().address() == from.address());
        if (from.port() != 0) BOOST_TEST((client.local_endpoint() == from));
        BOOST_TEST((server.remote_endpoint() == client.local_endpoint()));
        // The server's end waits for its peer's last segment, and not ours.
        client.abort();
    }
}

REACTOR_LOOP_TEST(CN_05_a_local_address_in_use_is_an_error_that_names_it) {
    be_patient(loop);
    const Listener listener(loop, any_port);
    const Refusing taken("127.0.0.1");
    const Promise<Socket> failed =
        connect(loop, {listener.local_endpoint()}, ConnectOptions().local(taken.endpoint));
    BOOST_TEST(error_of(loop, failed) == "bind " + taken.endpoint.str() + " to connect to " +
                                             listener.local_endpoint().str() +
                                             ": Address already in use");
    BOOST_TEST(code_of(failed) == EADDRINUSE);

    const Refusing refusing("127.0.0.1");
    const auto any = ConnectOptions().local(Endpoint("127.0.0.5", 0));
    BOOST_TEST(error_of(loop, connect(loop, {refusing.endpoint}, any)) ==
               "connect from 127.0.0.5:0 to " + refusing.endpoint.str() + ": Connection refused");
}

REACTOR_LOOP_TEST(CN_05_a_local_address_of_another_family_is_an_error_that_says_so) {
    be_patient(loop);
    const Listener listener(loop, any_port);
    const auto ipv6 = ConnectOptions().local(Endpoint("::1", 0));
    const Promise<Socket> failed = connect(loop, {listener.local_endpoint()}, ipv6);
    BOOST_TEST(error_of(loop, failed) == "connect to " + listener.local_endpoint().str() +
                                             ": no local address of its family is given: Cannot "
                                             "assign requested address");
}

REACTOR_LOOP_TEST(CN_06_the_family_can_be_asked_for) {
    const Listener listener(loop, any_port);
    const std::uint16_t port = listener.local_endpoint().port();
    answer(loop, {Endpoint("::1", 0), Endpoint("127.0.0.1", 0)});
    const auto only = ConnectOptions().family(Endpoint::Family::ipv4);
    const Socket client = loop.run_until_complete(connect(loop, "pics.example", port, only));
    BOOST_TEST((client.remote_endpoint() == listener.local_endpoint()));
    loop.service<reactor::net::Resolver>().set_service_lookup(
        [port](const std::string&) { return port; });
    BOOST_TEST(loop.run_until_complete(connect(loop, "127.0.0.1", "http")).is_connected());
}

BOOST_AUTO_TEST_SUITE_END()
