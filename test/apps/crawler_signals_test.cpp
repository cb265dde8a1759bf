// SPDX-License-Identifier: BSL-1.0
#include "crawler.hpp"

#include <csignal>
#include <string>

#include <test/support/http_faults.hpp>

using namespace crawler_test;
using support::HttpPeer;
using support::PeerConnection;

namespace {

void check_interrupted(int signal, int status) {
    HttpPeer server;
    support::add_faults(server);
    server.on("/good.png", [](PeerConnection& to) { to.send(support::ok_response("good")); });
    const support::TemporaryDirectory directory;
    const Strings hanging = {server.url("/silent"), server.url("/stalled"), server.url("/drip")};
    const Strings waiting = {server.url("/never-1.png"), server.url("/never-2.png")};
    Strings arguments = {"--jobs", "4", "--output", directory.path(), server.url("/good.png")};
    arguments.insert(arguments.end(), hanging.begin(), hanging.end());
    arguments.push_back(server.url("/silent?again"));
    server.on("/silent?again", [](PeerConnection& to) { to.hold(); });
    arguments.insert(arguments.end(), waiting.begin(), waiting.end());

    support::ChildProcess crawler(command(arguments));
    server.wait_for_requests(5);
    BOOST_TEST_REQUIRE(crawler.wait_for_output("good.png, took"));
    crawler.send_signal(signal);
    const Exit exit = crawler.wait();

    BOOST_TEST(exit.status == status, exit.text());
    BOOST_TEST(exit.signal == 0, exit.text());
    for (const std::string& url : hanging) BOOST_TEST(outcome(exit, url) == "cancelled");
    BOOST_TEST(outcome(exit, server.url("/silent?again")) == "cancelled");
    // Those that had not begun are only counted.
    BOOST_TEST(url_lines(exit) == 5u, exit.text());
    check_summary(exit, 1, 0, 6);
    BOOST_TEST(exit.err == "");
    BOOST_TEST(support::names_in(directory.path()) == Strings{"good.png"},
               boost::test_tools::per_element());
    BOOST_TEST(server.requests().size() == 5u);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(crawler_signals)

BOOST_AUTO_TEST_CASE(sigint_cancels_what_hangs_and_ends_with_130) {
    check_interrupted(SIGINT, 130);
}

BOOST_AUTO_TEST_CASE(sigterm_cancels_what_hangs_and_ends_with_143) {
    check_interrupted(SIGTERM, 143);
}

BOOST_AUTO_TEST_CASE(a_signal_while_names_are_looked_up_and_connections_made) {
    // From the first moment on: whenever it comes there is an end, and nothing is left behind.
    HttpPeer server;
    support::add_faults(server);
    for (int round = 0; round < 20; ++round) {
        const support::TemporaryDirectory directory;
        Strings arguments = {"--output", directory / "pictures"};
        for (int i = 0; i < 20; ++i) {
            const std::string query = "?" + std::to_string(i);
            server.on("/a.png" + query, [](PeerConnection& to) {
                to.send(support::ok_response(std::string(300000, 'x')));
            });
            arguments.push_back(server.url("/a.png" + query));
        }
        arguments.push_back("http://localhost:" + std::to_string(server.port()) + "/silent");
        const std::size_t before = server.requests().size();
        support::ChildProcess crawler(command(arguments));
        server.wait_for_requests(before + static_cast<std::size_t>(round));
        crawler.send_signal(SIGINT);
        const Exit exit = crawler.wait();
        // Killed by it before the handler was there, or an end in order.
        if (exit.signal == SIGINT && exit.out == "") continue;
        BOOST_TEST(exit.status == 130, exit.text());
        BOOST_TEST(url_lines(exit) == 21u, exit.text());
        for (const std::string& name : support::names_in(directory / "pictures")) {
            BOOST_TEST(name[0] == 'a', name);
            BOOST_TEST(support::read_file(directory / "pictures/" + name).size() == 300000u);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
