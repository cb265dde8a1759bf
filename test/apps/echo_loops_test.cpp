// SPDX-License-Identifier: BSL-1.0
#include "echo.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <cstdio>
#include <sstream>
#include <vector>

#include <test/support/temporary_directory.hpp>

using namespace echo_test;
namespace data = boost::unit_test::data;

namespace {

struct Work {
    unsigned long long connections;
    unsigned long long bytes;
};

/// What each loop says that it has served, also printed here.
std::vector<Work> work_of_loops(const Exit& exit) {
    BOOST_TEST_REQUIRE(exit.status == 0, exit.text());
    std::vector<Work> all;
    std::istringstream lines(exit.out);
    for (std::string line; std::getline(lines, line);) {
        if (line.compare(0, 5, "Loop ") != 0) continue;
        std::printf("%s\n", line.c_str());
        BOOST_TEST(contains(line, "Loop " + std::to_string(all.size()) + ": "));
        all.push_back({number_before("connections", line), number_before("bytes", line)});
    }
    return all;
}

bool within_a_fifth(unsigned long long one, unsigned long long even) {
    return one * 10 >= even * 8 && one * 10 <= even * 12;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(echo_loops)

BOOST_DATA_TEST_CASE(work_is_spread_evenly, data::make(ways), way) {
    Server server(served(way, {"--loops", "2"}));
    const Exit load_exit = load({server.address(), "--connections", "64", "--rounds", "100"});
    BOOST_TEST(load_exit.status == 0, load_exit.text());
    BOOST_TEST(contains(load_exit.out, "64 of 64 connected, 0 errors"), load_exit.text());
    const Exit exit = server.stop();
    const std::vector<Work> loops = work_of_loops(exit);
    BOOST_TEST_REQUIRE(loops.size() == 2u, exit.text());
    for (const Work& one : loops) {
        BOOST_TEST(within_a_fifth(one.connections, 32), exit.text());
        BOOST_TEST(within_a_fifth(one.bytes, 64u * 100 * 64 / 2), exit.text());
    }
    BOOST_TEST(loops[0].connections + loops[1].connections == 64u, exit.text());
    BOOST_TEST(loops[0].bytes + loops[1].bytes == number_before("bytes back", load_exit.out));
    BOOST_TEST(contains(exit.out, "; 64 accepted in all\n"), exit.text());
    check_ended_alone(exit);
}

BOOST_DATA_TEST_CASE(also_while_the_load_goes_on_for_a_time, data::make(ways), way) {
    Server server(served(way, {"--loops", "2"}));
    const Exit load_exit = load({server.address(), "--connections", "100", "--seconds", "0.3"});
    BOOST_TEST(load_exit.status == 0, load_exit.text());
    const std::vector<Work> loops = work_of_loops(server.stop());
    BOOST_TEST_REQUIRE(loops.size() == 2u);
    BOOST_TEST(loops[0].connections == 50u);
    BOOST_TEST(loops[1].connections == 50u);
    BOOST_TEST(loops[0].bytes + loops[1].bytes == number_before("bytes out", load_exit.out));
}

BOOST_AUTO_TEST_CASE(every_loop_listens) {
    Server server({"--loops", "3", "--reuse-port"});
    const Exit load_exit = load({server.address(), "--connections", "90", "--rounds", "10"});
    BOOST_TEST(load_exit.status == 0, load_exit.text());
    const std::vector<Work> loops = work_of_loops(server.stop());
    BOOST_TEST_REQUIRE(loops.size() == 3u);
    // The system promises no more than that.
    BOOST_TEST(loops[0].connections + loops[1].connections + loops[2].connections == 90u);
}

BOOST_AUTO_TEST_CASE(several_addresses_of_either_family) {
    const support::TemporaryDirectory directory;
    const std::string path = "unix:" + (directory / "echo.sock");
    Server server({"--loops", "2", "--listen", "127.0.0.1:0", "--listen", path});
    BOOST_TEST_REQUIRE(server.addresses().size() == 2u);
    BOOST_TEST(server.address(1) == path);
    for (const std::string& address : server.addresses()) {
        BOOST_TEST(load({address, "--connections", "4", "--rounds", "1"}).status == 0);
    }
    const std::vector<Work> loops = work_of_loops(server.stop());
    BOOST_TEST_REQUIRE(loops.size() == 2u);
    BOOST_TEST(loops[0].connections == 4u);
    BOOST_TEST(loops[1].connections == 4u);
    BOOST_TEST(support::names_in(directory.path()).empty());
}

// ---- the end --------------------------------------------------------------------------------

BOOST_DATA_TEST_CASE(clients_that_finish_within_the_grace, data::make(ways), way) {
    for (const int signal : {SIGTERM, SIGINT}) {
        Server server(served(way, {"--loops", "2", "--grace", "60"}));
        plain::Socket first(server.address()), second(server.address());
        for (plain::Socket* client : {&first, &second}) {
            client->send("hello");
            BOOST_TEST(client->read(5) == "hello");
        }
        server.begin_to_end(signal);
        for (plain::Socket* client : {&first, &second}) {
            client->send("again");
            BOOST_TEST(client->read(5) == "again");
            client->end_sending();
            BOOST_TEST(client->read_to_end() == "");
        }
        const Exit exit = server.wait();
        BOOST_TEST(contains(exit.out, "Ending: 2 connections are open\n"), exit.text());
        check_ended(exit, 2, 0, 0);
    }
}

BOOST_DATA_TEST_CASE(a_client_that_does_not_read_is_aborted_in_the_end, data::make(ways), way) {
    Server server(served(way, {"--loops", "2", "--grace", "0"}));
    plain::Socket client(server.address());
    client.send_until_full(std::string(65536, 'x'), 256 * 1024 * 1024);
    server.send_signal(SIGTERM);
    check_ended(server.wait(), 0, 0, 1);
    BOOST_TEST(client.error_at_end() == ECONNRESET);
}

BOOST_DATA_TEST_CASE(a_second_signal_does_not_wait, data::make(ways), way) {
    Server server(served(way, {"--loops", "2", "--grace", "1000"}));
    plain::Socket idle(server.address()), full(server.address());
    full.send_until_full(std::string(65536, 'x'), 256 * 1024 * 1024);
    server.begin_to_end();
    server.send_signal(SIGINT);
    const Exit exit = server.wait();
    BOOST_TEST(exit.status == 0, exit.text());
    BOOST_TEST(!exit.timed_out);
    BOOST_TEST(idle.error_at_end() == 0);
    BOOST_TEST(full.error_at_end() == ECONNRESET);
}

// ---- what is refused ------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(wrong_words) {
    using programs::check_refused;
    check_refused("echo", {"serve", "--loops"}, 2, "--loops needs");
    check_refused("echo", {"serve", "--loops", "0"}, 2, "--loops");
    check_refused("echo", {"serve", "--loops", "many"}, 2, "--loops");
    check_refused("echo", {"serve", "--loops", "1025"}, 2, "--loops is more than 1024");
    check_refused("echo", {"serve", "--reuse-port"}, 2, "--reuse-port is for several --loops");
    const plain::Listener taken;
    check_refused("echo", {"serve", "--loops", "2", "--listen", taken.address()}, 1,
                  "listen on " + taken.address() + ": Address already in use");
}

BOOST_AUTO_TEST_SUITE_END()
