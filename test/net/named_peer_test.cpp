// SPDX-License-Identifier: BSL-1.0
#include <net/listener.hpp>

#include <boost/test/unit_test.hpp>

#include <net/socket.hpp>
#include <reactor/inspect.hpp>

#include <unistd.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <system_error>

#include <test/support/loop_test.hpp>
#include <test/support/refusal.hpp>

using namespace support;
using reactor::Promise;
using reactor::StateError;
using reactor::net::Endpoint;
using reactor::net::Listener;
using reactor::net::Socket;

namespace {

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(named_peer)

REACTOR_LOOP_TEST(errors_with_an_unnamed_unix_peer_say_that_it_has_no_name) {
    const auto at = Endpoint::local_abstract("reactor named_peer " + std::to_string(::getpid()));
    Listener listener(loop, at);
    Socket client(loop);
    auto accepted = listener.accept();
    loop.run_until_complete(client.connect(at));
    Socket server = loop.run_until_complete(accepted);
    client.close();
    const std::string sending =
        refusal<std::system_error>([&] { loop.run_until_complete(server.send("too late")); });
    BOOST_TEST(has(sending, "send to a Unix socket without a name: Broken pipe"), sending);
}

REACTOR_LOOP_TEST(an_empty_listener_and_a_deadline_that_is_no_number_are_refused_with_a_remedy) {
    BOOST_TEST(refusal<StateError>([] { Listener().accept(); }) ==
               "accept: the Listener is empty: make one of a loop");
    const std::chrono::duration<double> nan(std::nan(""));
    const std::string text =
        refusal<std::invalid_argument>([&] { reactor::net::Deadline late(nan); });
    BOOST_TEST(has(text, "Deadline: the length of time is not a number"), text);
}

REACTOR_LOOP_TEST(inspection_names_what_a_socket_waits_for) {
    Listener listener(loop, Endpoint("127.0.0.1", 0));
    Socket client(loop);
    auto accepted = listener.accept();
    loop.run_until_complete(client.connect(listener.local_endpoint()));
    Socket server = loop.run_until_complete(accepted);
    const int line = __LINE__ + 1;
    const Promise<std::string> reading = server.read();
    auto next = listener.accept();
    const std::string alive = reactor::why_alive(loop).text();
    BOOST_TEST(has(alive, "promise  Socket::read"), alive);
    BOOST_TEST(has(alive, "made at " + (std::string(__FILE__) + ":" + std::to_string(line))),
               alive);
    BOOST_TEST(has(alive, "promise  Listener::accept"), alive);
    const std::string reader =
        "net::Socket reads      descriptor " + std::to_string(server.native_handle()) + "\n";
    BOOST_TEST(has(alive, reader), alive);
}

BOOST_AUTO_TEST_SUITE_END()
