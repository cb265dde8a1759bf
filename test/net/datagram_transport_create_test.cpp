// SPDX-License-Identifier: BSL-1.0
#include <net/create_datagram_endpoint.hpp>

#include "datagram_endpoints.hpp"

#include <net/resolver.hpp>
#include <net/testing.hpp>

#include <test/support/refusal.hpp>

#include <cerrno>
#include <stdexcept>
#include <system_error>

using namespace datagram_endpoints;
using reactor::testing::open_descriptors;
using Family = Endpoint::Family;

namespace {

/// Names that lead to addresses of the test's choice.
void answer(TestLoop& loop, std::vector<Endpoint> addresses) {
    loop.service<reactor::net::Resolver>().set_loop_lookup([&loop, addresses](const std::string&) {
        const Promise<std::vector<Endpoint>> found = loop.create_promise<std::vector<Endpoint>>();
        found.set_result(addresses);
        return found;
    });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(datagram_transport_create)

REACTOR_LOOP_TEST(DG_07_contradictory_arguments_are_refused) {
    Course course;
    const auto create = [&](const DatagramEndpointOptions& options) {
        return create_datagram_endpoint(loop, told(course), options);
    };
    const Endpoint v6("::1", 0);
    BOOST_CHECK_THROW(create(DatagramEndpointOptions()), std::invalid_argument);
    BOOST_CHECK_THROW(create(DatagramEndpointOptions().allow_broadcast(true)),
                      std::invalid_argument);
    BOOST_CHECK_THROW(create(at(any_port).remote(v6)), std::invalid_argument);
    BOOST_CHECK_THROW(create(at(any_port).family(Family::ipv6)), std::invalid_argument);
    BOOST_CHECK_THROW(create(at(Endpoint("localhost", 80))), std::invalid_argument);
    BOOST_CHECK_THROW(create(DatagramEndpointOptions().local("localhost", 65536)),
                      std::invalid_argument);
    BOOST_CHECK_THROW(create_datagram_endpoint(loop, nullptr, at(any_port)), std::invalid_argument);
    BOOST_CHECK_THROW(create_datagram_endpoint(told(course), at(any_port)), StateError);
    const int stream = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    BOOST_CHECK_THROW(
        create_datagram_endpoint(loop, told(course), DatagramSocket::adopt(loop, stream)),
        std::invalid_argument);
    ::close(stream);
    BOOST_CHECK_THROW(create_datagram_endpoint(loop, told(course), DatagramSocket()), StateError);
    // A socket together with options is no call that compiles.
    BOOST_TEST(course.calls == "");
    loop.run_until_idle();
}

BOOST_AUTO_TEST_CASE(a_host_without_a_name_is_no_host) {
    const std::string why =
        ": a host has a name: \"\" is no interface, and 0.0.0.0 or :: is every one";
    BOOST_TEST(support::refusal<std::invalid_argument>([] {
                   DatagramEndpointOptions().local("", 80);
               }) == "DatagramEndpointOptions::local" + why);
    BOOST_TEST(support::refusal<std::invalid_argument>([] {
                   DatagramEndpointOptions().remote("", 80);
               }) == "DatagramEndpointOptions::remote" + why);
}

REACTOR_LOOP_TEST(DG_07_a_family_alone_gives_an_endpoint_without_an_address) {
    Course course;
    DatagramSocket server(loop, any_port);
    const DatagramTransport transport =
        open(loop, course, DatagramEndpointOptions().family(Family::ipv4));
    BOOST_TEST(transport.local_endpoint().str() == "0.0.0.0:0");
    transport.send_to("x", server.local_endpoint());
    const Endpoint from = next(loop, server).from;
    BOOST_TEST(transport.local_endpoint().port() == from.port());
    end(loop, course);
    BOOST_TEST(transport.local_endpoint().port() == from.port());
}

REACTOR_LOOP_TEST(names_are_looked_up_and_the_first_address_that_can_be_taken_is) {
    be_patient(loop);
    Course course;
    DatagramSocket server(loop, Endpoint("::1", 0));
    const DatagramSocket taken(loop, Endpoint("127.0.0.1", 0));
    answer(loop, {Endpoint("127.0.0.1", 0), Endpoint("::1", 0)});
    const std::uint16_t port = taken.local_endpoint().port();
    DatagramTransport transport =
        open(loop, course, DatagramEndpointOptions().local("here.test", port));
    BOOST_TEST((transport.local_endpoint() == Endpoint("::1", port)));
    end(loop, course);

    Course second;
    transport = open(loop, second,
                     DatagramEndpointOptions()
                         .local("here.test", 0)
                         .remote("there.test", server.local_endpoint().port())
                         .family(Family::ipv6));
    BOOST_TEST((transport.remote_endpoint() == server.local_endpoint()));
    transport.send("x");
    BOOST_TEST(next(loop, server).bytes == "x");
    end(loop, second);

    Course third;
    BOOST_CHECK_THROW(open(loop, third, at(Endpoint("::1", 0)).remote("127.0.0.1", 9)),
                      std::invalid_argument);
    BOOST_TEST(error_of(loop, create_datagram_endpoint(
                                  loop, told(third),
                                  DatagramEndpointOptions().local("127.0.0.1", port))) ==
               "bind 127.0.0.1:" + std::to_string(port) + ": Address already in use");
    BOOST_TEST(third.calls == "");
}

REACTOR_LOOP_TEST(an_open_socket_becomes_an_endpoint_with_all_that_it_was_told) {
    Course course;
    be_patient(loop);
    DatagramSocket server(loop, any_port);
    DatagramSocket socket(loop, any_port);
    const Endpoint address = socket.local_endpoint();
    socket.set_ttl(7);
    socket.connect(server.local_endpoint());
    const Promise<Datagram> waits = socket.receive_from();
    const int number = socket.native_handle();
    const DatagramTransport transport =
        loop.run_until_complete(create_datagram_endpoint(loop, told(course), std::move(socket)));
    BOOST_TEST(waits.cancelled());
    BOOST_TEST(!socket.is_open());
    BOOST_TEST(transport.native_handle() == number);
    BOOST_TEST((transport.local_endpoint() == address));
    BOOST_TEST((transport.remote_endpoint() == server.local_endpoint()));
    BOOST_TEST(transport.ttl() == 7);
    transport.send("x");
    BOOST_TEST(next(loop, server).bytes == "x");
    BOOST_CHECK_THROW(create_datagram_endpoint(loop, told(course), std::move(socket)), StateError);

    TestLoop other;
    DatagramSocket stranger(other, any_port);
    BOOST_CHECK_THROW(create_datagram_endpoint(loop, told(course), std::move(stranger)),
                      std::invalid_argument);
    BOOST_TEST(stranger.is_open());
    end(loop, course);
}

REACTOR_LOOP_TEST(a_factory_that_throws_or_gives_nothing_closes_the_socket) {
    Course course;
    open(loop, course, at(any_port));  // what a loop makes once is made
    const std::size_t before = open_descriptors();
    for (const bool throws : {true, false}) {
        const Promise<DatagramTransport> promise = create_datagram_endpoint(
            loop,
            [&]() -> std::unique_ptr<DatagramProtocol> {
                BOOST_TEST(open_descriptors() == before + 1);
                if (throws) throw std::runtime_error("no protocol today");
                return nullptr;
            },
            at(any_port));
        std::size_t after = 0;
        promise.add_done_callback(
            [&](const Promise<DatagramTransport>&) { after = open_descriptors(); });
        if (throws) {
            BOOST_CHECK_THROW(loop.run_until_complete(promise), std::runtime_error);
        } else {
            BOOST_CHECK_THROW(loop.run_until_complete(promise), std::invalid_argument);
        }
        BOOST_TEST(after == before);
    }
    end(loop, course);
}

// The addresses are to be tried, and not what the program does with the first good one.
REACTOR_LOOP_TEST(a_factory_is_called_once_also_if_it_fails_as_the_system_does) {
    be_patient(loop);
    answer(loop, {Endpoint("127.0.0.1", 0), Endpoint("127.0.0.2", 0)});
    int made = 0;
    const DatagramProtocolFactory factory = [&]() -> std::unique_ptr<DatagramProtocol> {
        ++made;
        throw std::system_error(EACCES, std::system_category(), "open the key");
    };
    BOOST_TEST(
        error_of(loop, create_datagram_endpoint(loop, factory,
                                                DatagramEndpointOptions().local("here.test", 0))) ==
        "open the key: Permission denied");
    BOOST_TEST(made == 1);
}

REACTOR_LOOP_TEST(a_cancelled_promise_ends_what_there_is) {
    Course never, early;
    const Promise<DatagramTransport> first =
        create_datagram_endpoint(loop, told(never), at(any_port));
    BOOST_TEST(first.cancel());
    loop.run_until_idle();
    BOOST_TEST(never.calls == "");

    const Promise<DatagramTransport> second =
        create_datagram_endpoint(loop, told(early), at(any_port));
    early.on_made = [&] { BOOST_TEST(second.cancel()); };
    run_until(loop, [&] { return early.lost == 1; });
    BOOST_TEST(early.calls == "made lost");
    BOOST_TEST(second.cancelled());
    early.transport = DatagramTransport();
}

BOOST_AUTO_TEST_CASE(a_loop_with_a_network_in_memory_has_no_datagram_endpoints) {
    TestLoop loop;
    Course course;
    const reactor::net::testing::MemoryNetwork network(loop);
    BOOST_CHECK_THROW(create_datagram_endpoint(loop, told(course), at(any_port)), StateError);
}

BOOST_AUTO_TEST_SUITE_END()
