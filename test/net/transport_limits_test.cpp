// SPDX-License-Identifier: BSL-1.0
#include <net/transport.hpp>

#include "transport_fixture.hpp"

using namespace transports;

namespace {

bool same(const WriteLimits& a, const WriteLimits& b) {
    return a.high == b.high && a.low == b.low && a.hard == b.hard;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(transport_limits)

REACTOR_LOOP_TEST(TR_18_limits_of_one_mark_or_two) {
    Connection c(loop);
    Transport& transport = c.open();
    const std::size_t hard = WriteLimits().hard;
    BOOST_TEST(same(transport.write_limits(), WriteLimits(65536, 16384, hard)));
    transport.set_write_limits(WriteLimits::of_high(100));
    BOOST_TEST(same(transport.write_limits(), WriteLimits(100, 25, hard)));
    transport.set_write_limits(WriteLimits::of_low(50));
    BOOST_TEST(same(transport.write_limits(), WriteLimits(200, 50, hard)));
    transport.set_write_limits(WriteLimits::of_high(0));
    BOOST_TEST(same(transport.write_limits(), WriteLimits(0, 0, hard)));
    transport.set_write_limits(WriteLimits());
    BOOST_TEST(same(transport.write_limits(), WriteLimits(65536, 16384, hard)));
    BOOST_CHECK_THROW(transport.set_write_limits(WriteLimits(10, 11)), std::invalid_argument);
    BOOST_CHECK_THROW(transport.set_write_limits(WriteLimits(10, 5, 9)), std::invalid_argument);
    BOOST_TEST(same(transport.write_limits(), WriteLimits(65536, 16384, hard)));
    transport.set_write_limits(WriteLimits(2 * hard, hard));
    BOOST_TEST(transport.write_limits().hard == 4 * hard);
    transport.close();
    c.run_until_lost();
}

// With law 1: write_paused() at once, pause_writing() as a callback of its own.
REACTOR_LOOP_TEST(TR_19_paused_beyond_the_high_mark_once) {
    Connection c(loop);
    Transport& transport = c.open_narrow();
    c.fill();
    transport.set_write_limits(WriteLimits::of_high(1000));
    transport.write(std::string(1000, 'x'));
    BOOST_TEST(transport.write_buffer_size() == 1000u);
    BOOST_TEST(!transport.write_paused());
    loop.run_iterations(2);
    BOOST_TEST(c.course.calls == "made");
    transport.write("x");
    BOOST_TEST(transport.write_paused());
    BOOST_TEST(c.course.calls == "made");
    transport.write("y");
    loop.run_iterations(1);
    BOOST_TEST(c.course.calls == "made pause");
    transport.write("z");
    loop.run_iterations(2);
    BOOST_TEST(c.course.calls == "made pause");
    transport.abort();
    c.run_until_lost();
}

REACTOR_LOOP_TEST(TR_19_a_lower_limit_pauses_within_the_call) {
    Connection c(loop);
    Transport& transport = c.open_narrow();
    c.fill();
    transport.write(std::string(1000, 'x'));
    BOOST_TEST(!transport.write_paused());
    transport.set_write_limits(WriteLimits::of_high(999));
    BOOST_TEST(transport.write_paused());
    loop.run_iterations(1);
    BOOST_TEST(c.course.calls == "made pause");
    // What is over by the time that it would be told is not told.
    transport.set_write_limits(WriteLimits(5000, 5000));
    BOOST_TEST(!transport.write_paused());
    transport.set_write_limits(WriteLimits(10, 10));
    BOOST_TEST(transport.write_paused());
    loop.run_iterations(2);
    BOOST_TEST(c.course.calls == "made pause");
    transport.abort();
    c.run_until_lost();
}

REACTOR_LOOP_TEST(TR_20_resumed_at_the_low_mark_or_below) {
    Connection c(loop);
    Transport& transport = c.open_narrow();
    c.fill();
    transport.set_write_limits(WriteLimits(1000, 250));
    transport.write(std::string(100000, 'x'));
    loop.run_iterations(1);
    BOOST_TEST(c.course.calls == "made pause");
    bool resumed = false;
    c.course.on_resume = [&] {
        resumed = true;
        BOOST_TEST(transport.write_buffer_size() <= 250u);
    };
    std::size_t got = 0;
    for (int i = 0; i < 100000 && !resumed; ++i) {
        if (transport.write_buffer_size() > 250) BOOST_TEST(!resumed);
        got += take(c.theirs.number, 512).size();
        loop.run_iterations(1);
    }
    BOOST_TEST(resumed);
    c.drain(c.filled + 100000 - got);
    loop.run_iterations(2);
    BOOST_TEST(c.course.calls == "made pause resume");
    transport.close();
    c.run_until_lost();
}

REACTOR_LOOP_TEST(TR_20_equality_counts) {
    Connection c(loop);
    Transport& transport = c.open_narrow();
    c.fill();
    transport.write(std::string(250, 'x'));
    transport.set_write_limits(WriteLimits(249, 100));
    loop.run_iterations(1);
    transport.set_write_limits(WriteLimits(1000, 249));
    BOOST_TEST(transport.write_paused());
    transport.set_write_limits(WriteLimits(1000, 250));
    BOOST_TEST(!transport.write_paused());
    loop.run_iterations(1);
    BOOST_TEST(c.course.calls == "made pause resume");
    transport.abort();
    c.run_until_lost();
}

REACTOR_LOOP_TEST(TR_21_what_flow_control_throws_is_reported_and_nothing_else) {
    Connection c(loop);
    Transport& transport = c.open_narrow();
    c.fill();
    transport.set_write_limits(WriteLimits(100, 100));
    c.course.on_pause = c.course.on_resume = [] { throw std::runtime_error("no"); };
    transport.write(std::string(5000, 'x'));
    loop.run_iterations(1);
    std::vector<reactor::Report> reports = take_reports();
    BOOST_REQUIRE(reports.size() == 1u);
    BOOST_TEST(reports[0].message == "protocol.pause_writing() failed");
    BOOST_TEST(reactor::describe(reports[0].exception) == "no");
    BOOST_REQUIRE(reports[0].details.size() == 2u);
    BOOST_TEST(reports[0].details[0].first == "protocol");
    BOOST_TEST(reports[0].details[0].second == "Told");
    BOOST_TEST(reports[0].details[1].first == "transport");
    BOOST_TEST(transport.write_paused());
    BOOST_TEST(!transport.is_closing());
    BOOST_TEST(c.drain(c.filled + 5000).size() == c.filled + 5000);
    loop.run_iterations(2);
    reports = take_reports();
    BOOST_REQUIRE(reports.size() == 1u);
    BOOST_TEST(reports[0].message == "protocol.resume_writing() failed");
    BOOST_TEST(!transport.write_paused());
    transport.close();
    c.run_until_lost();
}

REACTOR_LOOP_TEST(TR_22_resume_writing_may_write) {
    Connection c(loop);
    Transport& transport = c.open_narrow();
    c.fill();
    transport.set_write_limits(WriteLimits(1000, 0));
    std::string expected = std::string(5000, 'a');
    int rounds = 0;
    c.course.on_resume = [&] {
        if (++rounds > 3) return;
        const std::string more = pattern(300000);
        expected += more;
        transport.write(more);
        BOOST_TEST(loop.watch_count() == 2u);
    };
    transport.write(expected);
    const std::string got = c.drain(c.filled + 5000 + 3 * 300000);
    BOOST_TEST((got.substr(c.filled) == expected));
    loop.run_iterations(3);
    BOOST_TEST(take(c.theirs.number) == "");
    BOOST_TEST(c.course.calls == "made pause resume pause resume pause resume pause resume");
    transport.close();
    c.run_until_lost();
}

REACTOR_LOOP_TEST(TR_23_resume_writing_may_close) {
    Connection c(loop);
    Transport& transport = c.open_narrow();
    c.fill();
    transport.set_write_limits(WriteLimits(1000, 0));
    c.course.on_resume = [&] {
        BOOST_TEST(transport.write_buffer_size() == 0u);
        transport.close();
    };
    transport.write(std::string(5000, 'x'));
    BOOST_TEST(c.drain_to_end().size() == c.filled + 5000);
    c.run_until_lost();
    BOOST_TEST(c.course.calls == "made pause resume lost");
    BOOST_TEST(!c.course.error);
}

// How long one write may be is the program's business.
REACTOR_LOOP_TEST(one_write_may_be_longer_than_the_hard_limit) {
    Connection c(loop);
    Transport& transport = c.open_narrow();
    transport.set_write_limits(WriteLimits(1000, 100, 5000));
    transport.write(pattern(1 << 20));
    BOOST_TEST(!transport.is_closing());
    BOOST_TEST(transport.write_buffer_size() > 5000u);
    transport.close();
    BOOST_TEST((c.drain_to_end() == pattern(1 << 20)));
    c.run_until_lost();
    BOOST_TEST(!c.course.error);
}

// A peer that never reads, and a program that does not listen to pause_writing().
REACTOR_LOOP_TEST(beyond_the_hard_limit_the_connection_is_lost) {
    Connection c(loop);
    Transport& transport = c.open_narrow();
    c.fill();
    transport.set_write_limits(WriteLimits(1000, 100, 5000));
    transport.write(std::string(5000, 'x'));
    BOOST_TEST(!transport.is_closing());
    transport.write("x");
    BOOST_TEST(transport.is_closing());
    BOOST_TEST(transport.write_buffer_size() == 0u);
    BOOST_TEST(c.course.lost == 0);
    c.run_until_lost();
    BOOST_TEST(c.course.code() == ENOBUFS);
}

BOOST_AUTO_TEST_SUITE_END()
