// SPDX-License-Identifier: BSL-1.0
#include <net/datagram_transport.hpp>

#include "datagram_sender.hpp"

#include <test/support/refusal.hpp>

#include <cerrno>
#include <memory>
#include <stdexcept>

using namespace datagram_sender;

BOOST_AUTO_TEST_SUITE(datagram_transport_send)

REACTOR_LOOP_TEST(DG_02_an_endpoint_with_a_remote_address_sends_there_only) {
    Course course;
    DatagramSocket server(loop, any_port);
    const DatagramSocket other(loop, any_port);
    const Endpoint remote = server.local_endpoint();
    const DatagramTransport transport = open(loop, course, to(remote));
    transport.send("one");
    transport.send_to("two", remote);
    const std::string refusal = support::refusal<std::invalid_argument>(
        [&] { transport.send_to("three", other.local_endpoint()); });
    BOOST_TEST(refusal == "send_to: " + other.local_endpoint().str() + " is not " + remote.str() +
                              ", which is the remote address of this endpoint");
    BOOST_CHECK_THROW(transport.send_to("four", Endpoint()), std::invalid_argument);
    BOOST_TEST(next(loop, server).bytes == "one");
    BOOST_TEST(next(loop, server).bytes == "two");
    BOOST_TEST(steal(server) == "(nothing)");
    BOOST_TEST(steal(other) == "(nothing)");
    end(loop, course);

    Course unconnected;
    open(loop, unconnected, at(any_port));
    BOOST_CHECK_THROW(unconnected.transport.send("to whom?"), StateError);
    end(loop, unconnected);
}

// The system connects it to the loopback address, from which the answers come.
REACTOR_LOOP_TEST(DG_02_a_remote_address_of_every_interface_is_the_one_that_answers) {
    for (const char* const every : {"0.0.0.0", "::"}) {
        Course server, client;
        open(loop, server, at(Endpoint(every, 0)));
        const Endpoint asked = server.transport.local_endpoint();
        const DatagramTransport transport = open(loop, client, to(asked));
        server.on_datagram = [&] { server.transport.send_to("answer", server.from.back()); };
        transport.send_to("one", asked);
        run_until(loop, [&] { return client.got.size() == 1; });
        BOOST_TEST((transport.remote_endpoint() == client.from[0]));
        transport.send_to("two", client.from[0]);
        run_until(loop, [&] { return client.got.size() == 2; });
        BOOST_TEST(server.got == (Strings{"one", "two"}));
        end(loop, client);
        BOOST_TEST((transport.remote_endpoint() == client.from[0]));
        end(loop, server);
    }
}

REACTOR_LOOP_TEST_IN(Sender, DG_04_what_does_not_fit_goes_out_in_order_to_its_own_addresses) {
    calls().full = true;
    std::string memory;
    for (int i = 0; i < 3; ++i) {
        memory.assign(3, static_cast<char>('a' + i));  // the caller's, and used again
        transport.send_to(memory, addresses[static_cast<std::size_t>(i)]);
    }
    transport.send_to("behind", addresses[0]);
    BOOST_TEST(calls().single == 1);  // one that waits is enough to know
    BOOST_TEST(transport.write_buffer_size() == 15u);
    BOOST_TEST(loop.watch_count() == 2u);
    loop.run_iterations(3);  // woken, and nothing goes
    BOOST_TEST(stolen() == nothing);

    calls().full = false;
    loop.run_iterations(2);
    BOOST_TEST(stolen() == (Strings{"aaa", "bbb", "ccc"}));
    BOOST_TEST(steal(receivers[0]) == "behind");
    BOOST_TEST(stolen() == nothing);
    BOOST_TEST(calls().many == (std::vector<int>{4}));  // all of them in one call
    BOOST_TEST(transport.write_buffer_size() == 0u);
    BOOST_TEST(loop.watch_count() == 1u);
    BOOST_TEST(course.calls == "made");
    transport.send_to("at once", addresses[1]);
    BOOST_TEST(steal(receivers[1]) == "at once");
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Sender, DG_05_an_error_costs_one_datagram_and_the_others_go_out_later) {
    calls().full = true;
    for (const Endpoint& address : addresses) transport.send_to("data", address);
    calls().full = false;
    calls().plan = {EPERM};
    Strings before;
    course.on_error = [&] { before = stolen(); };
    loop.run_iterations(1);
    BOOST_TEST(course.errors ==
               Strings{"send to " + addresses[0].str() + ": Operation not permitted"});
    BOOST_TEST(before == nothing);
    BOOST_TEST(transport.write_buffer_size() == 8u);
    BOOST_TEST(loop.watch_count() == 2u);
    loop.run_iterations(2);
    BOOST_TEST(stolen() == (Strings{"(nothing)", "data", "data"}));
    BOOST_TEST(course.calls == "made error");
    BOOST_TEST(loop.watch_count() == 1u);
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Sender, an_error_in_the_middle_of_a_call_costs_that_datagram) {
    calls().full = true;
    for (const Endpoint& address : addresses) transport.send_to("data", address);
    calls().full = false;
    calls().plan = {0, EMSGSIZE};
    loop.run_iterations(3);
    BOOST_TEST(stolen() == (Strings{"data", "(nothing)", "data"}));
    BOOST_TEST(course.errors ==
               Strings{"send 4 bytes to " + addresses[1].str() + ": Message too long"});
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Sender, an_error_of_a_send_at_once_is_told_from_the_loop) {
    calls().plan = {EACCES};
    transport.send_to("refused", addresses[0]);
    transport.send_to("sent", addresses[1]);
    BOOST_TEST(course.calls == "made");
    loop.run_iterations(1);
    BOOST_TEST(course.calls == "made error");
    BOOST_TEST(course.errors == Strings{"send to " + addresses[0].str() + ": Permission denied"});
    BOOST_TEST(stolen() == (Strings{"(nothing)", "sent", "(nothing)"}));
    transport.send_to(std::string(70000, 'x'), addresses[2]);
    loop.run_iterations(1);
    BOOST_TEST(course.errors.back() ==
               "send 70000 bytes to " + addresses[2].str() + ": Message too long");
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Sender, of_many_sends_that_fail_at_once_no_more_than_sixteen_are_told) {
    for (const std::size_t told : {16u, 32u}) {
        calls().plan.assign(100, EPERM);
        for (int i = 0; i < 100; ++i) transport.send_to("x", addresses[0]);
        BOOST_TEST(calls().plan.empty());  // each was tried
        loop.run_iterations(1);
        BOOST_TEST(course.errors.size() == told);
    }
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Sender, DG_06_close_sends_what_waits_and_then_ends) {
    calls().full = true;
    for (const Endpoint& address : addresses) transport.send_to("last", address);
    transport.close();
    transport.close();
    BOOST_TEST(transport.is_closing());
    transport.send_to("too late", addresses[0]);
    loop.run_iterations(3);
    BOOST_TEST(course.calls == "made");
    // Nor is anything received any more.
    BOOST_TEST(receivers[0].send_to("x", transport.local_endpoint()).done());
    calls().full = false;
    calls().plan = {EPERM};  // which delays nothing
    run_until(loop, [&] { return course.lost == 1; });
    BOOST_TEST(course.calls == "made error lost");
    BOOST_TEST(!course.error);
    BOOST_TEST(course.got.empty());
    BOOST_TEST(course.destroyed == 1);
    BOOST_TEST(stolen() == (Strings{"(nothing)", "last", "last"}));
    BOOST_TEST(transport.native_handle() == -1);
    BOOST_TEST(transport.protocol() == nullptr);
    BOOST_TEST(loop.watch_count() == 0u);
}

REACTOR_LOOP_TEST_IN(Sender, DG_06_abort_drops_what_waits_and_ends_in_the_next_iteration) {
    for (const bool closed_before : {false, true}) {
        Course own;
        const DatagramTransport aborted = open(loop, own, at(any_port));
        const Watched calls_of(aborted.native_handle());
        calls().full = true;
        for (const Endpoint& address : addresses) aborted.send_to("dropped", address);
        if (closed_before) aborted.close();
        loop.run_iterations(1);
        aborted.abort();
        BOOST_TEST(own.lost == 0);
        BOOST_TEST(aborted.write_buffer_size() == 0u);
        calls().full = false;
        loop.run_iterations(1);
        BOOST_TEST(own.calls == "made lost");
        BOOST_TEST(!own.error);
        BOOST_TEST(stolen() == nothing);
    }
    end(loop, course);
}

BOOST_AUTO_TEST_SUITE_END()
