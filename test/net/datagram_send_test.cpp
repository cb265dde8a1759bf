// SPDX-License-Identifier: BSL-1.0
#include <net/datagram_socket.hpp>

#include "datagrams.hpp"

#include <memory>

using namespace datagrams;

BOOST_AUTO_TEST_SUITE(datagram_send)

REACTOR_LOOP_TEST(SOCK_11_a_send_to_without_room_waits_and_sends_once) {
    be_patient(loop);
    DatagramSocket server(loop, abstract_name("once"));
    DatagramSocket client(loop, Endpoint::Family::local);
    client.connect(server.local_endpoint());
    const int before = fill(server.local_endpoint());
    const Promise<std::size_t> sent = client.send_to("mine", server.local_endpoint());
    sent.add_done_callback([&](const Promise<std::size_t>&) { say("done")(); });
    BOOST_TEST(!sent.done());
    loop.run_iterations(3);
    BOOST_TEST(!sent.done());
    BOOST_TEST(loop.watch_count() == 1u);
    for (int i = 0; i < before; ++i) BOOST_TEST(steal(server) == "f");
    BOOST_TEST(loop.run_until_complete(sent) == 4u);
    BOOST_TEST(heard() == "done");
    BOOST_TEST(steal(server) == "mine");
    BOOST_TEST(steal(server) == "(nothing)");
    BOOST_TEST(loop.watch_count() == 0u);
    BOOST_TEST(!loop.remove_writer(client.native_handle()));
}

REACTOR_LOOP_TEST(SOCK_11_a_send_to_that_was_woken_for_nothing_goes_on_waiting) {
    be_patient(loop);
    DatagramSocket server(loop, abstract_name("woken"));
    DatagramSocket client(loop, Endpoint::Family::local);
    client.connect(server.local_endpoint());
    const int before = fill(server.local_endpoint());
    const Promise<std::size_t> sent = client.send_to("mine", server.local_endpoint());
    for (int i = 0; i < before; ++i) BOOST_TEST(steal(server) == "f");
    int stolen = 0;
    // In the batch of the event, before its callback.
    loop.call_soon([&] { stolen = fill(server.local_endpoint()); });
    loop.run_iterations(3);
    BOOST_TEST(stolen == before);
    BOOST_TEST(!sent.done());
    BOOST_TEST(loop.watch_count() == 1u);
    for (int i = 0; i < before; ++i) BOOST_TEST(steal(server) == "f");
    BOOST_TEST(loop.run_until_complete(sent) == 4u);
    BOOST_TEST(steal(server) == "mine");
    BOOST_TEST(loop.watch_count() == 0u);
}

// Such a socket counts as writable all the time: to wait for that would be a busy loop.
REACTOR_LOOP_TEST(a_full_receiver_that_it_is_not_connected_to_is_asked_from_time_to_time) {
    DatagramSocket server(loop, abstract_name("full"));
    DatagramSocket client(loop, Endpoint::Family::local);
    const int before = fill(server.local_endpoint());
    const Promise<std::size_t> sent = client.send_to("mine", server.local_endpoint());
    const Promise<std::size_t> late =
        client.send_to("late", server.local_endpoint(), milliseconds(500));
    loop.run_until_idle();
    BOOST_TEST(loop.watch_count() == 0u);
    BOOST_TEST(loop.timer_count() == 2u);
    loop.run_for(seconds(1));
    BOOST_TEST(!sent.done());
    BOOST_TEST(error_of(loop, late) ==
               "send to " + server.local_endpoint().str() + ": Connection timed out");
    for (int i = 0; i < before; ++i) BOOST_TEST(steal(server) == "f");
    loop.run_for(milliseconds(100));
    BOOST_TEST(sent.done());
    BOOST_TEST(steal(server) == "mine");
    BOOST_TEST(steal(server) == "(nothing)");
    BOOST_TEST(loop.timer_count() == 0u);
}

REACTOR_LOOP_TEST(sends_queue_up_and_go_out_in_order_and_an_error_costs_one) {
    be_patient(loop);
    DatagramSocket server(loop, abstract_name("order"));
    DatagramSocket client(loop, Endpoint::Family::local);
    client.set_send_buffer_size(20000);
    client.connect(server.local_endpoint());
    const int before = fill(server.local_endpoint());
    const Promise<std::size_t> first = client.send("first");
    const Promise<std::size_t> cancelled = client.send("cancelled");
    const Promise<std::size_t> too_long = client.send(std::string(1 << 20, 'x'));
    const Promise<std::size_t> last = client.send("last", seconds(60));
    BOOST_CHECK_THROW(client.connect(server.local_endpoint()), StateError);
    BOOST_TEST(loop.watch_count() == 1u);
    BOOST_TEST(cancelled.cancel());
    for (int i = 0; i < before; ++i) BOOST_TEST(steal(server) == "f");
    BOOST_TEST(loop.run_until_complete(last) == 4u);
    BOOST_TEST(first.result() == 5u);
    BOOST_TEST(error_of(loop, too_long) ==
               "send 1048576 bytes to " + server.local_endpoint().str() + ": Message too long");
    BOOST_TEST(steal(server) == "first");
    BOOST_TEST(steal(server) == "last");
    BOOST_TEST(steal(server) == "(nothing)");
    BOOST_TEST(loop.watch_count() == 0u);
    BOOST_TEST(loop.timer_count() == 0u);
}

REACTOR_LOOP_TEST(a_cancelled_or_late_send_that_waits_sends_nothing) {
    DatagramSocket server(loop, abstract_name("cancelled"));
    DatagramSocket client(loop, Endpoint::Family::local);
    client.connect(server.local_endpoint());
    const int before = fill(server.local_endpoint());
    const Promise<std::size_t> cancelled = client.send("cancelled");
    const Promise<std::size_t> late = client.send("late", milliseconds(5));
    loop.run_iterations(1);
    BOOST_TEST(cancelled.cancel());
    loop.run_for(milliseconds(10));
    BOOST_TEST(error_of(loop, late) ==
               "send to " + server.local_endpoint().str() + ": Connection timed out");
    BOOST_TEST(loop.watch_count() == 0u);
    for (int i = 0; i < before; ++i) BOOST_TEST(steal(server) == "f");
    loop.run_until_idle();
    BOOST_TEST(steal(server) == "(nothing)");
}

REACTOR_LOOP_TEST(the_report_of_a_send_that_nobody_holds_may_destroy_the_socket) {
    be_patient(loop);
    std::unique_ptr<DatagramSocket> server(new DatagramSocket(loop, abstract_name("gone")));
    std::unique_ptr<DatagramSocket> client(new DatagramSocket(loop, Endpoint::Family::local));
    client->connect(server->local_endpoint());
    fill(server->local_endpoint());
    static_cast<void>(client->send("first"));
    const Promise<std::size_t> second = client->send("second");
    int reports = 0;
    loop.set_exception_handler([&](reactor::EventLoop&, const reactor::Report&) {
        ++reports;
        client.reset();
    });
    server->close();
    BOOST_CHECK_THROW(loop.run_until_complete(second), CancelledError);
    BOOST_TEST(reports == 1);
}

BOOST_AUTO_TEST_SUITE_END()
