// SPDX-License-Identifier: BSL-1.0
#include <net/stream.hpp>

#include "streamed.hpp"

#include <vector>

using namespace streamed;
using reactor::net::WriteLimits;

BOOST_AUTO_TEST_SUITE(stream_write)

REACTOR_LOOP_TEST(writes_of_every_kind_go_out_in_order) {
    StreamPair ends(loop);
    const std::string kept = "kept ";
    ends.stream.write("literal ");
    ends.stream.write(kept);
    ends.stream.write(std::string("moved "));
    ends.stream.write_lines({"some", "", " pieces"});
    BOOST_TEST(ends.sent() == "literal kept moved some pieces");
    BOOST_TEST(outcome(ends.stream.drain()) == "done");
}

// Fault E3: the end of what the peer sends is not the end of what it reads.
REACTOR_LOOP_TEST(an_answer_follows_the_end_of_the_request) {
    StreamPair ends(loop);
    const Promise<std::string> request = ends.stream.read_all(100);
    ends.send("request");
    ends.feed_end();
    BOOST_TEST(outcome(request) == "'request'");
    loop.run_for(milliseconds(200));
    BOOST_TEST(!ends.stream.is_closing());
    ends.stream.write("answer");
    ends.stream.write_eof();
    loop.run_until_idle();
    BOOST_TEST(ends.sent() == "answer");
    char byte;
    BOOST_TEST(::recv(ends.theirs, &byte, 1, 0) == 0);
    BOOST_CHECK_THROW(ends.stream.write("more"), StateError);
}

REACTOR_LOOP_TEST(a_large_answer_follows_the_end_of_the_request_whole) {
    StreamPair ends(loop);
    ends.feed_end();
    Random random(7);
    std::string answer(8 << 20, '\0');
    for (char& byte : answer) byte = static_cast<char>(random.below(256));
    ends.stream.write(answer);
    ends.stream.write_eof();
    const Promise<void> closed = ends.stream.close();
    std::string got;
    while (!closed.done()) {
        got += ends.sent();
        loop.run_iterations(1);
    }
    got += ends.sent();
    BOOST_TEST((got == answer));
}

REACTOR_LOOP_TEST(S_16_drain_is_done_at_once_unless_the_transport_is_paused) {
    StreamPair ends(loop);
    BOOST_TEST(outcome(ends.stream.drain()) == "done");
    ends.fill();
    std::vector<Promise<void>> drains;
    for (int i = 0; i < 10; ++i) drains.push_back(ends.stream.drain());
    loop.run_until_idle();
    for (const Promise<void>& drain : drains) BOOST_TEST(outcome(drain) == "pending");
    BOOST_TEST(drains[3].cancel());
    ends.empty();
    for (std::size_t i = 0; i < 10; ++i)
        BOOST_TEST(outcome(drains[i]) == (i == 3 ? "cancelled" : "done"));
    BOOST_TEST(outcome(ends.stream.drain()) == "done");
}

REACTOR_LOOP_TEST(S_16_drains_are_done_in_the_order_of_the_calls) {
    StreamPair ends(loop);
    ends.fill();
    for (const char* const name : {"a", "b", "c", "d"}) {
        Promise<void> drain = ends.stream.drain();
        drain.add_done_callback([this, name](const Promise<void>& done) {
            if (!done.cancelled()) say(name)();
        });
        if (*name == 'a' || *name == 'c') BOOST_TEST(drain.cancel());
        if (*name == 'd') BOOST_TEST(ends.stream.drain().cancel());
    }
    ends.empty();
    BOOST_TEST(heard() == "b d");
}

REACTOR_LOOP_TEST(S_16_the_last_of_several_drains_is_cancelled) {
    StreamPair ends(loop);
    ends.fill();
    const Promise<void> first = ends.stream.drain();
    BOOST_TEST(ends.stream.drain().cancel());
    const Promise<void> last = ends.stream.drain();
    ends.empty();
    BOOST_TEST(outcome(first) == "done");
    BOOST_TEST(outcome(last) == "done");
}

// The transport does not say that it was paused if it no longer is: then it does not say either
// that it goes on.
REACTOR_LOOP_TEST(a_drain_is_done_when_the_limits_are_raised_in_the_same_batch) {
    StreamPair ends(loop);
    while (!ends.stream.transport().write_paused()) ends.stream.write(std::string(100000, 'w'));
    const Promise<void> cancelled = ends.stream.drain();
    BOOST_TEST(cancelled.cancel());
    const Promise<void> drain = ends.stream.drain();
    WriteLimits limits;
    limits.low = limits.high = limits.hard;
    ends.stream.transport().set_write_limits(limits);
    loop.run_until_idle();
    BOOST_TEST(outcome(drain) == "done");
}

REACTOR_LOOP_TEST(a_late_drain_says_so) {
    StreamPair ends(loop);
    ends.fill();
    const Promise<void> late = ends.stream.drain(milliseconds(20));
    const Promise<void> in_time = ends.stream.drain(seconds(20));
    loop.run_for(milliseconds(20));
    BOOST_TEST(outcome(late) == "late");
    BOOST_TEST(outcome(in_time) == "pending");
    ends.empty();
    BOOST_TEST(outcome(in_time) == "done");
    BOOST_TEST(loop.timer_count() == 0u);
}

REACTOR_LOOP_TEST(S_17_the_connection_is_lost_while_a_drain_waits) {
    StreamPair ends(loop);
    ends.fill();
    const Promise<void> drain = ends.stream.drain();
    ends.stream.transport().abort();
    loop.run_until_idle();
    BOOST_TEST(outcome(drain) == "done");
    BOOST_TEST(outcome(ends.stream.drain()) == "reset");
}

REACTOR_LOOP_TEST(S_17_the_connection_is_lost_with_an_error_while_a_drain_waits) {
    StreamPair ends(loop);
    ends.fill();
    const Promise<void> first = ends.stream.drain();
    const Promise<void> second = ends.stream.drain();
    ends.close_theirs();  // with unread bytes: a reset
    loop.run_until_idle();
    BOOST_TEST(outcome(first) == "reset");
    BOOST_TEST((first.error() == second.error()));
    BOOST_TEST((first.error() == ends.stream.drain().error()));
}

// Between two pauses of which the protocol was never told.
REACTOR_LOOP_TEST(a_drain_does_not_miss_a_pause_that_was_never_told) {
    StreamPair ends(loop);
    ends.stream.transport().set_write_limits(WriteLimits(1000000, 950000));
    while (ends.stream.transport().write_buffer_size() == 0) {
        ends.stream.write(std::string(4096, 'a'));
    }
    ends.stream.write(std::string(900000, 'b'));
    Promise<void> drain;
    loop.call_soon([&] {
        ends.stream.write(std::string(100000, 'c'));
        loop.call_soon([&] { ends.stream.write(std::string(250000, 'd')); });
        drain = ends.stream.drain();
    });
    for (int i = 0; i < 1000 && !(drain && drain.done()); ++i) {
        ends.sent();
        loop.run_iterations(1);
    }
    BOOST_TEST(outcome(drain) == "done");
}

BOOST_AUTO_TEST_SUITE_END()
