// SPDX-License-Identifier: BSL-1.0
#include <net/pipe.hpp>

#include "piped.hpp"
#include "streamed.hpp"

using piped::Pipe;
using reactor::net::open_read_pipe;
using reactor::net::open_write_pipe;
using namespace streamed;

BOOST_AUTO_TEST_SUITE(pipe_streams)

namespace {

Stream reader_of(TestLoop& loop, Pipe& pipe) {
    Stream stream = loop.run_until_complete(open_read_pipe(loop, pipe.out.number));
    pipe.out.release();
    return stream;
}
Stream writer_of(TestLoop& loop, Pipe& pipe) {
    Stream stream = loop.run_until_complete(open_write_pipe(loop, pipe.in.number));
    pipe.in.release();
    return stream;
}

}  // namespace

REACTOR_LOOP_TEST(lines_go_through_a_pipe) {
    Pipe pipe;
    Stream in = writer_of(loop, pipe);
    Stream out = reader_of(loop, pipe);
    in.write("first\nsecond\nrest");
    BOOST_TEST(loop.run_until_complete(out.read_line()) == "first\n");
    BOOST_TEST(loop.run_until_complete(out.read_line()) == "second\n");
    const Promise<void> closed = in.close();
    BOOST_TEST(loop.run_until_complete(out.read_line()) == "rest");
    BOOST_TEST(loop.run_until_complete(out.read()) == "");
    BOOST_TEST(out.at_eof());
    loop.run_until_idle();
    BOOST_TEST(outcome(closed) == "done");
    BOOST_TEST(outcome(out.close()) == "done");
}

REACTOR_LOOP_TEST(what_came_before_the_end_is_read_after_it) {
    Pipe pipe;
    Stream out = reader_of(loop, pipe);
    pipe.put("kept");
    pipe.in.close();
    loop.run_until_idle();
    BOOST_TEST(!out.at_eof());
    BOOST_TEST(outcome(out.read()) == "'kept'");
    BOOST_TEST(outcome(out.read()) == "''");
    BOOST_TEST(out.is_closing());  // by itself: it need not be closed, and no descriptor is held
}

REACTOR_LOOP_TEST(nothing_can_be_read_from_a_write_end) {
    Pipe pipe;
    Stream in = writer_of(loop, pipe);
    BOOST_TEST(outcome(in.read()) == "''");
    BOOST_TEST(outcome(in.read_all(10)) == "''");
    in.write("x");
    in.write_eof();
    loop.run_until_idle();
    BOOST_CHECK_THROW(in.write("y"), StateError);
    BOOST_TEST(outcome(in.close()) == "done");
}

REACTOR_LOOP_TEST(a_reader_that_does_not_keep_up_stops_the_writer) {
    Pipe pipe;
    Stream in = writer_of(loop, pipe);
    Stream out = reader_of(loop, pipe);
    std::size_t written = 0;
    const std::string some(10000, 's');
    for (int i = 0; i < 1000 && !in.transport().write_paused(); ++i) {
        in.write(some);
        written += some.size();
        loop.run_until_idle();
    }
    // Twice the limit of the reader, a read of the loop's, the pipe, the writer's high mark.
    BOOST_TEST(in.transport().write_paused());
    BOOST_TEST(written < 600000u);
    const Promise<void> drain = in.drain();
    BOOST_TEST(outcome(drain) == "pending");
    const Promise<std::string> all = out.read_exactly(written);
    loop.run_until_idle();
    BOOST_TEST(all.result().size() == written);
    BOOST_TEST(outcome(drain) == "done");
    in.abort();
    out.abort();
    loop.run_until_idle();
}

REACTOR_LOOP_TEST(a_drain_fails_when_the_reader_goes) {
    Pipe pipe;
    Stream in = writer_of(loop, pipe);
    in.write(std::string(1 << 20, 'w'));
    const Promise<void> drain = in.drain();
    loop.run_until_idle();
    pipe.out.close();
    loop.run_until_idle();
    BOOST_TEST(outcome(drain).find("send to pipe at descriptor") == 0u);
    BOOST_TEST(outcome(drain).find("Broken pipe") != std::string::npos);
    BOOST_TEST(outcome(in.close()) == outcome(drain));
}

REACTOR_LOOP_TEST(a_late_read_names_the_pipe) {
    Pipe pipe;
    Stream out = reader_of(loop, pipe);
    const Promise<std::string> read = out.read(10, seconds(1));
    loop.run_for(seconds(1));
    BOOST_REQUIRE(read.done());
    try {
        read.result();
        BOOST_ERROR("it has a value");
    } catch (const reactor::TimeoutError& error) {
        const std::string text = error.what();
        BOOST_TEST(text.find("read from pipe at descriptor") == 0u, text);
    }
    out.abort();
    loop.run_until_idle();
}

REACTOR_LOOP_TEST(an_opening_that_is_cancelled_closes_the_descriptor) {
    Pipe pipe;
    const Promise<Stream> opening = open_read_pipe(loop, pipe.out.number);
    const int number = pipe.out.release();
    BOOST_TEST(opening.cancel());
    loop.run_until_idle();
    BOOST_TEST(!transports::is_open(number));
}

BOOST_AUTO_TEST_SUITE_END()
