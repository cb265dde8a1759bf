// SPDX-License-Identifier: BSL-1.0
#include <net/connect.hpp>
#include <net/create_connection.hpp>
#include <net/open_connection.hpp>

#include "in_memory.hpp"

#include <cerrno>
#include <chrono>

using namespace in_memory;
using reactor::Promise;
using reactor::net::create_connection;
using reactor::net::Endpoint;
using reactor::net::open_connection;
using reactor::net::Stream;
using reactor::net::Transport;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using transports::Course;

namespace {

/// A host with a server that the test is.
struct Hosted : NetTest {
    explicit Hosted(const std::string& selector) : NetTest(selector), listener(network) {
        network.add_host("server.test", {at});
        listener = Socket(network, calls(network).listen(at, 10));
        BOOST_REQUIRE(listener.number() >= 0);
    }
    /// The last segment of the handshake is on its way when a client is connected.
    Socket accept() {
        settle();
        Endpoint peer;
        return Socket(network, calls(network).accept(listener.number(), peer));
    }
    reactor::net::ProtocolFactory factory() {
        return [this] {
            ++made;
            return transports::told(course);
        };
    }
    template <class T>
    std::string error_of(const Promise<T>& promise) {
        try {
            loop.run_until_complete(promise);
        } catch (const std::system_error& error) {
            return error.what();
        }
        return std::string();
    }

    const Endpoint at{"192.0.2.1", 80};
    const Endpoint nobody{"192.0.2.9", 80};
    Socket listener;
    Course course;
    int made = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_connect)

REACTOR_LOOP_TEST_IN(Hosted, transports_connect_by_name) {
    const Transport transport =
        loop.run_until_complete(create_connection(loop, factory(), "server.test", 80, seconds(5)));
    Socket peer = accept();
    BOOST_TEST((transport == course.transport));
    BOOST_TEST((transport.remote_endpoint() == at));
    BOOST_TEST((transport.local_endpoint() == calls(network).remote_endpoint(peer.number())));
    transport.write("question");
    settle();
    BOOST_TEST(peer.take() == "question");
    peer.send("answer");
    settle();
    BOOST_TEST(course.bytes == "answer");
    peer.close();
    settle();
    BOOST_TEST(course.calls == "made data eof lost");
    BOOST_TEST(made == 1);
    BOOST_TEST(loop.timer_count() == 0u);
    BOOST_TEST(network.counters().open_sockets == 1u);
}

REACTOR_LOOP_TEST_IN(Hosted, streams_connect_by_address) {
    Stream stream = loop.run_until_complete(open_connection(loop, at));
    Socket peer = accept();
    stream.write("question");
    peer.send("answer\n");
    BOOST_TEST(loop.run_until_complete(stream.read_line()) == "answer\n");
    settle();
    BOOST_TEST(peer.take() == "question");
    stream.abort();
    settle();
    BOOST_TEST(peer.error_of_reading() == ECONNRESET);
}

REACTOR_LOOP_TEST_IN(Hosted, why_there_is_no_connection) {
    BOOST_TEST(error_of(create_connection(loop, factory(), nobody)) ==
               "connect to 192.0.2.9:80: Connection refused");
    const auto from = reactor::net::ConnectOptions().local(Endpoint("192.0.2.7", 0));
    BOOST_TEST(error_of(open_connection(loop, nobody, from)) ==
               "connect from 192.0.2.7:0 to 192.0.2.9:80: Connection refused");
    network.fail_connects(at, EHOSTUNREACH);
    BOOST_TEST(error_of(create_connection(loop, factory(), at)) ==
               "connect to 192.0.2.1:80: No route to host");
    BOOST_TEST(made == 0);
    BOOST_TEST(network.counters().open_sockets == 1u);
}

REACTOR_LOOP_TEST_IN(Hosted, the_deadline_ends_a_connect_that_nobody_answers) {
    network.drop_connects(at);
    const reactor::TimePoint begin = loop.time();
    BOOST_TEST(error_of(create_connection(loop, factory(), at, seconds(3))) ==
               "connect to 192.0.2.1:80: Connection timed out");
    BOOST_TEST((loop.time() - begin == seconds(3)));
    BOOST_TEST(loop.timer_count() == 0u);
    BOOST_TEST(loop.watch_count() == 0u);
    BOOST_TEST(network.counters().open_sockets == 1u);
}

// RFC 8305: the next address has its turn after 250 ms.
REACTOR_LOOP_TEST_IN(Hosted, an_address_that_does_not_answer_gives_way) {
    network.drop_connects(nobody);
    const reactor::TimePoint begin = loop.time();
    const Transport transport =
        loop.run_until_complete(create_connection(loop, factory(), {nobody, at}));
    BOOST_TEST((transport.remote_endpoint() == at));
    BOOST_TEST((loop.time() - begin >= milliseconds(250)));
    BOOST_TEST((loop.time() - begin < milliseconds(260)));
    settle();
    BOOST_TEST(network.counters().open_sockets == 2u);  // ours, and the listener
    accept();
    settle();
    BOOST_TEST(course.lost == 1);
}

// At many points in time, from the call to the connection.
REACTOR_LOOP_TEST_IN(Hosted, cancelled_it_leaves_nothing) {
    int at_a_socket = 0;
    for (int step = 0;; ++step) {
        course = Course();
        const Promise<Transport> promise =
            create_connection(loop, factory(), "server.test", 80, seconds(5));
        loop.run_for(microseconds(100 * step));
        if (promise.done()) break;
        if (network.counters().open_sockets > 1) ++at_a_socket;
        BOOST_TEST(promise.cancel());
        loop.run_until_idle();
        BOOST_TEST(promise.cancelled());
        course.transport = Transport();
        BOOST_TEST(loop.timer_count() == 0u);
        BOOST_TEST(loop.watch_count() == 0u);
        settle();
        for (Socket peer = accept(); peer.number() >= 0; peer = accept()) peer.close();
        settle();
        BOOST_TEST(network.counters().open_sockets == 1u);
        BOOST_TEST(course.destroyed == (course.calls.empty() ? 0 : 1));
    }
    BOOST_TEST(at_a_socket > 0);
    course.transport.abort();
    course.transport = Transport();
    settle();
    accept();
}

// Its names and addresses are others than the system's.
REACTOR_LOOP_TEST_IN(Hosted, a_socket_of_the_system_is_refused) {
    const auto refused = [](const reactor::StateError& error) {
        return std::string(error.what()).find("create_connection()") != std::string::npos;
    };
    BOOST_CHECK_EXCEPTION(reactor::net::connect(loop, "server.test", 80), reactor::StateError,
                          refused);
    BOOST_CHECK_EXCEPTION(reactor::net::connect(loop, {at}), reactor::StateError, refused);
}

BOOST_AUTO_TEST_SUITE_END()
