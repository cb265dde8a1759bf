// SPDX-License-Identifier: BSL-1.0
#include <net/connect.hpp>

#include "names.hpp"

using namespace connected;
using namespace names;
using reactor::net::connect;
using reactor::net::ConnectOptions;
using reactor::net::interleave;
using reactor::testing::open_descriptors;

BOOST_AUTO_TEST_SUITE(happy_eyeballs)

BOOST_AUTO_TEST_CASE(HE_01_the_families_take_turns) {
    const Endpoint a1("2001:db8::1", 1), a2("2001:db8::2", 1), a3("2001:db8::3", 1);
    const Endpoint b1("192.0.2.1", 1), b2("192.0.2.2", 1);
    const Endpoints found{a1, a2, a3, b1, b2};
    BOOST_TEST((interleave(found, 1) == Endpoints{a1, b1, a2, b2, a3}));
    BOOST_TEST((interleave(found, 2) == Endpoints{a1, a2, b1, a3, b2}));
    BOOST_TEST((interleave(found, 3) == Endpoints{a1, a2, a3, b1, b2}));
    BOOST_TEST((interleave(found, 9) == found));
    BOOST_TEST((interleave(found, 0) == found));
    BOOST_TEST((interleave({b1, a1, a2, b2}, 1) == Endpoints{b1, a1, b2, a2}));
    BOOST_TEST((interleave({a3, a1, a2}, 1) == Endpoints{a3, a1, a2}));
    BOOST_TEST((interleave({a3, a1, a2}, 2) == Endpoints{a3, a1, a2}));
    BOOST_TEST(interleave({}, 2).empty());
}

REACTOR_LOOP_TEST(HE_02_the_loser_of_two_connects_is_closed_at_once) {
    const Full full(loop);
    const Listener listener(loop, any_port);
    loop.selector().set_patience(milliseconds(1));
    for (const auto delay : {milliseconds(250), milliseconds(100)}) {
        auto options = ConnectOptions(seconds(60));
        if (delay != milliseconds(250)) options.happy_eyeballs_delay(delay);
        const std::size_t before = open_descriptors();
        const reactor::TimePoint begin = loop.time();
        const Promise<Socket> connection =
            connect(loop, {full.listener.local_endpoint(), listener.local_endpoint()}, options);
        loop.run_iterations(10);
        BOOST_TEST(open_descriptors() == before + 1);
        const Socket client = loop.run_until_complete(connection);
        BOOST_TEST((client.remote_endpoint() == listener.local_endpoint()));
        BOOST_TEST((loop.time() - begin == delay));
        BOOST_TEST(open_descriptors() == before + 1);
        BOOST_TEST(loop.timer_count() == 0u);
        loop.run_until_idle();
        BOOST_TEST(loop.watch_count() == 0u);
    }
}

REACTOR_LOOP_TEST(HE_03_a_refusal_starts_the_next_attempt_at_once) {
    be_patient(loop);
    const Refusing refusing("127.0.0.1");
    const Listener listener(loop, any_port);
    const reactor::TimePoint begin = loop.time();
    const auto options = ConnectOptions().happy_eyeballs_delay(seconds(10));
    const Socket client = loop.run_until_complete(
        connect(loop, {refusing.endpoint, listener.local_endpoint()}, options));
    BOOST_TEST(client.is_connected());
    BOOST_TEST((loop.time() == begin));
}

// Fault F2: the other family, whichever comes first, and families that there are not.
REACTOR_LOOP_TEST(an_address_that_works_is_found_among_others) {
    be_patient(loop);
    const Refusing ipv4("127.0.0.1");
    const Refusing ipv6("::1");
    const Listener on_ipv4(loop, any_port);
    const Listener on_ipv6(loop, Endpoint("::1", 0));
    const Endpoint works4 = on_ipv4.local_endpoint();
    const Endpoint works6 = on_ipv6.local_endpoint();
    const Endpoint none;
    for (const Endpoints& addresses :
         {Endpoints{ipv6.endpoint, works4}, Endpoints{works4, ipv6.endpoint},
          Endpoints{ipv4.endpoint, works6}, Endpoints{works6, ipv4.endpoint},
          Endpoints{none, works4}, Endpoints{none, ipv4.endpoint, works6}}) {
        const Socket client = loop.run_until_complete(connect(loop, addresses, seconds(9)));
        const Endpoint peer = client.remote_endpoint();
        BOOST_TEST((peer == works4 || peer == works6));
        loop.run_until_idle();
    }
    const std::string error = error_of(loop, connect(loop, {none, ipv4.endpoint, ipv6.endpoint}));
    BOOST_TEST(error == "connect: (no address): Address family not supported by protocol; " +
                            ipv4.endpoint.str() + ": Connection refused; " + ipv6.endpoint.str() +
                            ": Connection refused");
}

REACTOR_LOOP_TEST(a_name_of_two_families_finds_the_server_of_one) {
    const Listener listener(loop, any_port);
    const std::uint16_t port = listener.local_endpoint().port();
    for (const Endpoints& addresses : {Endpoints{Endpoint("::1", 0), Endpoint("127.0.0.1", 0)},
                                       Endpoints{Endpoint("127.0.0.1", 0), Endpoint("::1", 0)}}) {
        answer(loop, addresses);
        const Socket client = loop.run_until_complete(connect(loop, "pics.example", port));
        BOOST_TEST((client.remote_endpoint() == listener.local_endpoint()));
        loop.run_until_idle();
    }
}

// Fault F2: fifty addresses that do not answer, and one that does.
REACTOR_LOOP_TEST(many_silent_addresses_are_all_tried_within_the_deadline) {
    const Full full(loop);
    const Listener listener(loop, any_port);
    const Endpoint silent = full.listener.local_endpoint();
    Endpoints addresses(50, silent);
    addresses.push_back(listener.local_endpoint());
    loop.selector().set_patience(milliseconds(1));
    const std::size_t before = open_descriptors();
    reactor::TimePoint begin = loop.time();
    {
        const Socket client = loop.run_until_complete(connect(loop, addresses, seconds(20)));
        BOOST_TEST((client.remote_endpoint() == listener.local_endpoint()));
        BOOST_TEST((loop.time() - begin == milliseconds(50 * 250)));
        BOOST_TEST(open_descriptors() == before + 1);
    }
    loop.run_until_idle();

    begin = loop.time();
    const Promise<Socket> late = connect(loop, addresses, seconds(3));
    const std::string error = error_of(loop, late);
    BOOST_CHECK_THROW(late.result(), TimeoutError);
    BOOST_TEST((loop.time() - begin == seconds(3)));
    BOOST_TEST(error.find("connect: " + silent.str() + ", " + silent.str()) == 0u);
    const std::string rest =
        ": Connection timed out; too late for " + silent.str() + " and 38 more";
    BOOST_TEST(error.find(rest) == error.size() - rest.size());
    BOOST_TEST(open_descriptors() == before);
    loop.run_until_idle();
}

REACTOR_LOOP_TEST(cancelling_ends_all_attempts) {
    const Full full(loop);
    const std::size_t before = open_descriptors();
    const Promise<Socket> connection = connect(loop, Endpoints(9, full.listener.local_endpoint()));
    loop.run_for(milliseconds(600));
    BOOST_TEST(open_descriptors() == before + 3);
    BOOST_TEST(connection.cancel());
    loop.run_until_idle();
    BOOST_TEST(connection.cancelled());
    BOOST_TEST(open_descriptors() == before);
    BOOST_TEST(loop.watch_count() == 0u);
    BOOST_TEST(loop.timer_count() == 0u);
}

REACTOR_LOOP_TEST(a_connect_that_nobody_holds_ends_quietly) {
    be_patient(loop);
    Listener listener(loop, any_port);
    static_cast<void>(connect(loop, {listener.local_endpoint()}));
    Socket server = loop.run_until_complete(listener.accept());
    BOOST_TEST(loop.run_until_complete(server.read()) == "");
}

BOOST_AUTO_TEST_SUITE_END()
