// SPDX-License-Identifier: BSL-1.0
#include <net/datagram_transport.hpp>

#include "datagram_calls.hpp"
#include "datagram_endpoints.hpp"

#include <cerrno>
#include <stdexcept>

using namespace datagram_endpoints;
using datagram_calls::calls;
using datagram_calls::Watched;

namespace {

using Strings = std::vector<std::string>;

struct Receiver : support::LoopTest {
    explicit Receiver(const std::string& selector) : LoopTest(selector) {}

    /// Opens it, and a peer that is a plain socket.
    DatagramTransport open(const Endpoint& local = any_port) {
        const DatagramTransport made = datagram_endpoints::open(loop, course, at(local));
        peer = DatagramSocket(loop, made.local_endpoint().family());
        peer.connect(made.local_endpoint());
        return made;
    }
    void send(const std::string& bytes) { BOOST_TEST(peer.send(bytes).result() == bytes.size()); }
    void wait_for(std::size_t count) {
        run_until(loop, [&] { return course.got.size() >= count; });
    }

    Course course;
    DatagramSocket peer;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(datagram_transport_receive)

REACTOR_LOOP_TEST(DG_01_datagrams_go_to_and_fro_with_their_addresses) {
    Course server, client;
    const DatagramTransport a = open(loop, server, at(any_port));
    const DatagramTransport b = open(loop, client, to(a.local_endpoint()));
    BOOST_TEST(server.calls == "made");
    BOOST_TEST(client.calls == "made");
    BOOST_TEST((a == server.transport));
    BOOST_TEST((b.remote_endpoint() == a.local_endpoint()));
    BOOST_TEST(a.remote_endpoint().empty());
    server.on_datagram = [&] { a.send_to("re: " + server.got.back(), server.from.back()); };

    b.send("xxx");
    run_until(loop, [&] { return !client.got.empty(); });
    BOOST_TEST(server.got == Strings{"xxx"});
    BOOST_TEST((server.from[0] == b.local_endpoint()));
    BOOST_TEST(client.got == Strings{"re: xxx"});
    BOOST_TEST((client.from[0] == a.local_endpoint()));
    BOOST_TEST(server.errors.empty());
    end(loop, server);
    end(loop, client);
    BOOST_TEST((a.local_endpoint() == b.remote_endpoint()));
}

REACTOR_LOOP_TEST_IN(Receiver, DG_01_boundaries_and_order_are_kept_within_the_budget_of_a_turn) {
    const DatagramTransport transport = open();
    const Watched watched(transport.native_handle());
    Strings sent;
    for (int i = 0; i < 40; ++i) {
        sent.push_back(std::string(static_cast<std::size_t>(i * 7), 'a') + std::to_string(i));
        send(sent.back());
    }
    std::size_t before = 0;
    while (before < sent.size()) {
        loop.run_once(seconds(10));
        BOOST_TEST(course.got.size() - before <= 16u);
        before = course.got.size();
    }
    BOOST_TEST(course.got == sent);
    BOOST_TEST(calls().received == (std::vector<int>{16, 16, 8}));
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Receiver, DG_03_an_empty_datagram_is_sent_and_received) {
    Course other;
    const DatagramTransport transport = open();
    const DatagramTransport connected =
        datagram_endpoints::open(loop, other, to(transport.local_endpoint()));
    connected.send("");
    transport.send_to("", connected.local_endpoint());
    connected.send("behind");
    run_until(loop, [&] { return course.got.size() == 2 && other.got.size() == 1; });
    BOOST_TEST(course.got == (Strings{"", "behind"}));
    BOOST_TEST(other.got == Strings{""});
    BOOST_TEST((course.from[0] == connected.local_endpoint()));
    end(loop, course);
    end(loop, other);
}

REACTOR_LOOP_TEST_IN(Receiver, the_longest_one_of_ip_comes_whole) {
    open(Endpoint("::1", 0));
    const std::string longest = pattern(65507);
    for (int i = 0; i < 3; ++i) send(longest);
    wait_for(3);
    for (const std::string& got : course.got) BOOST_TEST((got == longest));
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Receiver, one_that_is_cut_is_told_as_an_error) {
    const DatagramTransport transport = open();
    BOOST_TEST(transport.max_datagram_size() == 65536u);
    transport.set_max_datagram_size(4);
    BOOST_CHECK_THROW(transport.set_max_datagram_size(0), std::invalid_argument);
    BOOST_CHECK_THROW(transport.set_max_datagram_size((1 << 20) + 1), std::invalid_argument);
    send("abcdef");
    send("gh");
    wait_for(1);
    BOOST_TEST(course.got == Strings{"gh"});
    BOOST_TEST(course.code == EMSGSIZE);
    BOOST_TEST(course.errors == Strings{"receive 6 bytes from " + peer.local_endpoint().str() +
                                        ", with room for 4: Message too long"});
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Receiver, a_protocol_may_look_at_what_is_left_of_one_that_is_cut) {
    const DatagramTransport transport = open(abstract_name("cut"));
    transport.set_protocol(std::unique_ptr<DatagramProtocol>(new ToldAll(course)));
    const std::string longer = pattern(100000);
    send(longer);
    wait_for(1);
    BOOST_TEST((course.got[0] == "(first 65536 of 100000)" + longer.substr(0, 65536)));
    BOOST_TEST(course.from[0].str() == "unix:");
    transport.set_max_datagram_size(longer.size());
    send(longer);
    send("short");
    wait_for(3);
    BOOST_TEST((course.got[1] == longer));
    BOOST_TEST(course.got[2] == "short");
    BOOST_TEST(course.calls == "made");
    BOOST_TEST(course.destroyed == 1);
    course.destroyed = 0;
    end(loop, course);
}

// The headers that it receives with are used again.
REACTOR_LOOP_TEST_IN(Receiver, who_has_sent_one_is_told_whole_whoever_was_there_before) {
    const DatagramTransport transport = open(abstract_name("names"));
    DatagramSocket brief(loop, abstract_name("b"));
    DatagramSocket longer(loop, abstract_name("longer"));
    const Endpoint there = transport.local_endpoint();
    send("from one without a name");
    wait_for(1);
    BOOST_TEST(brief.send_to("x", there).done());
    BOOST_TEST(longer.send_to("y", there).done());
    wait_for(3);
    BOOST_TEST(longer.send_to("z", there).done());
    wait_for(4);
    BOOST_TEST(course.from[0].str() == "unix:");
    BOOST_TEST((course.from[1] == brief.local_endpoint()));
    BOOST_TEST((course.from[2] == longer.local_endpoint()));
    BOOST_TEST((course.from[3] == longer.local_endpoint()));
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Receiver, what_the_network_says_of_a_datagram_is_an_error_and_no_end) {
    Endpoint nobody;
    { nobody = DatagramSocket(loop, any_port).local_endpoint(); }
    const DatagramTransport transport = datagram_endpoints::open(loop, course, to(nobody));
    transport.send("x");
    run_until(loop, [&] { return !course.errors.empty(); });
    BOOST_TEST(course.errors == Strings{"receive from " + nobody.str() + ": Connection refused"});
    BOOST_TEST(course.code == ECONNREFUSED);

    DatagramSocket server(loop, nobody);
    transport.send("y");
    BOOST_TEST(next(loop, server).bytes == "y");
    BOOST_TEST(server.send_to("z", transport.local_endpoint()).done());
    wait_for(1);
    BOOST_TEST(course.calls == "made error");
    end(loop, course);
}

// Its number is adopted with such an option, as a rule.
REACTOR_LOOP_TEST_IN(Receiver, what_the_system_notes_of_errors_does_not_keep_the_loop_awake) {
    Endpoint nobody;
    { nobody = DatagramSocket(loop, any_port).local_endpoint(); }
    const DatagramTransport transport = datagram_endpoints::open(loop, course, to(nobody));
    keep_errors(transport.native_handle());
    transport.send("x");
    run_until(loop, [&] { return !course.errors.empty(); });
    BOOST_TEST(course.code == ECONNREFUSED);
    for (int i = 0; i < 3 && told_of(transport.native_handle()) != 0; ++i) loop.run_iterations(1);
    BOOST_TEST(told_of(transport.native_handle()) == 0);
    BOOST_TEST(course.calls == "made error");
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Receiver, what_the_protocol_throws_is_reported_and_the_endpoint_goes_on) {
    open();
    course.on_datagram = [&] {
        if (course.got.back() == "bad") throw std::runtime_error("no such datagram");
    };
    for (const char* const bytes : {"bad", "good", "bad", "better"}) send(bytes);
    wait_for(4);
    expect_report("protocol.datagram_received() failed");
    expect_report("protocol.datagram_received() failed");
    BOOST_TEST(course.calls == "made");
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Receiver, what_came_with_one_that_leaves_the_loop_comes_in_the_next_run) {
    open();
    int exits = 0;
    course.on_datagram = [&] {
        if (course.got.back().front() == 'x') {
            ++exits;
            throw reactor::LoopExit();
        }
    };
    const Strings sent = {"a", "x1", "b", "x2", "c", "d"};
    for (const std::string& bytes : sent) send(bytes);
    for (int i = 0; i < 2; ++i) BOOST_CHECK_THROW(loop.run_forever(), reactor::LoopExit);
    BOOST_TEST(exits == 2);
    BOOST_TEST(peek(peer) == "");
    wait_for(6);
    BOOST_TEST(course.got == sent);
    end(loop, course);
}

BOOST_AUTO_TEST_SUITE_END()
