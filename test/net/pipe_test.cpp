// SPDX-License-Identifier: BSL-1.0
#include <net/pipe.hpp>

#include "piped.hpp"

#include <csignal>

using namespace piped;

BOOST_AUTO_TEST_SUITE(pipe_ends)

namespace {

bool sigpipe_is_pending() {
    ::sigset_t pending;
    ::sigpending(&pending);
    return ::sigismember(&pending, SIGPIPE) == 1;
}

}  // namespace

// ---- reading --------------------------------------------------------------------------------

REACTOR_LOOP_TEST(a_read_end_gives_what_comes_and_closes_at_the_end) {
    Pipe pipe;
    Course course;
    course.on_eof = [] { return true; };  // there is no other half to keep
    const Transport transport = reading(loop, pipe.out, course);
    BOOST_TEST(transport.is_reading());
    pipe.put("one ");
    loop.run_until_idle();
    pipe.put("two");
    pipe.in.close();
    loop.run_until_idle();
    BOOST_TEST(course.calls == "made data eof lost");
    BOOST_TEST(course.bytes == "one two");
    BOOST_TEST(!course.error);
    BOOST_TEST(course.destroyed == 1);
    BOOST_TEST(transport.native_handle() == -1);
}

REACTOR_LOOP_TEST(a_read_end_that_pauses_lets_the_pipe_fill) {
    Pipe pipe;
    Course course;
    const Transport transport = reading(loop, pipe.out, course);
    transport.pause_reading();
    pipe.put("kept");
    loop.run_until_idle();
    BOOST_TEST(course.bytes.empty());
    transport.resume_reading();
    loop.run_until_idle();
    BOOST_TEST(course.bytes == "kept");
    transport.close();
    loop.run_until_idle();
    BOOST_TEST(course.calls == "made data lost");
}

REACTOR_LOOP_TEST(a_read_end_cannot_be_written_to) {
    Pipe pipe;
    Course course;
    const Transport transport = reading(loop, pipe.out, course);
    BOOST_TEST(!transport.can_write_eof());
    BOOST_CHECK_THROW(transport.write("x"), StateError);
    BOOST_CHECK_THROW(transport.write_lines({"x", "y"}), StateError);
    BOOST_CHECK_THROW(transport.send_file(0, 0, 1), StateError);
    transport.write_eof();
    loop.run_until_idle();
    BOOST_TEST(course.calls == "made");
    BOOST_TEST(transport.local_endpoint().empty());
    BOOST_TEST(transport.remote_endpoint().empty());
    transport.abort();
    loop.run_until_idle();
    BOOST_TEST(course.calls == "made lost");
    BOOST_TEST(!course.error);
}

// ---- writing --------------------------------------------------------------------------------

REACTOR_LOOP_TEST(a_write_end_writes_in_order_and_closes) {
    Pipe pipe;
    Course course;
    const Transport transport = writing(loop, pipe.in, course);
    BOOST_TEST(!transport.is_reading());
    BOOST_TEST(transport.can_write_eof());
    transport.write("one ");
    transport.write_lines({"two ", "", "three"});
    transport.close();
    loop.run_until_idle();
    bool ended = false;
    BOOST_TEST(pipe.take(100, &ended) == "one two three");
    BOOST_TEST(ended);
    BOOST_TEST(course.calls == "made lost");
    BOOST_TEST(!course.error);
}

REACTOR_LOOP_TEST(a_full_pipe_holds_its_writer_up_and_nothing_is_lost) {
    Pipe pipe;
    Course course;
    const Transport transport = writing(loop, pipe.in, course);
    const std::string bytes = pattern(3 << 20);
    transport.write(bytes);
    BOOST_TEST(transport.write_paused());
    loop.run_until_idle();
    BOOST_TEST(course.calls == "made pause");
    transport.write_eof();
    BOOST_CHECK_THROW(transport.write("more"), StateError);
    std::string all;
    bool ended = false;
    for (int i = 0; i < 10000 && !ended; ++i) {
        all += pipe.take(1 << 20, &ended);
        loop.run_iterations(1);
    }
    BOOST_TEST(ended);
    BOOST_TEST((all == bytes));
    BOOST_TEST(course.lost == 1);
    BOOST_TEST(!course.error);
}

REACTOR_LOOP_TEST(a_writer_hears_at_once_that_nobody_reads_any_more) {
    Pipe pipe;
    Course course;
    const Transport transport = writing(loop, pipe.in, course);
    const int number = transport.native_handle();
    transport.write("unread");
    loop.run_until_idle();
    BOOST_TEST(course.calls == "made");
    pipe.out.close();
    loop.run_until_idle();
    BOOST_TEST(course.calls == "made lost");
    BOOST_TEST(course.code() == EPIPE);
    BOOST_TEST(course.text() ==
               "send to pipe at descriptor " + std::to_string(number) + ": Broken pipe");
    BOOST_TEST(!sigpipe_is_pending());
}

// Its default disposition ends the process: so the test would not live to tell.
REACTOR_LOOP_TEST(a_write_without_a_reader_raises_no_signal) {
    BOOST_REQUIRE(std::signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    for (const bool several : {false, true}) {
        Pipe pipe;
        Course course;
        const Transport transport = writing(loop, pipe.in, course);
        pipe.out.close();
        if (several) {
            transport.write_lines({"some", "thing"});
        } else {
            transport.write("something");
        }
        BOOST_TEST(course.lost == 0);  // never inside the call
        loop.run_until_idle();
        BOOST_TEST(course.code() == EPIPE);
        BOOST_TEST(!sigpipe_is_pending());
    }
}

REACTOR_LOOP_TEST(a_pending_signal_of_somebody_else_stays) {
    ::sigset_t set, before;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &set, &before);
    ::raise(SIGPIPE);
    Pipe pipe;
    Course course;
    const Transport transport = writing(loop, pipe.in, course);
    pipe.out.close();
    transport.write("x");
    loop.run_until_idle();
    BOOST_TEST(course.code() == EPIPE);
    BOOST_TEST(sigpipe_is_pending());
    const ::timespec none = {0, 0};
    ::sigtimedwait(&set, nullptr, &none);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

REACTOR_LOOP_TEST(a_reader_goes_while_much_waits_to_be_written) {
    Pipe pipe;
    Course course;
    const Transport transport = writing(loop, pipe.in, course);
    transport.write(std::string(1 << 20, 'w'));
    transport.close();
    loop.run_until_idle();
    BOOST_TEST(course.lost == 0);
    pipe.out.close();
    loop.run_until_idle();
    BOOST_TEST(course.code() == EPIPE);
    BOOST_TEST(loop.watch_count() == 0u);
}

REACTOR_LOOP_TEST(an_aborted_writer_drops_what_waits_and_nothing_that_is_in_the_pipe) {
    Pipe pipe;
    Course course;
    const Transport transport = writing(loop, pipe.in, course);
    transport.write(std::string(1 << 20, 'w'));
    transport.abort();
    loop.run_until_idle();
    bool ended = false;
    const std::string got = pipe.take(1 << 21, &ended);
    BOOST_TEST(ended);
    BOOST_TEST(got.size() >= 4096u);
    BOOST_TEST(got.size() < (1u << 20));
    BOOST_TEST(!course.error);
}

REACTOR_LOOP_TEST(a_file_goes_into_a_pipe_in_its_place) {
    char name[] = "/tmp/reactor-pipe-XXXXXX";
    const Descriptor file(::mkstemp(name));
    ::unlink(name);
    const std::string bytes = pattern(300000);
    BOOST_REQUIRE(::write(file.number, bytes.data(), bytes.size()) ==
                  static_cast<::ssize_t>(bytes.size()));
    Pipe pipe;
    Course course;
    const Transport transport = writing(loop, pipe.in, course);
    transport.write("<");
    const auto sent = transport.send_file(file.number, 0, bytes.size());
    transport.write(">");
    transport.close();
    std::string all;
    bool ended = false;
    for (int i = 0; i < 10000 && !ended; ++i) {
        all += pipe.take(1 << 20, &ended);
        loop.run_iterations(1);
    }
    BOOST_TEST((all == "<" + bytes + ">"));
    BOOST_TEST(sent.result() == bytes.size());
}

// A FIFO that is open for both is its own reader, and becomes readable by its own bytes.
REACTOR_LOOP_TEST(a_write_end_that_can_be_read_does_not_spin) {
    int ends[2];
    BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    Descriptor mine(ends[0]);
    Descriptor theirs(ends[1]);
    Course course;
    const Transport transport = writing(loop, mine, course);
    put(theirs.number, "nobody asked");
    loop.run_until_idle();
    BOOST_TEST(loop.watch_count() == 0u);
    transport.write("answer");
    BOOST_TEST(take(theirs.number) == "answer");
    theirs.close();
    transport.write("more");
    loop.run_until_idle();
    BOOST_TEST(course.code() == EPIPE);
}

REACTOR_LOOP_TEST(a_closing_loop_closes_both_ends) {
    Pipe to, from;
    Course reader, writer;
    reading(loop, to.out, reader);
    const Transport transport = writing(loop, from.in, writer);
    transport.write(std::string(1 << 20, 'w'));
    loop.close();
    BOOST_TEST(reader.destroyed == 1);
    BOOST_TEST(writer.destroyed == 1);
    BOOST_TEST(reader.lost + writer.lost == 0);
    bool ended = false;
    from.take(1 << 21, &ended);
    BOOST_TEST(ended);
}

REACTOR_LOOP_TEST(a_pipe_that_nothing_goes_through_is_given_up) {
    Pipe pipe;
    Course course;
    const Transport transport = reading(loop, pipe.out, course);
    transport.set_idle_timeout(seconds(3));
    loop.selector().set_patience(milliseconds(0));
    loop.run_for(seconds(4));
    BOOST_TEST(course.lost == 1);
    BOOST_TEST(course.text().find("pipe at descriptor") != std::string::npos, course.text());
}

BOOST_AUTO_TEST_SUITE_END()
