// SPDX-License-Identifier: BSL-1.0
#include "in_memory.hpp"

#include <net/create_connection.hpp>
#include <net/detail/transport_service.hpp>
#include <net/server.hpp>
#include <net/stream.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

using namespace in_memory;
using reactor::net::detail::MemoryLink;
using reactor::net::detail::MemorySockets;
using reactor::net::detail::MemoryWorld;
using reactor::net::detail::socket_calls;
using reactor::net::detail::SocketCalls;
using reactor::testing::open_descriptors;
using support::milliseconds;
using transports::Course;
using transports::Endpoint;
using transports::TestLoop;
using transports::Transport;

namespace {

// What a network complains of, where a test expects that it does.
std::vector<std::string> failures;

void note_failure(const std::string& text) { failures.push_back(text); }

/// A loop whose network may go before it.
struct Ending : support::LoopTest {
    explicit Ending(const std::string& selector) : LoopTest(selector) {
        failures.clear();
        begin();
    }
    void begin() {
        network.reset(new MemoryNetwork(loop, 1, MemoryNetworkOptions(), &note_failure));
    }
    void end() { network.reset(); }
    Transport open(int descriptor, Course& course) {
        loop.run_until_complete(
            transports::make_transport(loop, descriptor, transports::told(course)));
        return course.transport;
    }

    std::unique_ptr<MemoryNetwork> network;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_end)

REACTOR_LOOP_TEST_IN(Ending, what_is_open_at_the_end_fails_the_test) {
    const std::pair<int, int> ends = network->pair();
    network->close(ends.second);
    end();
    BOOST_REQUIRE(failures.size() == 1u);
    BOOST_TEST(failures[0].find("ends with 1 open sockets:\n#1 127.0.0.1:") != std::string::npos);
    begin();
    end();
    BOOST_TEST(failures.size() == 1u);
}

// The test has failed already, and what it left open is no wonder.
REACTOR_LOOP_TEST_IN(Ending, unless_an_exception_ends_it) {
    try {
        struct Last {
            Ending& test;
            ~Last() { test.end(); }
        } const last{*this};
        network->pair();
        throw std::runtime_error("the test fails");
    } catch (const std::runtime_error&) {
    }
    BOOST_TEST(failures.empty());
}

REACTOR_LOOP_TEST_IN(Ending, a_network_may_go_before_what_it_has_opened) {
    end();
    const std::size_t before = open_descriptors();
    begin();
    Course course, late, name;
    const std::pair<int, int> ends = network->pair();
    const std::pair<int, int> others = network->pair();
    open(ends.first, course);
    open(ends.second, late);
    open(others.first, name);
    const int descriptor = late.transport.native_handle();
    end();
    BOOST_TEST(failures.size() == 1u);
    course.transport.write("to nobody");
    late.transport.close();
    loop.run_iterations(3);
    BOOST_TEST(course.code() == ENETDOWN);
    BOOST_TEST(late.lost == 1);
    BOOST_TEST(!transports::is_open(descriptor));
    BOOST_TEST(name.transport.local_endpoint().address() == "127.0.0.1");
    BOOST_CHECK_EXCEPTION(
        transports::make_transport(loop, others.second, transports::told(late)), std::system_error,
        [](const std::system_error& error) { return error.code().value() == ENETDOWN; });
    name.transport.abort();
    loop.run_iterations(3);
    BOOST_TEST(name.lost == 1);
    ::close(others.second);
    BOOST_TEST(open_descriptors() == before);
}

REACTOR_LOOP_TEST_IN(Ending, the_next_network_of_the_loop_leaves_the_sockets_of_the_last_alone) {
    const Endpoint at("192.0.2.1", 80);
    Course course, accepted, fresh;
    reactor::net::Server server = reactor::net::create_server(
        loop, [&accepted] { return transports::told(accepted); }, at);
    const reactor::Promise<Transport> connecting = reactor::net::create_connection(
        loop, [&fresh] { return transports::told(fresh); }, Endpoint("192.0.2.2", 80));
    const std::pair<int, int> ends = network->pair();
    open(ends.first, course);
    const int last = ends.second;
    end();
    begin();
    const std::pair<int, int> next = network->pair();
    BOOST_TEST(network->counters().open_sockets == 2u);
    course.transport.write("x");
    loop.run_iterations(3);
    BOOST_TEST(course.code() == ENETDOWN);
    network->close(last);  // not one of its own
    BOOST_TEST(transports::is_open(last));
    BOOST_TEST(network->counters().open_sockets == 2u);
    server.close();
    connecting.cancel();
    loop.run_iterations(3);
    BOOST_TEST(network->counters().open_sockets == 2u);
    network->close(next.first);
    network->close(next.second);
    ::close(last);
    end();
    BOOST_TEST(failures.size() == 1u);
}

BOOST_AUTO_TEST_CASE(what_nobody_closes_is_closed_with_the_loop) {
    const std::size_t before = open_descriptors();
    failures.clear();
    int of_another;
    {
        TestLoop loop;
        int left;
        {
            MemoryNetwork network(loop, 1, MemoryNetworkOptions(), &note_failure);
            std::pair<int, int> ends = network.pair();
            left = ends.first;
            of_another = ends.second;
            Course course;
            reactor::net::Server server = reactor::net::create_server(
                loop, [&course] { return transports::told(course); }, Endpoint("192.0.2.1", 80));
        }
        BOOST_TEST(transports::is_open(left));
        // Somebody closes one, and its number goes to a file of the system.
        const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        BOOST_REQUIRE(::dup2(file, of_another) == of_another);
        ::close(file);
        BOOST_TEST(!socket_calls(loop).simulates(of_another));
        loop.close();
        BOOST_TEST(!transports::is_open(left));
    }
    BOOST_TEST(transports::is_open(of_another));
    ::close(of_another);
    BOOST_TEST(open_descriptors() == before);
    BOOST_TEST(failures.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_network_that_outlives_its_loop_closes_them_itself) {
    const std::size_t before = open_descriptors();
    failures.clear();
    {
        TestLoop loop;
        MemoryNetwork network(loop, 1, MemoryNetworkOptions(), &note_failure);
        static_cast<void>(network.pair());
        loop.close();
    }
    BOOST_TEST(open_descriptors() == before);
    BOOST_TEST(failures.size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_calls_keep_it_until_its_last_socket_is_closed) {
    reactor::testing::VirtualClock clock;
    std::shared_ptr<MemorySockets> sockets = std::make_shared<MemorySockets>(
        std::make_shared<MemoryWorld>(clock, 1, MemoryNetworkOptions()));
    const std::weak_ptr<MemorySockets> kept = sockets;
    const std::pair<int, int> ends = sockets->pair(MemoryLink::Kind::tcp);
    SocketCalls calls;
    calls.simulate(sockets);
    calls.end_simulation();
    sockets->end();
    sockets.reset();
    BOOST_TEST(calls.simulated() == nullptr);

    const auto is_down = [](long result) { return result == -1 && errno == ENETDOWN; };
    char byte = 'x';
    ::iovec piece = {&byte, 1};
    BOOST_TEST(is_down(calls.receive(ends.first, &byte, 1)));
    BOOST_TEST(is_down(calls.send(ends.first, &byte, 1)));
    BOOST_TEST(is_down(calls.send(ends.first, &piece, 1)));
    BOOST_TEST(is_down(calls.end_sending(ends.first)));
    BOOST_TEST(is_down(calls.reset_on_close(ends.first)));

    BOOST_TEST(calls.close(ends.first) == 0);
    BOOST_TEST(!transports::is_open(ends.first));
    BOOST_TEST(!kept.expired());
    BOOST_TEST(calls.close(ends.second) == 0);
    BOOST_TEST(kept.expired());
}

REACTOR_NET_TEST(a_loop_that_closes_takes_its_sockets_along) {
    auto ends = pair();
    Course course;
    const Transport transport = open(ends.first, course);
    reactor::net::Stream stream =
        loop.run_until_complete(reactor::net::make_stream(loop, ends.second.release()));
    loop.close();
    BOOST_TEST(course.destroyed == 1);
    BOOST_TEST(network.counters().open_sockets == 0u);
    stream.abort();
}

BOOST_AUTO_TEST_SUITE_END()
