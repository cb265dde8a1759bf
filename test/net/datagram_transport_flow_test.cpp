// SPDX-License-Identifier: BSL-1.0
#include <net/datagram_transport.hpp>

#include "datagram_sender.hpp"

#include <cerrno>
#include <stdexcept>
#include <string>

using namespace datagram_sender;

BOOST_AUTO_TEST_SUITE(datagram_transport_flow)

REACTOR_LOOP_TEST_IN(Sender, a_protocol_is_asked_to_pause_and_to_go_on) {
    transport.set_write_limits(WriteLimits(10000, 1000));
    BOOST_CHECK_THROW(transport.set_write_limits(WriteLimits(4, 10)), std::invalid_argument);
    calls().full = true;
    const std::string bytes(4000, 'x');
    for (int i = 0; i < 2; ++i) transport.send_to(bytes, addresses[0]);
    BOOST_TEST(!transport.write_paused());
    transport.send_to(bytes, addresses[1]);
    BOOST_TEST(transport.write_paused());
    BOOST_TEST(course.calls == "made");
    loop.run_iterations(2);
    BOOST_TEST(course.calls == "made pause");
    calls().full = false;
    loop.run_iterations(2);
    BOOST_TEST(course.calls == "made pause resume");
    BOOST_TEST(!transport.write_paused());
    end(loop, course);
}

// Else a program that heeds it would lose them at the hard limit, for which they count.
REACTOR_LOOP_TEST_IN(Sender, empty_datagrams_count_for_a_pause_too) {
    transport.set_write_limits(WriteLimits(2000, 1000));
    calls().full = true;
    for (int i = 0; i < 100 && !transport.write_paused(); ++i) transport.send_to("", addresses[0]);
    BOOST_TEST(transport.write_paused());
    BOOST_TEST(transport.write_buffer_size() == 0u);
    loop.run_iterations(1);
    BOOST_TEST(course.calls == "made pause");
    calls().full = false;
    loop.run_iterations(2);
    BOOST_TEST(course.calls == "made pause resume");
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Sender, it_is_asked_to_go_on_also_if_an_error_of_a_datagram_leaves_the_loop) {
    transport.set_write_limits(WriteLimits(0, 0, 1000));
    calls().full = true;
    transport.send_to("x", addresses[0]);
    loop.run_iterations(1);
    BOOST_TEST(course.calls == "made pause");
    calls().full = false;
    calls().plan = {EPERM};
    course.on_error = [] { throw reactor::LoopExit(); };
    BOOST_CHECK_THROW(loop.run_forever(), reactor::LoopExit);
    BOOST_TEST(course.calls == "made pause error");
    BOOST_TEST(!transport.write_paused());
    loop.run_iterations(1);
    BOOST_TEST(course.calls == "made pause error resume");
    end(loop, course);
}

// Nobody heeds pause_writing(), and memory has an end. Empty ones count, too.
REACTOR_LOOP_TEST_IN(Sender, beyond_the_hard_limit_datagrams_are_dropped_and_that_is_told_once) {
    transport.set_write_limits(WriteLimits(0, 0, 1000));
    calls().full = true;
    for (int i = 0; i < 100; ++i) transport.send_to("", addresses[0]);
    loop.run_iterations(1);
    BOOST_TEST(course.errors ==
               Strings{"send to " + addresses[0].str() + ": No buffer space available"});
    calls().full = false;
    loop.run_iterations(2);
    BOOST_TEST(calls().many.size() == 1u);
    BOOST_TEST(calls().many[0] < 20);
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Sender, a_long_queue_goes_out_in_calls_of_many) {
    calls().full = true;
    for (int i = 0; i < 150; ++i) transport.send_to(std::to_string(i), addresses[0]);
    calls().full = false;
    loop.run_iterations(2);
    BOOST_TEST(calls().many == (std::vector<int>{64, 64, 22}));
    for (int i = 0; i < 150; ++i) BOOST_TEST(steal(receivers[0]) == std::to_string(i));
    end(loop, course);
}

// Such a socket counts as writable all the time: to wait for that would be a busy loop.
REACTOR_LOOP_TEST(a_full_receiver_that_it_is_not_connected_to_is_asked_from_time_to_time) {
    Course course;
    DatagramSocket server(loop, abstract_name("transport"));
    const DatagramTransport transport =
        open(loop, course, DatagramEndpointOptions().family(Endpoint::Family::local));
    loop.selector().set_patience(milliseconds(0));
    const int before = fill(server.local_endpoint());
    transport.send_to("mine", server.local_endpoint());
    loop.run_until_idle();
    BOOST_TEST(loop.watch_count() == 1u);  // of the reader
    BOOST_TEST(loop.timer_count() == 1u);
    loop.run_for(seconds(1));
    transport.send_to("behind", server.local_endpoint());
    BOOST_TEST(loop.watch_count() == 1u);
    transport.close();
    loop.run_for(seconds(10));
    BOOST_TEST(course.lost == 0);
    for (int i = 0; i < before; ++i) BOOST_TEST(steal(server) == "f");
    loop.run_for(milliseconds(100));
    BOOST_TEST(steal(server) == "mine");
    BOOST_TEST(steal(server) == "behind");
    BOOST_TEST(course.calls == "made lost");
    BOOST_TEST(loop.timer_count() == 0u);
}

// Told by an event: the sender's own buffer, or the receiver that it is connected to.
REACTOR_LOOP_TEST(a_full_receiver_that_it_is_connected_to_tells_when_it_has_room) {
    Course course;
    DatagramSocket server(loop, abstract_name("connected"));
    const DatagramTransport transport = open(loop, course, to(server.local_endpoint()));
    const int before = fill(server.local_endpoint());
    transport.send("mine");
    loop.run_iterations(2);
    BOOST_TEST(loop.watch_count() == 2u);
    BOOST_TEST(loop.timer_count() == 0u);
    for (int i = 0; i < before; ++i) BOOST_TEST(steal(server) == "f");
    run_until(loop, [&] { return transport.write_buffer_size() == 0; });
    BOOST_TEST(steal(server) == "mine");
    end(loop, course);
}

BOOST_AUTO_TEST_SUITE_END()
