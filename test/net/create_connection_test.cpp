// SPDX-License-Identifier: BSL-1.0
#include <net/create_connection.hpp>

#include "connected.hpp"
#include "transport_fixture.hpp"

#include <test/support/temporary_directory.hpp>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <vector>

using namespace connected;
using reactor::net::create_connection;
using reactor::net::make_transport;
using reactor::net::Protocol;
using reactor::net::ProtocolFactory;
using reactor::net::Transport;
using reactor::testing::open_descriptors;
using transports::Course;

namespace {

/// A listener, and what the protocols of its clients are told.
struct Clients : support::LoopTest {
    explicit Clients(const std::string& selector) : LoopTest(selector) { be_patient(loop); }

    ProtocolFactory factory() {
        return [this] {
            ++made;
            return transports::told(course);
        };
    }
    /// Whose descriptors stay until its end.
    void make_what_a_loop_makes_once() {
        Listener(loop, any_port).close();
        Socket(loop).connect(any_port).add_done_callback([](const Promise<void>& d) { d.error(); });
        loop.run_until_idle();
    }
    /// Ends the connection on both sides.
    void end(Socket& peer) {
        course.transport.abort();
        peer.abort();
        loop.run_until_idle();
        BOOST_TEST(course.lost == 1);
        course.transport = Transport();
    }

    Course course;
    int made = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(create_connections)

REACTOR_LOOP_TEST_IN(Clients, CN_01_by_host_and_port) {
    Listener listener(loop, any_port);
    const std::uint16_t port = listener.local_endpoint().port();
    const Promise<Socket> accepted = listener.accept();
    const Promise<Transport> promise =
        create_connection(loop, factory(), "127.0.0.1", port, seconds(60));
    BOOST_TEST(made == 0);
    const Transport transport = loop.run_until_complete(promise);
    Socket peer = loop.run_until_complete(accepted);
    BOOST_TEST(made == 1);
    BOOST_TEST(course.calls == "made");
    BOOST_TEST((transport == course.transport));
    BOOST_TEST(transport.protocol()->protocol_name() == "Told");
    BOOST_TEST((transport.remote_endpoint() == listener.local_endpoint()));
    BOOST_TEST((transport.local_endpoint() == peer.remote_endpoint()));

    transport.write("to the server");
    BOOST_TEST(loop.run_until_complete(peer.read()) == "to the server");
    loop.run_until_complete(peer.send("to the client"));
    loop.run_until_complete(peer.close());
    while (!course.lost) loop.run_once();
    BOOST_TEST(course.calls == "made data eof lost");
    BOOST_TEST(course.bytes == "to the client");
    BOOST_TEST(!course.error);
    BOOST_TEST(made == 1);
    BOOST_TEST(loop.timer_count() == 0u);
}

REACTOR_LOOP_TEST_IN(Clients, CN_01_a_refused_connect_does_not_call_the_factory) {
    const Refusing refusing("127.0.0.1");
    make_what_a_loop_makes_once();
    const std::size_t before = open_descriptors();
    const Promise<Transport> promise =
        create_connection(loop, factory(), "127.0.0.1", refusing.endpoint.port());
    BOOST_TEST(error_of(loop, promise) ==
               "connect to " + refusing.endpoint.str() + ": Connection refused");
    BOOST_TEST(code_of(promise) == ECONNREFUSED);
    BOOST_TEST(made == 0);
    BOOST_TEST(open_descriptors() == before);
}

// Also of Socket's connect(): one attempt after the other.
REACTOR_LOOP_TEST_IN(Clients, the_first_address_that_accepts_is_taken) {
    const Refusing refusing("127.0.0.1");
    Listener listener(loop, any_port);
    const std::vector<Endpoint> addresses = {refusing.endpoint, listener.local_endpoint()};
    loop.call_soon([&] {
        create_connection(factory(), addresses).add_done_callback([&](const Promise<Transport>& d) {
            BOOST_TEST((d.result().remote_endpoint() == addresses[1]));
            loop.stop();
        });
    });
    loop.run_forever();
    BOOST_TEST(made == 1);
    Socket peer = loop.run_until_complete(listener.accept());
    end(peer);
}

REACTOR_LOOP_TEST_IN(Clients, CN_02_contradictory_arguments_are_refused) {
    BOOST_CHECK_THROW(create_connection(loop, nullptr, "127.0.0.1", 80), std::invalid_argument);
    BOOST_CHECK_THROW(create_connection(loop, factory(), std::vector<Endpoint>()),
                      std::invalid_argument);
    BOOST_CHECK_THROW(create_connection(loop, factory(), Endpoint()), std::invalid_argument);
    BOOST_CHECK_THROW(create_connection(loop, factory(), "127.0.0.1", 65536),
                      std::invalid_argument);
    BOOST_CHECK_THROW(create_connection(factory(), any_port), StateError);  // no loop runs here
    transports::Descriptor datagram(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    BOOST_CHECK_THROW(make_transport(loop, datagram.number, transports::told(course)),
                      std::invalid_argument);
    BOOST_TEST(made == 0);
    loop.run_until_idle();
}

// As it comes from connect() and from accept() of the system: blocking.
REACTOR_LOOP_TEST_IN(Clients, CN_02_a_connected_socket_is_used_as_it_is) {
    transports::TcpPair ends;
    for (transports::Descriptor* const end : {&ends.mine, &ends.theirs}) {
        Course told;
        const int number = end->number;
        ::fcntl(number, F_SETFL, ::fcntl(number, F_GETFL) & ~O_NONBLOCK);
        const Transport transport =
            loop.run_until_complete(make_transport(loop, end->number, transports::told(told)));
        end->release();
        BOOST_TEST(transport.native_handle() == number);
        BOOST_TEST((::fcntl(number, F_GETFL) & O_NONBLOCK) != 0);
        transport.close();
        while (!told.lost) loop.run_once();
    }
    loop.run_until_idle();
}

REACTOR_LOOP_TEST_IN(Clients, CN_07_a_factory_that_throws_closes_the_new_socket) {
    Listener listener(loop, any_port);  // the backlog takes the clients
    const Endpoint to = listener.local_endpoint();
    loop.run_until_complete(Socket(loop).connect(to));  // what a loop makes once is made
    BOOST_TEST(loop.run_until_complete(loop.run_until_complete(listener.accept()).read()) == "");
    for (const bool throws : {true, false}) {
        const std::size_t before = open_descriptors();
        std::size_t connected = 0, after = 0;
        const auto failing = [&]() -> std::unique_ptr<Protocol> {
            connected = open_descriptors();
            if (throws) throw std::runtime_error("no protocol today");
            return nullptr;
        };
        const Promise<Transport> promise = create_connection(loop, failing, to);
        promise.add_done_callback([&](const Promise<Transport>&) { after = open_descriptors(); });
        std::string text;
        try {
            loop.run_until_complete(promise);
        } catch (const std::runtime_error& error) {
            BOOST_TEST(throws);
            text = error.what();
        } catch (const std::invalid_argument& error) {
            BOOST_TEST(!throws);
            text = error.what();
        }
        BOOST_TEST(text == (throws ? "no protocol today"
                                   : "create_connection: the factory gave a null pointer"));
        BOOST_TEST(connected == before + 1);
        BOOST_TEST(after == before);
        Socket peer = loop.run_until_complete(listener.accept());
        BOOST_TEST(loop.run_until_complete(peer.read()) == "");
    }
}

REACTOR_LOOP_TEST_IN(Clients, what_the_factory_throws_to_leave_the_loop_leaves_it) {
    Listener listener(loop, any_port);
    const Promise<Socket> accepted = listener.accept();
    const Promise<Transport> promise = create_connection(
        loop, []() -> std::unique_ptr<Protocol> { throw reactor::LoopExit(); },
        listener.local_endpoint());
    BOOST_CHECK_THROW(loop.run_until_complete(promise), reactor::LoopExit);
    Socket peer = loop.run_until_complete(accepted);
    BOOST_TEST(loop.run_until_complete(peer.read()) == "");
}

REACTOR_LOOP_TEST_IN(Clients, connection_made_comes_before_the_promise_and_that_before_the_data) {
    Listener listener(loop, any_port);
    const Promise<Socket> accepted = listener.accept();
    course.on_made = say("made");
    course.on_data = say("data");
    const Promise<Transport> promise =
        create_connection(loop, factory(), listener.local_endpoint());
    promise.add_done_callback([&](const Promise<Transport>&) { say("done")(); });
    Socket peer = loop.run_until_complete(accepted);
    loop.run_until_complete(peer.send("early"));
    while (course.bytes.empty()) loop.run_once();
    BOOST_TEST(heard() == "made done data");
    end(peer);
}

REACTOR_LOOP_TEST_IN(Clients, what_connection_made_throws_ends_the_connection) {
    Listener listener(loop, any_port);
    const Promise<Socket> accepted = listener.accept();
    course.on_made = [] { throw std::runtime_error("made of nothing"); };
    const Transport transport =
        loop.run_until_complete(create_connection(loop, factory(), listener.local_endpoint()));
    while (!course.lost) loop.run_once();
    expect_report("Fatal error: protocol.connection_made() call failed.");
    BOOST_TEST(course.text() == "made of nothing");
    BOOST_TEST(transport.protocol() == nullptr);
    Socket peer = loop.run_until_complete(accepted);
    peer.abort();
    loop.run_until_idle();
}

REACTOR_LOOP_TEST_IN(Clients, of_a_connection_that_is_lost_by_then_there_is_no_protocol) {
    Listener listener(loop, any_port);
    const Promise<Socket> accepted = listener.accept();
    course.on_made = [&] { course.transport.abort(); };
    const Transport transport =
        loop.run_until_complete(create_connection(loop, factory(), listener.local_endpoint()));
    BOOST_TEST(course.lost == 1);
    BOOST_TEST(transport.protocol() == nullptr);
    BOOST_TEST((transport.remote_endpoint() == listener.local_endpoint()));
    Socket peer = loop.run_until_complete(accepted);
    peer.abort();
}

REACTOR_LOOP_TEST_IN(Clients, the_deadline_is_for_the_connecting) {
    {
        const Full full(loop);
        loop.selector().set_patience(milliseconds(1));
        const Promise<Transport> late =
            create_connection(loop, factory(), full.listener.local_endpoint(), seconds(3));
        const reactor::TimePoint begin = loop.time();
        BOOST_CHECK_THROW(loop.run_until_complete(late), TimeoutError);
        BOOST_TEST((loop.time() - begin == seconds(3)));
        BOOST_TEST(made == 0);
    }
    be_patient(loop);
    Listener listener(loop, any_port);
    const Promise<Socket> accepted = listener.accept();
    loop.run_until_complete(
        create_connection(loop, factory(), listener.local_endpoint(), seconds(3)));
    Socket peer = loop.run_until_complete(accepted);
    loop.selector().set_patience(milliseconds(0));
    loop.run_for(seconds(10));
    BOOST_TEST(course.calls == "made");
    BOOST_TEST(loop.timer_count() == 0u);
    end(peer);
}

REACTOR_LOOP_TEST_IN(Clients, UX_02_contradictory_arguments_are_refused) {
    BOOST_CHECK_THROW(create_connection(loop, factory(), Endpoint::local_path("")),
                      std::invalid_argument);
    BOOST_CHECK_THROW(create_connection(loop, factory(), std::vector<Endpoint>(2)),
                      std::invalid_argument);
    transports::Descriptor datagram(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    BOOST_CHECK_THROW(make_transport(loop, datagram.number, transports::told(course)),
                      std::invalid_argument);
    // Path and socket together, or an address of another family, are no call that compiles: an
    // Endpoint is either, and takes make_transport()'s place or the other way round.
    BOOST_TEST(made == 0);
}

REACTOR_LOOP_TEST_IN(Clients, UX_03_connecting_by_path_and_to_one_that_is_not_there) {
    const support::TemporaryDirectory directory;
    const Endpoint at = Endpoint::local_path(directory.path() + "/socket");
    make_what_a_loop_makes_once();
    const std::size_t before = open_descriptors();
    const Promise<Transport> nothing = create_connection(loop, factory(), at);
    BOOST_TEST(error_of(loop, nothing) == "connect to " + at.str() + ": No such file or directory");
    BOOST_TEST(code_of(nothing) == ENOENT);
    BOOST_TEST(made == 0);
    BOOST_TEST(open_descriptors() == before);

    Listener listener(loop, at);
    const Promise<Socket> accepted = listener.accept();
    const Transport transport = loop.run_until_complete(create_connection(loop, factory(), at));
    Socket peer = loop.run_until_complete(accepted);
    BOOST_TEST((transport.remote_endpoint() == at));
    BOOST_TEST((transport.local_endpoint().family() == Endpoint::Family::local));
    transport.write("echo");
    loop.run_until_complete(peer.send(loop.run_until_complete(peer.read())));
    while (course.bytes.empty()) loop.run_once();
    BOOST_TEST(course.bytes == "echo");
    end(peer);
    BOOST_TEST((transport.remote_endpoint() == at));
}

BOOST_AUTO_TEST_SUITE_END()
