// SPDX-License-Identifier: BSL-1.0
#include <net/transport.hpp>

#include "transport_fixture.hpp"

using namespace transports;

namespace {

/// Virtual time passes only if nothing is waited for in real time.
struct Timed : Connection {
    explicit Timed(TestLoop& l) : Connection(l) { l.selector().set_patience(seconds(0)); }
};

bool timed_out(const Course& course) {
    try {
        if (course.error) std::rethrow_exception(course.error);
    } catch (const reactor::TimeoutError&) {
        return true;
    } catch (...) {
    }
    return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(transport_timeout)

REACTOR_LOOP_TEST(without_a_limit_there_is_no_timer) {
    Timed c(loop);
    Transport& transport = c.open();
    BOOST_TEST(loop.timer_count() == 0u);
    transport.set_idle_timeout(seconds(5));
    transport.set_read_timeout(seconds(6));
    transport.set_write_timeout(seconds(7));
    BOOST_TEST(loop.timer_count() == 1u);
    transport.set_idle_timeout(reactor::forever());
    transport.set_read_timeout(reactor::forever());
    BOOST_TEST(loop.timer_count() == 0u);
    loop.run_for(seconds(100));
    BOOST_TEST(c.course.calls == "made");
    BOOST_CHECK_THROW(transport.set_idle_timeout(seconds(0)), std::invalid_argument);
    BOOST_CHECK_THROW(transport.set_read_timeout(seconds(-1)), std::invalid_argument);
    transport.set_idle_timeout(seconds(1));
    transport.close();
    BOOST_TEST(loop.timer_count() == 0u);
    transport.set_idle_timeout(seconds(1));
    BOOST_TEST(loop.timer_count() == 0u);
    c.run_until_lost();
}

REACTOR_LOOP_TEST(idle_counts_from_the_last_byte_either_way) {
    Timed c(loop);
    Transport& transport = c.open();
    transport.set_idle_timeout(seconds(5));
    loop.run_for(seconds(4));
    put(c.theirs.number, "x");
    loop.run_for(seconds(4));
    transport.write("y");
    loop.run_for(milliseconds(4999));
    BOOST_TEST(!transport.is_closing());
    BOOST_TEST(loop.timer_count() == 1u);
    loop.run_for(milliseconds(1));
    c.run_until_lost();
    BOOST_TEST(timed_out(c.course));
    BOOST_TEST(c.course.code() == ETIMEDOUT);
    BOOST_TEST(c.course.text().find("connection to unix:: nothing came or went for 5 s") == 0u);
    BOOST_TEST(loop.timer_count() == 0u);
}

REACTOR_LOOP_TEST(read_counts_while_reading_and_from_resume_reading) {
    Timed c(loop);
    Transport& transport = c.open();
    transport.set_read_timeout(seconds(5));
    loop.run_for(seconds(4));
    transport.write("no help");
    transport.pause_reading();
    loop.run_for(seconds(20));
    transport.resume_reading();
    loop.run_for(seconds(4));
    put(c.theirs.number, "x");
    loop.run_for(milliseconds(4999));
    BOOST_TEST(!transport.is_closing());
    loop.run_for(milliseconds(1));
    c.run_until_lost();
    BOOST_TEST(timed_out(c.course));
    BOOST_TEST(c.course.text().find("nothing came for 5 s") != std::string::npos);
}

REACTOR_LOOP_TEST(write_counts_while_something_waits_and_from_what_was_taken) {
    Timed c(loop);
    Transport& transport = c.open_narrow();
    transport.set_write_timeout(seconds(5));
    transport.write("taken at once");
    loop.run_for(seconds(20));
    BOOST_TEST(!transport.is_closing());
    c.fill();
    transport.write(std::string(300000, 'x'));
    loop.run_for(seconds(4));
    const std::size_t before = transport.write_buffer_size();
    while (transport.write_buffer_size() == before) {
        take(c.theirs.number, 4096);
        loop.run_iterations(1);
    }
    loop.run_for(milliseconds(4999));
    BOOST_TEST(!transport.is_closing());
    // Also while closing.
    transport.close();
    loop.run_for(milliseconds(1));
    c.run_until_lost();
    BOOST_TEST(timed_out(c.course));
    BOOST_TEST(c.course.text().find("was taken for 5 s") != std::string::npos);
}

REACTOR_LOOP_TEST(a_limit_may_be_set_on_a_transport_that_is_closing) {
    Timed c(loop);
    Transport& transport = c.open_narrow();
    c.fill();
    transport.write(std::string(300000, 'x'));
    transport.close();
    transport.set_write_timeout(seconds(5));
    loop.run_for(seconds(5));
    c.run_until_lost();
    BOOST_TEST(timed_out(c.course));
}

REACTOR_LOOP_TEST(the_earliest_of_several_limits_counts) {
    Timed c(loop);
    Transport& transport = c.open();
    transport.set_idle_timeout(seconds(100));
    transport.set_read_timeout(seconds(2));
    loop.run_for(seconds(1));
    transport.set_idle_timeout(milliseconds(500));
    loop.run_for(milliseconds(499));
    BOOST_TEST(!transport.is_closing());
    loop.run_for(milliseconds(1));
    c.run_until_lost();
    BOOST_TEST(c.course.text().find("nothing came or went for 0.5 s") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
