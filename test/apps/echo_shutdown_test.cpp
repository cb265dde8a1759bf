// SPDX-License-Identifier: BSL-1.0
#include "echo.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

using namespace echo_test;
namespace data = boost::unit_test::data;

namespace {

void greet(plain::Socket& client) {
    client.send("hello");
    BOOST_TEST(client.read(5) == "hello");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(echo_shutdown)

BOOST_DATA_TEST_CASE(clients_that_finish_within_the_grace, data::make(ways), way) {
    for (const int signal : {SIGTERM, SIGINT}) {
        Server server(served(way, {"--grace", "60"}));
        plain::Socket first(server.address()), second(server.address());
        greet(first);
        greet(second);
        server.begin_to_end(signal);
        for (plain::Socket* client : {&first, &second}) {
            greet(*client);
            client->end_sending();
            BOOST_TEST(client->read_to_end() == "");
        }
        check_ended(server.wait(), 2, 0, 0);
    }
}

BOOST_DATA_TEST_CASE(it_ends_in_order_even_if_nobody_reads_what_it_prints, data::make(ways), way) {
    Server server(served(way, {}));
    server.process().close_output();
    const Exit exit = server.stop();
    BOOST_TEST(exit.status == 0, exit.text());
}

BOOST_DATA_TEST_CASE(an_idle_client_is_closed_after_the_grace, data::make(ways), way) {
    Server server(served(way, {"--grace", "0.1"}));
    plain::Socket client(server.address());
    greet(client);
    server.send_signal(SIGTERM);
    BOOST_TEST(client.error_at_end() == 0);
    check_ended(server.wait(), 0, 1, 0);
}

BOOST_DATA_TEST_CASE(a_client_that_does_not_read_is_aborted_in_the_end, data::make(ways), way) {
    Server server(served(way, {"--grace", "0"}));
    plain::Socket client(server.address());
    client.send_until_full(std::string(65536, 'x'), 256 * 1024 * 1024);
    server.send_signal(SIGTERM);
    check_ended(server.wait(), 0, 0, 1);
    BOOST_TEST(client.error_at_end() == ECONNRESET);
}

BOOST_DATA_TEST_CASE(a_second_signal_does_not_wait, data::make(ways), way) {
    Server server(served(way, {"--grace", "1000"}));
    plain::Socket client(server.address());
    greet(client);
    server.begin_to_end();
    server.send_signal(SIGINT);
    const Exit exit = server.wait();
    BOOST_TEST(exit.status == 0, exit.text());
    BOOST_TEST(!exit.timed_out);
    BOOST_TEST(client.error_at_end() == ECONNRESET);
}

BOOST_AUTO_TEST_SUITE_END()
