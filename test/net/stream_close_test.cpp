// SPDX-License-Identifier: BSL-1.0
#include <net/stream.hpp>

#include "streamed.hpp"

#include <memory>
#include <vector>

using namespace streamed;

namespace {

/// What a loop logs.
struct Logged {
    explicit Logged(reactor::EventLoop& loop) {
        loop.set_log([this](reactor::LogLevel level, const std::string& text) {
            BOOST_TEST((level == reactor::LogLevel::warning));
            texts.push_back(text);
        });
    }
    std::vector<std::string> texts;
};

const char* const dropped = "a Stream is destroyed that was not closed";

}  // namespace

BOOST_AUTO_TEST_SUITE(stream_close)

REACTOR_LOOP_TEST(S_14_a_lost_connection_ends_the_stream) {
    StreamPair ends(loop);
    ends.feed("last");
    ends.stream.transport().abort();
    loop.run_until_idle();
    BOOST_TEST(!ends.stream.at_eof());
    BOOST_TEST(outcome(ends.stream.read()) == "'last'");
    BOOST_TEST(ends.stream.at_eof());
    BOOST_TEST(outcome(ends.stream.read()) == "''");
}

REACTOR_LOOP_TEST(S_14_reads_give_what_came_before_the_error_and_then_the_error) {
    StreamPair ends(loop);
    ends.feed("line\nrest");
    ends.feed_reset();
    BOOST_TEST(outcome(ends.stream.read_line()) == "'line\n'");
    BOOST_TEST(outcome(ends.stream.read_line()) == "reset");
    BOOST_TEST(outcome(ends.stream.read_all(100)) == "reset");
    BOOST_TEST(outcome(ends.stream.read()) == "'rest'");
    BOOST_TEST(outcome(ends.stream.read()) == "reset");
    BOOST_TEST(!ends.stream.at_eof());
}

REACTOR_LOOP_TEST(S_14_an_error_ends_a_read_that_waits_and_takes_nothing) {
    StreamPair ends(loop);
    const Promise<std::string> read = ends.stream.read_exactly(10);
    ends.feed("part");
    ends.feed_reset();
    BOOST_TEST(outcome(read) == "reset");
    BOOST_TEST(outcome(ends.stream.read()) == "'part'");
}

REACTOR_LOOP_TEST(S_14_the_end_leaves_the_sending_half_open) {
    StreamPair ends(loop);
    ends.feed_end();
    BOOST_TEST(ends.stream.at_eof());
    BOOST_TEST(!ends.stream.is_closing());
    ends.stream.write("answer");
    BOOST_TEST(ends.sent() == "answer");
}

REACTOR_LOOP_TEST(S_18_close) {
    StreamPair ends(loop);
    ends.feed("kept");
    BOOST_TEST(!ends.stream.is_closing());
    const Promise<void> closed = ends.stream.close();
    BOOST_TEST(ends.stream.is_closing());
    BOOST_TEST(outcome(closed) == "pending");
    const Promise<void> again = ends.stream.close();
    BOOST_TEST(ends.stream.close().cancel());
    loop.run_until_idle();
    BOOST_TEST(outcome(closed) == "done");
    BOOST_TEST(outcome(again) == "done");
    BOOST_TEST(outcome(ends.stream.close()) == "done");
    BOOST_TEST(outcome(ends.stream.read()) == "'kept'");
    BOOST_TEST(ends.stream.at_eof());
    BOOST_TEST(outcome(ends.stream.drain()) == "reset");
}

REACTOR_LOOP_TEST(S_18_close_sends_what_was_written) {
    StreamPair ends(loop);
    ends.fill();
    ends.stream.write("last");
    const Promise<void> drain = ends.stream.drain();
    const Promise<void> closed = ends.stream.close();
    loop.run_until_idle();
    BOOST_TEST(outcome(closed) == "pending");
    std::string all;
    while (!closed.done()) {
        all += ends.sent();
        loop.run_iterations(1);
    }
    all += ends.sent();
    BOOST_TEST(all.substr(all.size() - 5) == "flast");
    BOOST_TEST(outcome(drain) == "done");
    BOOST_TEST(outcome(closed) == "done");
}

REACTOR_LOOP_TEST(S_18_a_read_that_waits_ends_with_the_stream) {
    const std::vector<std::pair<std::string, Promise<std::string> (*)(Stream&)>> reads = {
        {"''", [](Stream& s) { return s.read_exactly(0); }},
        {"incomplete 'part' of 10", [](Stream& s) { return s.read_exactly(10); }},
        {"incomplete 'part' of 0", [](Stream& s) { return s.read_until("x"); }},
        {"'part'", [](Stream& s) { return s.read_line(); }},
        {"'part'", [](Stream& s) { return s.read_all(10); }},
    };
    for (const auto& each : reads) {
        StreamPair ends(loop);
        ends.feed("part");
        const Promise<std::string> read = each.second(ends.stream);
        ends.stream.close();
        BOOST_TEST(outcome(read) == each.first);
    }
}

// Fault E4: closed for good while the peer is sending, the peer would see a reset and no answer.
REACTOR_LOOP_TEST(a_peer_that_goes_on_sending_gets_the_whole_answer) {
    StreamPair ends(loop);
    ends.feed("head\nthe beginning of a body");
    BOOST_TEST(outcome(ends.stream.read_line()) == "'head\n'");
    ends.stream.write("refused");
    const Promise<void> closed = ends.stream.close();
    loop.run_until_idle();
    BOOST_TEST(outcome(closed) == "done");
    ends.feed("its middle");
    ends.feed("its end");
    BOOST_TEST(ends.sent() == "refused");
    ends.close_theirs();
    loop.run_until_idle();
}

// Second variant of the row: the fixture sees that nothing is reported.
REACTOR_LOOP_TEST(S_18_an_error_that_nobody_waits_for_is_not_reported) {
    StreamPair ends(loop);
    ends.fill();
    ends.stream.close();
    ends.close_theirs();
    loop.run_until_idle();
    const Promise<void> closed = ends.stream.close();
    BOOST_TEST((closed.error() != nullptr));
    BOOST_TEST((ends.stream.close().error() == closed.error()));
    ends.stream.close();
}

REACTOR_LOOP_TEST(abort_drops_what_was_not_sent_and_cancels_what_waits) {
    StreamPair ends(loop);
    ends.fill();
    const Promise<std::string> read = ends.stream.read();
    const Promise<void> drain = ends.stream.drain();
    const Promise<void> closed = ends.stream.close();
    BOOST_TEST(outcome(read) == "''");
    ends.stream.abort();
    ends.stream.abort();
    BOOST_TEST(outcome(drain) == "cancelled");
    BOOST_TEST(ends.stream.transport().write_buffer_size() == 0u);
    loop.run_until_idle();
    BOOST_TEST(outcome(closed) == "done");
    BOOST_TEST(outcome(ends.stream.read()) == "''");

    StreamPair others(loop);
    const Promise<std::string> waiting = others.stream.read();
    others.stream.abort();
    BOOST_TEST(outcome(waiting) == "cancelled");
    BOOST_TEST(others.stream.is_closing());
}

REACTOR_LOOP_TEST(S_19_a_stream_that_is_dropped_closes_and_warns) {
    Logged logged(loop);
    StreamPair ends(loop);
    ends.stream.write("last words");
    const Promise<std::string> read = ends.stream.read();
    ends.stream = Stream();
    BOOST_REQUIRE(logged.texts.size() == 1u);
    BOOST_TEST(logged.texts[0].compare(0, std::string(dropped).size(), dropped) == 0);
    BOOST_TEST(outcome(read) == "cancelled");
    loop.run_until_idle();
    BOOST_TEST(loop.watch_count() == 0u);
    BOOST_TEST(ends.sent() == "last words");
    char byte;
    BOOST_TEST(::recv(ends.theirs, &byte, 1, 0) == 0);
    BOOST_TEST(logged.texts.size() == 1u);
}

REACTOR_LOOP_TEST(S_19_no_warning_after_an_end_that_was_meant) {
    Logged logged(loop);
    StreamPair closed(loop), aborted(loop), lost(loop), by_transport(loop);
    closed.stream.close();
    closed.stream = Stream();
    aborted.stream.abort();
    aborted.stream = Stream();
    lost.feed_reset();
    lost.stream = Stream();
    by_transport.stream.transport().close();
    by_transport.stream = Stream();
    loop.run_until_idle();
    BOOST_TEST(logged.texts.empty());
}

REACTOR_LOOP_TEST(a_close_is_told_though_the_stream_is_gone) {
    StreamPair ends(loop);
    const Promise<void> closed = ends.stream.close();
    ends.stream = Stream();
    loop.run_until_idle();
    BOOST_TEST(outcome(closed) == "done");
}

REACTOR_LOOP_TEST(moves) {
    StreamPair ends(loop), others(loop);
    const Promise<std::string> read = ends.stream.read();
    Stream moved(std::move(ends.stream));
    BOOST_TEST(!ends.stream);
    BOOST_TEST(static_cast<bool>(moved));
    BOOST_CHECK_THROW(ends.stream.read(), StateError);
    BOOST_CHECK_THROW(ends.stream.write("x"), StateError);
    BOOST_CHECK_THROW(ends.stream.close(), StateError);
    BOOST_CHECK_THROW(ends.stream.transport(), StateError);
    ends.stream.abort();
    ends.feed("data");
    BOOST_TEST(outcome(read) == "'data'");

    others.stream.close();
    others.stream = std::move(moved);
    BOOST_TEST(!moved);
    BOOST_TEST((&others.stream.loop() == &loop));
    Stream& same = others.stream;
    others.stream = std::move(same);
    BOOST_TEST(static_cast<bool>(others.stream));
    others.stream.write("moved");
    BOOST_TEST(ends.sent() == "moved");
    others.stream.abort();
}

BOOST_AUTO_TEST_SUITE_END()
