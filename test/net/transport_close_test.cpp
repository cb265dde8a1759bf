// SPDX-License-Identifier: BSL-1.0
#include <net/transport.hpp>

#include "transport_fixture.hpp"

using namespace transports;

BOOST_AUTO_TEST_SUITE(transport_close)

REACTOR_LOOP_TEST(TR_06_what_the_protocol_throws_ends_the_connection) {
    const char* const methods[] = {"connection_made", "data_received", "eof_received"};
    for (const std::string method : methods) {
        Connection c(loop);
        const auto fail = [&] { throw std::runtime_error("thrown by " + method); };
        if (method == methods[0]) c.course.on_made = fail;
        if (method == methods[1]) c.course.on_data = fail;
        if (method == methods[2]) {
            c.course.on_eof = [&]() -> bool {
                fail();
                return true;
            };
        }
        shrink(c.mine.number);
        Transport& transport = c.open();
        if (method != methods[0]) {
            c.fill();
            transport.write(std::string(100000, 'x'));
            BOOST_TEST(transport.write_buffer_size() > 0u);
            put(c.theirs.number, "x");
            if (method == methods[2]) ::shutdown(c.theirs.number, SHUT_WR);
        }
        c.run_until_lost();
        BOOST_TEST(transport.write_buffer_size() == 0u);
        BOOST_TEST(c.course.text() == "thrown by " + method);
        const std::vector<reactor::Report> reports = take_reports();
        BOOST_REQUIRE(reports.size() == 1u);
        BOOST_TEST(reports[0].message == "Fatal error: protocol." + method + "() call failed.");
        BOOST_TEST((reports[0].exception == c.course.error));
        BOOST_TEST(!reports[0].handle);  // whose cancel() would be the connection's
        BOOST_REQUIRE(reports[0].details.size() == 2u);
        BOOST_TEST(reports[0].details[0].second == "Told");
        BOOST_TEST(reports[0].details[1].second.find("net::Transport to unix:") == 0u);
        BOOST_TEST(c.drain(1 << 20).size() <= c.filled);
    }
}

REACTOR_LOOP_TEST(what_connection_lost_throws_is_reported) {
    Connection c(loop);
    c.course.on_lost = [&] {
        c.course.lost = 1;
        throw std::runtime_error("too late");
    };
    Transport& transport = c.open();
    transport.close();
    loop.run_iterations(1);
    BOOST_TEST(expect_report("protocol.connection_lost() failed") ==
               "protocol.connection_lost() failed");
    BOOST_TEST(c.course.destroyed == 1);
    BOOST_TEST(!is_open(c.number));
}

REACTOR_LOOP_TEST(TR_07_a_reset_is_no_report) {
    loop.set_log([](reactor::LogLevel, const std::string& text) { BOOST_ERROR(text); });
    Connection c(loop, Connection::tcp);
    c.open();
    const ::linger at_once = {1, 0};
    ::setsockopt(c.theirs.number, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    c.theirs.close();
    c.run_until_lost();
    BOOST_TEST(c.course.code() == ECONNRESET);
    BOOST_TEST(c.course.text() == "read from " + c.course.transport.remote_endpoint().str() +
                                      ": Connection reset by peer");
    BOOST_TEST(c.course.calls == "made lost");
}

REACTOR_LOOP_TEST(TR_11_close_is_at_once_and_the_end_comes_later) {
    for (const auto kind : {Connection::unix_pair, Connection::tcp}) {
        Connection c(loop, kind);
        Transport& transport = c.open();
        transport.write("bye");
        put(c.theirs.number, "not read");
        if (kind == Connection::unix_pair) take(c.number);  // else it lingers
        transport.close();
        BOOST_TEST(transport.is_closing());
        BOOST_TEST(!transport.is_reading());
        BOOST_TEST(loop.watch_count() == 0u);
        transport.close();
        BOOST_TEST(c.course.calls == "made");
        loop.run_iterations(1);
        BOOST_TEST(c.course.calls == "made lost");
        BOOST_TEST(!c.course.error);
        BOOST_TEST(transport.native_handle() == -1);
        if (kind == Connection::unix_pair) BOOST_TEST(!is_open(c.number));
        loop.run_iterations(3);
        BOOST_TEST(c.course.lost == 1);
    }
}

REACTOR_LOOP_TEST(TR_11_also_when_it_was_readable_in_the_same_batch) {
    Connection c(loop);
    Connection d(loop);
    c.open();
    d.open();
    // Whichever comes first closes the other one, which is in the batch, too.
    c.course.on_data = [&] { d.course.transport.close(); };
    d.course.on_data = [&] { c.course.transport.close(); };
    put(c.theirs.number, "x");
    put(d.theirs.number, "x");
    loop.run_iterations(1);
    BOOST_TEST(c.course.bytes.size() + d.course.bytes.size() == 1u);
    BOOST_TEST(c.course.lost + d.course.lost == 0);
    loop.run_iterations(1);
    BOOST_TEST(c.course.lost + d.course.lost == 1);
    c.course.transport.close();
    d.course.transport.close();
    c.run_until_lost();
    d.run_until_lost();
}

REACTOR_LOOP_TEST(TR_12_close_sends_what_waits) {
    Connection c(loop);
    Transport& transport = c.open_narrow();
    const std::string bytes = pattern(500000);
    transport.write(bytes);
    transport.close();
    loop.run_iterations(5);
    BOOST_TEST(c.course.lost == 0);
    std::string got = c.drain(250000);
    BOOST_TEST(c.course.lost == 0);
    got += c.drain_to_end();
    BOOST_TEST((got == bytes));
    c.run_until_lost();
    BOOST_TEST(!c.course.error);
}

REACTOR_LOOP_TEST(TR_13_abort_drops_what_waits) {
    for (const bool closing : {false, true}) {
        Connection c(loop, Connection::tcp);
        Transport& transport = c.open_narrow();
        c.fill();
        transport.write(std::string(500000, 'x'));
        if (closing) {
            transport.close();
            loop.run_iterations(2);
            BOOST_TEST(c.course.lost == 0);
        }
        BOOST_TEST(transport.write_buffer_size() > 0u);
        transport.abort();
        BOOST_TEST(transport.write_buffer_size() == 0u);
        transport.abort();
        BOOST_TEST(c.course.lost == 0);
        loop.run_iterations(1);
        BOOST_TEST(c.course.lost == 1);
        BOOST_TEST(!c.course.error);
        BOOST_TEST(!is_open(c.number));
        // Half a message is not to be taken for a whole one.
        char part[65536];
        ::ssize_t got;
        do {
            got = ::recv(c.theirs.number, part, sizeof part, 0);
        } while (got > 0);
        BOOST_TEST(got < 0);
        BOOST_TEST(errno == ECONNRESET);
        loop.run_iterations(2);
        BOOST_TEST(c.course.lost == 1);
    }
}

REACTOR_LOOP_TEST(TR_13_abort_resets_the_connection) {
    Connection c(loop, Connection::tcp);
    c.open().abort();
    c.run_until_lost();
    ::pollfd told = {c.theirs.number, POLLIN, 0};
    ::poll(&told, 1, 10000);
    BOOST_TEST(error_of_reading(c.theirs.number) == ECONNRESET);
}

// Fault E3: the end of the request is not the end of the connection.
REACTOR_LOOP_TEST(a_client_that_ends_its_half_gets_the_whole_answer) {
    const std::string answer = pattern(8 << 20);
    for (const bool later : {false, true}) {
        Connection c(loop, Connection::tcp);
        if (later) c.course.on_eof = [] { return true; };
        if (!later) c.course.on_data = [&] { c.course.transport.write(answer); };
        Transport& transport = c.open();
        put(c.theirs.number, "request");
        ::shutdown(c.theirs.number, SHUT_WR);
        c.run_until([&] { return c.course.calls.find("eof") != std::string::npos; });
        BOOST_TEST(c.course.bytes == "request");
        if (later) {
            BOOST_TEST(!transport.is_reading());
            loop.run_for(milliseconds(200));
            BOOST_TEST(loop.selector().last_found() == 0u);
            transport.write(answer);
            transport.close();
        }
        BOOST_TEST((c.drain_to_end() == answer));
        c.run_until_lost();
        BOOST_TEST(!c.course.error);
    }
}

BOOST_AUTO_TEST_SUITE_END()
