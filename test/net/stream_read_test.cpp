// SPDX-License-Identifier: BSL-1.0
#include <net/stream.hpp>

#include "streamed.hpp"

#include <test/support/allocations.hpp>

#include <stdexcept>

using namespace streamed;

BOOST_AUTO_TEST_SUITE(stream_read)

REACTOR_LOOP_TEST(S_01_read_gives_what_has_come_and_at_most_so_much) {
    StreamPair ends(loop);
    ends.feed("line1line2");
    BOOST_TEST(outcome(ends.stream.read(0)) == "''");
    BOOST_TEST(outcome(ends.stream.read(5)) == "'line1'");
    BOOST_TEST(outcome(ends.stream.read(100)) == "'line2'");
    BOOST_TEST(outcome(ends.stream.read(0)) == "''");

    const Promise<std::string> waiting = ends.stream.read(30);
    loop.run_until_idle();
    BOOST_TEST(outcome(waiting) == "pending");
    ends.feed("eighteen bytes now");
    BOOST_TEST(outcome(waiting) == "'eighteen bytes now'");

    const Promise<std::string> part = ends.stream.read(3);
    ends.feed("abcdef");
    BOOST_TEST(outcome(part) == "'abc'");
    BOOST_TEST(outcome(ends.stream.read()) == "'def'");
}

REACTOR_LOOP_TEST(S_02_read_all_reads_to_the_end_beyond_the_streams_limit) {
    StreamPair ends(loop);
    ends.stream.set_limit(4);
    const Promise<std::string> all = ends.stream.read_all(1000);
    ends.feed("chunk1\n");
    ends.feed("chunk2");
    BOOST_TEST(outcome(all) == "pending");
    ends.feed_end();
    BOOST_TEST(outcome(all) == "'chunk1\nchunk2'");
}

REACTOR_LOOP_TEST(read_all_keeps_the_bytes_if_they_are_too_many) {
    StreamPair ends(loop);
    const Promise<std::string> waiting = ends.stream.read_all(6);
    ends.feed("123456");
    BOOST_TEST(outcome(waiting) == "pending");
    ends.feed("78");
    BOOST_TEST(outcome(waiting) == "overrun 8");
    BOOST_TEST(outcome(ends.stream.read_all(7)) == "overrun 8");
    ends.feed_end();
    BOOST_TEST(outcome(ends.stream.read_all(8)) == "'12345678'");
    BOOST_TEST(outcome(ends.stream.read_all(0)) == "''");
}

REACTOR_LOOP_TEST(S_03_at_the_end_every_read_is_empty_at_once) {
    StreamPair ends(loop);
    ends.send("data");
    ends.feed_end();
    BOOST_TEST(!ends.stream.at_eof());
    BOOST_TEST(outcome(ends.stream.read(5)) == "'data'");
    for (int again = 0; again < 2; ++again) {
        BOOST_TEST(ends.stream.at_eof());
        BOOST_TEST(outcome(ends.stream.read(5)) == "''");
        BOOST_TEST(outcome(ends.stream.read_line()) == "''");
        BOOST_TEST(outcome(ends.stream.read_all(5)) == "''");
    }
}

REACTOR_LOOP_TEST(S_03_the_end_ends_a_read_that_waits) {
    StreamPair ends(loop);
    const Promise<std::string> waiting = ends.stream.read();
    ends.feed_end();
    BOOST_TEST(outcome(waiting) == "''");
    BOOST_TEST(ends.stream.at_eof());
}

REACTOR_LOOP_TEST(S_04_read_line) {
    StreamPair ends(loop);
    const Promise<std::string> line = ends.stream.read_line();
    ends.feed("chunk1 ");
    ends.feed("chunk2 ");
    BOOST_TEST(outcome(line) == "pending");
    ends.feed("\n chunk4");
    BOOST_TEST(outcome(line) == "'chunk1 chunk2 \n'");
    const Promise<std::string> last = ends.stream.read_line();
    BOOST_TEST(outcome(last) == "pending");
    ends.feed_end();
    BOOST_TEST(outcome(last) == "' chunk4'");
    BOOST_TEST(outcome(ends.stream.read_line()) == "''");
}

REACTOR_LOOP_TEST(S_05_a_line_beyond_the_limit_is_taken_away) {
    StreamPair ends(loop);
    ends.stream.set_limit(7);
    ends.feed("1234567\n");
    BOOST_TEST(outcome(ends.stream.read_line()) == "'1234567\n'");
    ends.feed("12345678\nx");
    BOOST_TEST(outcome(ends.stream.read_line()) == "overrun 8");
    BOOST_TEST(outcome(ends.stream.read()) == "'x'");
    ends.feed("12345678");
    BOOST_TEST(outcome(ends.stream.read_line()) == "overrun 8");
    const Promise<std::string> next = ends.stream.read_line();
    ends.feed("9\n");
    BOOST_TEST(outcome(next) == "'9\n'");
}

REACTOR_LOOP_TEST(S_10_read_exactly) {
    StreamPair ends(loop);
    ends.stream.set_limit(4);
    ends.feed("abcdef");
    BOOST_CHECK_THROW(ends.stream.read_exactly(static_cast<std::size_t>(-1)),
                      std::invalid_argument);
    BOOST_TEST(outcome(ends.stream.read_exactly(0)) == "''");
    BOOST_TEST(outcome(ends.stream.read_exactly(4)) == "'abcd'");

    const Promise<std::string> waiting = ends.stream.read_exactly(12);
    ends.feed("ghijk");
    BOOST_TEST(outcome(waiting) == "pending");
    ends.feed("lmnopq");
    BOOST_TEST(outcome(waiting) == "'efghijklmnop'");

    const Promise<std::string> cut = ends.stream.read_exactly(5);
    ends.feed("r");
    BOOST_TEST(outcome(cut) == "pending");
    ends.feed_end();
    BOOST_TEST(outcome(cut) == "incomplete 'qr' of 5");
    BOOST_TEST(ends.stream.at_eof());
    BOOST_TEST(outcome(ends.stream.read_exactly(1)) == "incomplete '' of 1");
}

REACTOR_LOOP_TEST(S_13_reading_pauses_above_twice_the_limit_and_resumes_at_it) {
    StreamPair ends(loop);
    ends.stream.set_limit(4);
    ends.feed("12345678");
    BOOST_TEST(ends.stream.transport().is_reading());
    ends.feed("9");
    BOOST_TEST(!ends.stream.transport().is_reading());
    ends.feed("abc");
    BOOST_TEST(outcome(ends.stream.read(4)) == "'1234'");
    BOOST_TEST(!ends.stream.transport().is_reading());
    BOOST_TEST(outcome(ends.stream.read(1)) == "'5'");
    BOOST_TEST(ends.stream.transport().is_reading());
    loop.run_until_idle();
    BOOST_TEST(outcome(ends.stream.read()) == "'6789abc'");
}

REACTOR_LOOP_TEST(S_13_a_read_that_waits_is_never_paused) {
    StreamPair ends(loop);
    ends.stream.set_limit(4);
    ends.feed("123456789");
    BOOST_TEST(!ends.stream.transport().is_reading());
    const Promise<std::string> read = ends.stream.read_exactly(20);
    BOOST_TEST(ends.stream.transport().is_reading());
    ends.feed("0123456789");
    BOOST_TEST(ends.stream.transport().is_reading());
    BOOST_TEST(read.cancel());
    BOOST_TEST(!ends.stream.transport().is_reading());
    BOOST_TEST(outcome(ends.stream.read_exactly(19)) == "'1234567890123456789'");
    BOOST_TEST(ends.stream.transport().is_reading());
}

REACTOR_LOOP_TEST(a_changed_limit_counts_at_once) {
    StreamPair ends(loop);
    BOOST_TEST(ends.stream.limit() == Stream::default_limit);
    BOOST_CHECK_THROW(ends.stream.set_limit(0), std::invalid_argument);
    const Promise<std::string> line = ends.stream.read_line();
    ends.feed("123456");
    ends.stream.set_limit(5);
    BOOST_TEST(outcome(line) == "overrun 6");

    ends.feed("abcdef");
    BOOST_TEST(ends.stream.transport().is_reading());
    ends.stream.set_limit(2);
    BOOST_TEST(!ends.stream.transport().is_reading());
    ends.stream.set_limit(6);
    BOOST_TEST(ends.stream.transport().is_reading());
}

// What comes while a read waits goes from the transport's buffer straight into its result, and what
// was kept is given away as it is: one allocation for each result, and none for an empty stream.
REACTOR_LOOP_TEST(a_read_allocates_nothing_but_its_result) {
    StreamPair ends(loop);
    const std::string bytes(1000, 'b');
    const std::string more = bytes + "short rest";
    long before = 0;
    for (int i = 0; i < 20; ++i) {
        if (i == 10) before = support::allocation_count();
        {
            const Promise<std::string> waiting = ends.stream.read_exactly(bytes.size());
            ends.feed(more);
            BOOST_REQUIRE(waiting.done());
        }
        BOOST_REQUIRE(ends.stream.read().done());
        ends.feed(bytes);
        BOOST_REQUIRE(ends.stream.read().done());
    }
    // Those of the loop come from its pool, which the sanitizers do without.
    if (reactor::detail::pooling_wanted()) BOOST_TEST(support::allocation_count() - before == 20);
}

BOOST_AUTO_TEST_SUITE_END()
