// SPDX-License-Identifier: BSL-1.0
#include <net/transport.hpp>

#include "transport_fixture.hpp"

#include <net/protocol.hpp>

using namespace transports;

BOOST_AUTO_TEST_SUITE(stream_transport)

REACTOR_LOOP_TEST(TR_01_made_then_reading_then_the_promise_then_data) {
    Connection c(loop);
    put(c.theirs.number, "hi");
    c.course.on_made = [&] { BOOST_TEST(loop.watch_count() == 0u); };
    const Promise<Transport> made = make_transport(loop, c.mine.number, told(c.course));
    c.mine.release();
    BOOST_TEST(c.course.calls == "");
    made.add_done_callback([&](const Promise<Transport>&) {
        c.course.note("promise");
        BOOST_TEST(loop.watch_count() == 1u);
    });
    loop.run_iterations(1);
    BOOST_TEST(c.course.calls == "made");
    BOOST_TEST(made.done());
    loop.run_iterations(1);
    BOOST_TEST(c.course.calls == "made promise data");
    BOOST_TEST(c.course.bytes == "hi");
    BOOST_TEST((made.result() == c.course.transport));
}

REACTOR_LOOP_TEST(TR_02_the_calls_come_in_order_whatever_happens) {
    Connection c(loop, Connection::tcp);
    c.course.on_eof = [] { return true; };
    Transport& transport = c.open_narrow();
    transport.set_write_limits(WriteLimits(1000, 100));
    put(c.theirs.number, "a");
    c.run_until([&] { return c.course.bytes == "a"; });
    c.fill();
    transport.write(std::string(2000, 'x'));
    loop.run_iterations(1);
    c.drain(c.filled + 2000);
    c.run_until([&] { return !transport.write_paused(); });
    put(c.theirs.number, "b");
    ::shutdown(c.theirs.number, SHUT_WR);
    c.run_until([&] { return c.course.calls.find("eof") != std::string::npos; });
    transport.close();
    transport.abort();
    c.run_until_lost();
    loop.run_iterations(5);
    BOOST_TEST(c.course.calls == "made data pause resume data eof lost");
    BOOST_TEST(c.course.lost == 1);
}

REACTOR_LOOP_TEST(TR_03_closed_by_connection_made) {
    Connection c(loop);
    put(c.theirs.number, "hi");
    c.course.on_made = [&] { c.course.transport.close(); };
    const Promise<Transport> made = make_transport(loop, c.mine.number, told(c.course));
    c.mine.release();
    const Transport transport = loop.run_until_complete(made);
    BOOST_TEST(transport.is_closing());
    c.run_until_lost();
    BOOST_TEST(c.course.calls == "made lost");
    BOOST_TEST(!c.course.error);
    BOOST_TEST(c.course.destroyed == 1);
}

REACTOR_LOOP_TEST(TR_04_one_read_an_iteration) {
    Connection c(loop);
    const int large = 1 << 20;
    ::setsockopt(c.theirs.number, SOL_SOCKET, SO_SNDBUF, &large, sizeof large);
    c.open();
    const std::string bytes = pattern(600000);
    std::size_t sent = 0;
    std::size_t before = 0;
    while (c.course.bytes.size() < bytes.size()) {
        const ::ssize_t took = ::send(c.theirs.number, bytes.data() + sent, bytes.size() - sent,
                                      MSG_DONTWAIT | MSG_NOSIGNAL);
        if (took > 0) sent += static_cast<std::size_t>(took);
        const std::size_t reads = c.course.reads;
        loop.run_iterations(1);
        BOOST_REQUIRE(c.course.reads == reads + 1);
        BOOST_TEST(c.course.bytes.size() - before <= 256u * 1024);
        before = c.course.bytes.size();
    }
    BOOST_TEST((c.course.bytes == bytes));
    c.course.transport.close();
    c.run_until_lost();
}

REACTOR_LOOP_TEST(TR_05_the_peers_end_closes_unless_it_is_kept_open) {
    Connection c(loop);
    Transport& transport = c.open();
    ::shutdown(c.theirs.number, SHUT_WR);
    loop.run_iterations(1);
    BOOST_TEST(c.course.calls == "made eof");
    BOOST_TEST(transport.is_closing());
    loop.run_iterations(1);
    BOOST_TEST(c.course.calls == "made eof lost");
    BOOST_TEST(!c.course.error);
}

REACTOR_LOOP_TEST(TR_17_nothing_comes_while_reading_is_paused) {
    Connection c(loop);
    Transport& transport = c.open();
    transport.pause_reading();
    transport.pause_reading();
    BOOST_TEST(!transport.is_reading());
    put(c.theirs.number, "kept");
    loop.run_iterations(10);
    BOOST_TEST(c.course.bytes == "");
    BOOST_TEST(loop.watch_count() == 0u);
    transport.resume_reading();
    transport.resume_reading();
    BOOST_TEST(transport.is_reading());
    loop.run_iterations(1);
    BOOST_TEST(c.course.bytes == "kept");
    transport.close();
    BOOST_TEST(!transport.is_reading());
    transport.pause_reading();
    transport.resume_reading();
    BOOST_TEST(!transport.is_reading());
    BOOST_TEST(loop.watch_count() == 0u);
    c.run_until_lost();
    transport.pause_reading();
    transport.resume_reading();
    BOOST_TEST(c.course.calls == "made data lost");
}

REACTOR_LOOP_TEST(TR_17_paused_by_connection_made) {
    Connection c(loop);
    put(c.theirs.number, "waits");
    c.course.on_made = [&] {
        c.course.transport.pause_reading();
        BOOST_TEST(!c.course.transport.is_reading());
    };
    Transport& transport = c.open();
    loop.run_iterations(5);
    BOOST_TEST(c.course.bytes == "");
    transport.resume_reading();
    loop.run_iterations(1);
    BOOST_TEST(c.course.bytes == "waits");
    transport.close();
    c.run_until_lost();
}

// Fault B3: a peer that hangs up while reading is paused is no reason to spin, and is not missed.
REACTOR_LOOP_TEST(a_hang_up_while_paused_waits_for_resume_reading) {
    for (const bool reset : {false, true}) {
        Connection c(loop, reset ? Connection::tcp : Connection::unix_pair);
        Transport& transport = c.open();
        transport.pause_reading();
        const ::linger at_once = {1, 0};
        if (reset) ::setsockopt(c.theirs.number, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        c.theirs.close();
        loop.run_iterations(10);
        BOOST_TEST(loop.selector().last_found() == 0u);
        BOOST_TEST(c.course.calls == "made");
        transport.resume_reading();
        c.run_until_lost();
        BOOST_TEST(c.course.code() == (reset ? ECONNRESET : 0));
    }
}

REACTOR_LOOP_TEST(an_empty_transport_says_so) {
    const Transport empty;
    BOOST_TEST(!empty);
    BOOST_CHECK_THROW(empty.write("x"), StateError);
    BOOST_CHECK_THROW(empty.pause_reading(), StateError);
    BOOST_CHECK_THROW(empty.remote_endpoint(), StateError);
    BOOST_TEST(empty.write_buffer_size() == 0u);
    BOOST_TEST(!empty.is_closing());
    BOOST_TEST(empty.native_handle() == -1);
    empty.close();
    empty.abort();
    Connection c(loop);
    Transport first = c.open();
    const Transport second = std::move(first);
    BOOST_TEST(!first);
    BOOST_TEST((second == c.course.transport));
    second.close();
    c.run_until_lost();
}

REACTOR_LOOP_TEST(a_protocol_may_be_replaced_inside_its_own_method) {
    Connection c(loop);
    Course second;
    c.course.on_data = [&] {
        c.course.transport.set_protocol(told(second));
        BOOST_TEST(c.course.destroyed == 0);
    };
    Transport& transport = c.open();
    Protocol* const before = transport.protocol();
    BOOST_CHECK_THROW(transport.set_protocol(nullptr), std::invalid_argument);
    BOOST_TEST((transport.protocol() == before));
    put(c.theirs.number, "one");
    loop.run_iterations(1);
    BOOST_TEST(c.course.destroyed == 1);
    put(c.theirs.number, "two");
    loop.run_iterations(1);
    BOOST_TEST(c.course.bytes == "one");
    BOOST_TEST(second.bytes == "two");
    Course third;
    transport.set_protocol(told(third));
    BOOST_TEST(second.destroyed == 1);
    c.theirs.close();
    c.run_until([&] { return third.lost == 1; });
    BOOST_TEST(third.calls == "eof lost");
    BOOST_TEST(third.destroyed == 1);
    transport.set_protocol(told(second));
    BOOST_TEST(second.destroyed == 2);
    c.course.lost = 1;
}

// Law 1: all of it runs in the context in which the transport was made.
REACTOR_LOOP_TEST(callbacks_run_in_the_context_of_make_transport) {
    reactor::ContextVar<int> colour("colour", 0);
    Connection c(loop);
    std::string seen;
    c.course.on_made = c.course.on_data =
        c.course.on_lost = [&] { seen += std::to_string(colour.get()); };
    reactor::copy_context().run([&] {
        colour.set(7);
        make_transport(loop, c.mine.release(), told(c.course));
    });
    loop.run_iterations(1);
    c.course.transport.pause_reading();
    put(c.theirs.number, "x");
    c.course.transport.resume_reading();
    loop.run_iterations(1);
    c.course.transport.close();
    c.run_until_lost();
    BOOST_TEST(seen == "777");
}

BOOST_AUTO_TEST_SUITE_END()
