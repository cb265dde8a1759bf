// SPDX-License-Identifier: BSL-1.0
#include "echo.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <test/support/temporary_directory.hpp>

using namespace echo_test;
namespace data = boost::unit_test::data;

namespace {

std::string noise(std::size_t size) {
    std::string bytes;
    for (std::uint32_t n = 1; bytes.size() < size;) {
        n = n * 1664525 + 1013904223;
        bytes += static_cast<char>(static_cast<unsigned char>(n >> 24));
    }
    return bytes;
}

void check_round_trips(const std::string& address) {
    plain::Socket client(address);
    client.send("hello");
    BOOST_TEST(client.read(5) == "hello", address);
    const std::string large = noise(100 * 1000);
    client.send(large);
    BOOST_TEST((client.read(large.size()) == large), address);
    client.send("the end");
    client.end_sending();
    BOOST_TEST(client.read_to_end() == "the end", address);

    const Exit exit = load({address, "--connections", "20", "--rounds", "50", "--size", "1000"});
    BOOST_TEST(exit.status == 0, exit.text());
    BOOST_TEST(number_before("round trips", exit.out) == 1000u, exit.text());
    BOOST_TEST(number_before("bytes back", exit.out) == 1000000u, exit.text());
    BOOST_TEST(exit.err == "");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(echo_app)

BOOST_DATA_TEST_CASE(round_trips_over_every_kind_of_address, data::make(ways), way) {
    const support::TemporaryDirectory directory;
    const std::string path = directory / "echo.sock";
    const std::string name = "unix:@echo-test-" + std::to_string(::getpid());
    Strings arguments = {"--listen", "127.0.0.1:0", "--listen", "unix:" + path, "--listen", name};
    if (plain::has_ipv6()) arguments.insert(arguments.end(), {"--listen", "[::1]:0"});
    Server server(served(way, arguments));
    BOOST_TEST_REQUIRE(server.addresses().size() == arguments.size() / 2);
    BOOST_TEST(server.address(0).compare(0, 10, "127.0.0.1:") == 0);
    BOOST_TEST(!contains(server.address(0) + "\n", ":0\n"));
    BOOST_TEST(server.address(1) == "unix:" + path);
    BOOST_TEST(server.address(2) == name);
    if (plain::has_ipv6()) BOOST_TEST(server.address(3).compare(0, 6, "[::1]:") == 0);
    for (const std::string& address : server.addresses()) check_round_trips(address);

    const Exit exit = server.stop();
    check_ended_alone(exit);
    BOOST_TEST(number_before("accepted", exit.out) == 21 * server.addresses().size());
    // The file of the socket goes with the server.
    BOOST_TEST(::access(path.c_str(), F_OK) != 0);
}

BOOST_DATA_TEST_CASE(without_an_address_on_a_port_of_127_0_0_1, data::make(ways), way) {
    Server server(served(way, {}));
    BOOST_TEST(server.address().compare(0, 10, "127.0.0.1:") == 0);
    check_round_trips(server.address());
    check_ended_alone(server.stop());
}

BOOST_DATA_TEST_CASE(sockets_that_are_handed_over, data::make(ways), way) {
    // What systemd does: LISTEN_PID is the program's own, the sockets are 3 and 4.
    // (bash, since other shells know descriptors of one digit only)
    const plain::Listener first, second;
    const int inherited[] = {::dup(first.fd()), ::dup(second.fd())};
    const std::string script = "LISTEN_PID=$$ LISTEN_FDS=2 exec \"$0\" \"$@\" 3<&" +
                               std::to_string(inherited[0]) + " 4<&" + std::to_string(inherited[1]);
    Strings argv = {"bash", "-c", script, programs::path_of("echo"), "serve"};
    support::ChildProcess process{support::Command(served(way, argv))};
    for (const int fd : inherited) ::close(fd);
    BOOST_TEST_REQUIRE(process.wait_for_output("\n"));
    BOOST_TEST(process.output() == first.address() + "\n" + second.address() + "\n");
    check_round_trips(first.address());
    check_round_trips(second.address());
    process.send_signal(SIGTERM);
    check_ended_alone(process.wait());
}

BOOST_DATA_TEST_CASE(a_limit_of_connections_lets_others_wait, data::make(ways), way) {
    Server server(served(way, {"--limit", "2"}));
    plain::Socket first(server.address()), second(server.address());
    for (plain::Socket* client : {&first, &second}) {
        client->send("here");
        BOOST_TEST(client->read(4) == "here");
    }
    plain::Socket third(server.address());
    third.send("and me");
    const Exit exit = load({server.address(), "--rounds", "1", "--timeout", "0.2"});
    BOOST_TEST(exit.status == 1, exit.text());
    BOOST_TEST(contains(exit.err, "timed out"), exit.text());
    first.close();
    BOOST_TEST(third.read(6) == "and me");
}

BOOST_DATA_TEST_CASE(a_silent_client_is_left_when_the_time_is_up, data::make(ways), way) {
    Server server(served(way, {"--idle-timeout", "0.1"}));
    plain::Socket client(server.address());
    client.send("x");
    BOOST_TEST(client.read(1) == "x");
    client.error_at_end();  // an end, orderly or not
    check_ended_alone(server.stop());
}

BOOST_DATA_TEST_CASE(a_client_that_does_not_read_is_not_read_either, data::make(ways), way) {
    Server server(served(way, {}));
    plain::Socket client(server.address());
    const std::string piece = noise(65536);
    const std::size_t offered = 256 * 1024 * 1024;
    const std::size_t sent = client.send_until_full(piece, offered);
    BOOST_TEST(sent < offered);
    // And nothing of it is lost.
    client.end_sending();
    BOOST_TEST(client.read_to_end().size() == sent);
}

BOOST_AUTO_TEST_SUITE_END()
