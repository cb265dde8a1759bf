// SPDX-License-Identifier: BSL-1.0
#include <net/stream.hpp>

#include "streamed.hpp"

using namespace streamed;

BOOST_AUTO_TEST_SUITE(stream_cancel)

REACTOR_LOOP_TEST(S_11_a_second_read_is_refused) {
    StreamPair ends(loop);
    ends.feed("abc");
    const Promise<std::string> first = ends.stream.read_exactly(6);
    BOOST_CHECK_THROW(ends.stream.read(), StateError);
    BOOST_CHECK_THROW(ends.stream.read_line(), StateError);
    BOOST_CHECK_THROW(ends.stream.read_exactly(1), StateError);
    BOOST_CHECK_THROW(ends.stream.read_until("x"), StateError);
    BOOST_CHECK_THROW(ends.stream.read_all(100), StateError);
    ends.feed("def");
    BOOST_TEST(outcome(first) == "'abcdef'");
}

REACTOR_LOOP_TEST(S_12_a_cancelled_read_takes_nothing) {
    StreamPair ends(loop);
    ends.feed("abc");
    const Promise<std::string> first = ends.stream.read_exactly(6);
    BOOST_TEST(first.cancel());
    BOOST_TEST(!first.cancel());
    ends.feed("def");
    BOOST_TEST(outcome(first) == "cancelled");
    BOOST_TEST(outcome(ends.stream.read_exactly(6)) == "'abcdef'");
}

REACTOR_LOOP_TEST(S_12_the_end_and_an_error_pass_a_cancelled_read_by) {
    StreamPair ends(loop);
    const Promise<std::string> first = ends.stream.read();
    BOOST_TEST(first.cancel());
    ends.feed_reset();
    BOOST_TEST(outcome(first) == "cancelled");
    BOOST_TEST(outcome(ends.stream.read()) == "reset");

    StreamPair others(loop);
    const Promise<std::string> second = others.stream.read();
    BOOST_TEST(second.cancel());
    others.feed_end();
    BOOST_TEST(outcome(second) == "cancelled");
    BOOST_TEST(outcome(others.stream.read()) == "''");
}

// Faults D1 and D5: the bytes are in this batch already when the cancellation comes.
REACTOR_LOOP_TEST(a_read_cancelled_in_the_batch_of_its_data_takes_nothing) {
    StreamPair ends(loop);
    const Promise<std::string> read = ends.stream.read(10, milliseconds(5));
    ends.send("data");
    loop.clock().advance(milliseconds(5));
    loop.call_soon([&] { BOOST_TEST(read.cancel()); });
    loop.run_until_idle();
    BOOST_TEST(outcome(read) == "cancelled");
    BOOST_TEST(outcome(ends.stream.read()) == "'data'");
}

REACTOR_LOOP_TEST(a_read_dropped_by_everybody_still_takes_its_bytes) {
    StreamPair ends(loop);
    ends.stream.read_line();
    ends.feed("first\nsecond\n");
    BOOST_TEST(outcome(ends.stream.read_line()) == "'second\n'");
}

REACTOR_LOOP_TEST(a_late_read_says_so_and_takes_nothing) {
    StreamPair ends(loop);
    const Promise<std::string> read = ends.stream.read_line(milliseconds(50));
    ends.feed("half a ");
    loop.run_for(milliseconds(49));
    BOOST_TEST(outcome(read) == "pending");
    loop.run_for(milliseconds(1));
    BOOST_TEST(outcome(read) == "late");
    BOOST_TEST(loop.timer_count() == 0u);
    ends.feed("line\n");
    BOOST_TEST(outcome(ends.stream.read_line()) == "'half a line\n'");
}

REACTOR_LOOP_TEST(a_deadline_that_is_over_leaves_what_can_be_done_at_once) {
    StreamPair ends(loop);
    ends.feed("line\nrest");
    BOOST_TEST(outcome(ends.stream.read_line(milliseconds(0))) == "'line\n'");
    const Promise<std::string> read = ends.stream.read_line(milliseconds(-1));
    BOOST_TEST(outcome(read) == "pending");
    loop.run_until_idle();
    BOOST_TEST(outcome(read) == "late");
}

REACTOR_LOOP_TEST(a_read_that_ends_in_time_leaves_no_timer) {
    StreamPair ends(loop);
    const Promise<std::string> read = ends.stream.read(10, seconds(60));
    const Promise<std::string> cancelled = [&] {
        ends.feed("data");
        return ends.stream.read(10, loop.time() + seconds(60));
    }();
    BOOST_TEST(outcome(read) == "'data'");
    BOOST_TEST(loop.timer_count() == 1u);
    BOOST_TEST(cancelled.cancel());
    BOOST_TEST(loop.timer_count() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
