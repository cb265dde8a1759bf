// SPDX-License-Identifier: BSL-1.0
#include <net/datagram_socket.hpp>

#include "datagrams.hpp"
#include "unix_sockets.hpp"

#include <test/support/temporary_directory.hpp>

#include <memory>

using namespace datagrams;

BOOST_AUTO_TEST_SUITE(datagram_receive)

REACTOR_LOOP_TEST(a_cancelled_receive_takes_nothing_and_leaves_the_next_one_alone) {
    be_patient(loop);
    DatagramSocket socket(loop, any_port);
    const Promise<Datagram> first = socket.receive_from();
    loop.run_iterations(1);
    BOOST_TEST(socket.send_to("data", socket.local_endpoint()).done());
    BOOST_TEST(first.cancel());
    loop.run_iterations(2);
    BOOST_TEST(loop.watch_count() == 0u);
    BOOST_TEST(peek(socket) == "data");
    const Promise<Datagram> second = socket.receive_from();
    BOOST_TEST(loop.run_until_complete(second).bytes == "data");

    const Promise<Datagram> third = socket.receive_from();
    BOOST_TEST(third.cancel());
    const Promise<Datagram> fourth = socket.receive_from();
    loop.run_iterations(2);
    BOOST_TEST(socket.send_to("more", socket.local_endpoint()).done());
    BOOST_TEST(loop.run_until_complete(fourth).bytes == "more");
}

REACTOR_LOOP_TEST(one_cancelled_in_the_batch_of_its_datagram_takes_nothing) {
    DatagramSocket socket(loop, any_port);
    const Promise<Datagram> receive = socket.receive_from(10, milliseconds(5));
    BOOST_TEST(socket.send_to("data", socket.local_endpoint()).done());
    loop.clock().advance(milliseconds(5));
    loop.call_soon([&] { BOOST_TEST(receive.cancel()); });
    loop.run_until_idle();
    BOOST_TEST(receive.cancelled());
    BOOST_TEST(peek(socket) == "data");
}

REACTOR_LOOP_TEST(SOCK_11_a_receive_that_was_woken_for_nothing_goes_on_waiting) {
    be_patient(loop);
    DatagramSocket socket(loop, any_port);
    const Promise<Datagram> receive = socket.receive_from();
    BOOST_TEST(socket.send_to("stolen", socket.local_endpoint()).done());
    // In the batch of the event, before its callback.
    loop.call_soon([&] { BOOST_TEST(steal(socket) == "stolen"); });
    loop.run_until_idle();
    BOOST_TEST(!receive.done());
    BOOST_TEST(loop.watch_count() == 1u);
    BOOST_TEST(socket.send_to("data", socket.local_endpoint()).done());
    BOOST_TEST(loop.run_until_complete(receive).bytes == "data");
}

REACTOR_LOOP_TEST(a_late_receive_says_so_and_takes_nothing) {
    DatagramSocket socket(loop, any_port);
    const Promise<Datagram> receive = socket.receive_from(10, milliseconds(20));
    BOOST_CHECK_THROW(loop.run_until_complete(receive), TimeoutError);
    const std::string address = socket.local_endpoint().str();
    BOOST_TEST(error_of(loop, receive) == "receive on " + address + ": Connection timed out");
    BOOST_TEST(loop.watch_count() == 0u);
    socket.connect(socket.local_endpoint());
    BOOST_TEST(error_of(loop, socket.receive(10, milliseconds(20))) ==
               "receive from " + address + ": Connection timed out");
    BOOST_TEST(socket.send("x").done());
    BOOST_TEST(next(loop, socket).bytes == "x");
    BOOST_TEST(loop.timer_count() == 0u);
}

REACTOR_LOOP_TEST(a_unix_datagram_may_be_longer_than_those_of_ip) {
    DatagramSocket server(loop, abstract_name("long"));
    DatagramSocket client(loop, Endpoint::Family::local);
    const std::string longer = pattern(100000);
    const std::size_t all = longer.size();
    for (int i = 0; i < 2; ++i) {
        BOOST_TEST(client.send_to(longer, server.local_endpoint()).result() == all);
        const Datagram whole = next(loop, server, 1 << 30);
        BOOST_TEST((whole.bytes == longer));
        BOOST_TEST(!whole.truncated);
        BOOST_TEST(client.send_to(longer, server.local_endpoint()).result() == all);
        const Datagram cut = next(loop, server, all - 1);
        BOOST_TEST(cut.bytes.size() == all - 1);
        BOOST_TEST(cut.full_size == all);
        BOOST_TEST(cut.truncated);
        BOOST_TEST(client.send_to("short", server.local_endpoint()).done());
        BOOST_TEST(next(loop, server, 1 << 30).bytes == "short");
    }
}

REACTOR_LOOP_TEST(any_callback_may_destroy_the_socket) {
    be_patient(loop);
    const auto socket = std::make_shared<DatagramSocket>(loop, any_port);
    const Promise<Datagram> receive = socket->receive_from();
    DatagramSocket client(loop, Endpoint::Family::ipv4);
    DatagramSocket other(loop, any_port);
    const Promise<Datagram> pending = other.receive_from();
    receive.add_done_callback([&](const Promise<Datagram>&) { other = DatagramSocket(); });
    BOOST_TEST(client.send_to("x", socket->local_endpoint()).done());
    BOOST_TEST(client.send_to("y", other.local_endpoint()).done());
    loop.call_soon([&] { *socket = DatagramSocket(); });  // before the event's callback
    loop.run_until_idle();
    BOOST_TEST(receive.cancelled());
    BOOST_TEST(pending.done());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_loop_may_be_closed_with_everything_pending, On,
                              support::EverySelector) {
    const std::size_t before = reactor::testing::open_descriptors();
    Promise<Datagram> waiting;
    {
        DatagramSocket outlives;
        {
            TestLoop loop(On::name());
            const auto socket = std::make_shared<DatagramSocket>(loop, any_port);
            outlives = DatagramSocket(loop, any_port);
            // The socket is kept by nothing but the callback of its own promise.
            socket->receive_from(10, seconds(60))
                .add_done_callback([socket](const Promise<Datagram>&) {});
            waiting = outlives.receive_from();
            loop.close();
            BOOST_CHECK_THROW(outlives.receive_from(), StateError);
        }
        BOOST_CHECK_THROW(outlives.loop(), StateError);
        outlives.close();
        BOOST_TEST(waiting.cancelled());
    }
    BOOST_TEST(reactor::testing::open_descriptors() == before);
}

// Its address has 111 bytes, and a sockaddr_un 110.
REACTOR_LOOP_TEST(a_sender_with_the_longest_path_of_all_is_one_without_a_name) {
    const support::TemporaryDirectory directory;
    DatagramSocket socket(loop, Endpoint::local_path(directory / "socket"));
    unix_sockets::PlainSocket sender(SOCK_DGRAM);
    BOOST_REQUIRE(sender.bind(unix_sockets::longest_path(directory.path())) == 0);
    BOOST_REQUIRE(sender.connect(directory / "socket") == 0);
    BOOST_TEST(::write(sender.fd, "data", 4) == 4);
    const Datagram got = next(loop, socket);
    BOOST_TEST(got.bytes == "data");
    BOOST_TEST(got.from.str() == "unix:");
    const DatagramSocket adopted = DatagramSocket::adopt(loop, ::dup(sender.fd));
    BOOST_TEST(adopted.local_endpoint().str() == "unix:");
}

// Else the loop would turn for nothing as long as somebody waits for a datagram.
REACTOR_LOOP_TEST(what_the_system_notes_of_errors_is_thrown_away) {
    be_patient(loop);
    DatagramSocket socket(loop, any_port);
    Endpoint nobody;
    { nobody = DatagramSocket(loop, any_port).local_endpoint(); }
    socket.connect(nobody);
    keep_errors(socket.native_handle());
    const Promise<Datagram> refused = socket.receive_from();
    BOOST_TEST(socket.send("x").done());
    BOOST_TEST(error_of(loop, refused) == "receive from " + nobody.str() + ": Connection refused");
    const Promise<Datagram> waits = socket.receive_from();
    for (int i = 0; i < 3 && told_of(socket.native_handle()) != 0; ++i) loop.run_iterations(1);
    BOOST_TEST(told_of(socket.native_handle()) == 0);
    BOOST_TEST(!waits.done());
    BOOST_TEST(waits.cancel());
}

BOOST_AUTO_TEST_SUITE_END()
