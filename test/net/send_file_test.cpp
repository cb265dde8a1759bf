// SPDX-License-Identifier: BSL-1.0
#include <net/transport.hpp>

#include "transport_fixture.hpp"

#include <csignal>
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <vector>

using namespace transports;

namespace {

int refuse_sendfile = 0;  // fails with this, unless 0

/// A file in memory.
Descriptor file_of(const std::string& bytes) {
    Descriptor file(::memfd_create("send_file", MFD_CLOEXEC));
    BOOST_REQUIRE(::write(file.number, bytes.data(), bytes.size()) ==
                  static_cast<::ssize_t>(bytes.size()));
    return file;
}

int code_of(const Promise<std::uint64_t>& done) {
    BOOST_REQUIRE(done.done());
    try {
        if (const std::exception_ptr error = done.error()) std::rethrow_exception(error);
    } catch (const std::system_error& error) {
        return error.code().value();
    }
    return 0;
}

}  // namespace

// Stands before the C library's.
extern "C" ::ssize_t sendfile(int out, int in, ::off_t* offset, std::size_t count) {
    if (refuse_sendfile != 0) {
        errno = refuse_sendfile;
        return -1;
    }
    using Call = ::ssize_t (*)(int, int, ::off_t*, std::size_t);
    static const Call real = reinterpret_cast<Call>(::dlsym(RTLD_NEXT, "sendfile"));
    return real(out, in, offset, count);
}

BOOST_AUTO_TEST_SUITE(send_file)

REACTOR_LOOP_TEST(a_file_goes_out_in_its_place_among_the_writes) {
    const std::string bytes = pattern(3 << 20);
    const Descriptor file = file_of(bytes);
    for (const int refusal : {0, EINVAL}) {
        refuse_sendfile = refusal;
        Connection c(loop, Connection::tcp);
        Transport& transport = c.open_narrow();
        transport.write("before ");
        const auto first = transport.send_file(file.number, 100, 2000000);
        transport.write(" between ");
        const auto second = transport.send_file(file.number, 0, bytes.size());
        const auto none = transport.send_file(file.number, 0, 0);
        transport.write(" after");
        BOOST_TEST(!first.done());
        // Files are not held in memory.
        BOOST_TEST(transport.write_buffer_size() == 15u);
        transport.close();
        const std::string expected =
            "before " + bytes.substr(100, 2000000) + " between " + bytes + " after";
        BOOST_TEST((c.drain_to_end() == expected));
        c.run_until_lost();
        refuse_sendfile = 0;
        BOOST_TEST(!c.course.error);
        BOOST_TEST(first.result() == 2000000u);
        BOOST_TEST(second.result() == bytes.size());
        BOOST_TEST(none.result() == 0u);
        BOOST_TEST(is_open(file.number));
    }
}

REACTOR_LOOP_TEST(what_fits_is_sent_within_the_call) {
    const Descriptor file = file_of("contents");
    Connection c(loop);
    Transport& transport = c.open();
    const auto sent = transport.send_file(file.number, 1, 5);
    BOOST_TEST(sent.done());
    BOOST_TEST(take(c.theirs.number) == "onten");
    BOOST_TEST(loop.watch_count() == 1u);
    transport.close();
    c.run_until_lost();
}

REACTOR_LOOP_TEST(a_file_that_ends_before_is_no_error) {
    const Descriptor file = file_of("short");
    Connection c(loop);
    Transport& transport = c.open();
    BOOST_TEST(transport.send_file(file.number, 0, 1000).result() == 5u);
    BOOST_TEST(transport.send_file(file.number, 9, 1000).result() == 0u);
    transport.write("!");
    BOOST_TEST(take(c.theirs.number) == "short!");
    transport.close();
    c.run_until_lost();
}

REACTOR_LOOP_TEST(a_file_that_cannot_be_read_leaves_the_connection) {
    Connection c(loop);
    Transport& transport = c.open_narrow();
    BOOST_TEST(code_of(transport.send_file(-1, 0, 10)) == EBADF);
    const Descriptor folder(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    BOOST_TEST(code_of(transport.send_file(folder.number, 0, 10)) == EISDIR);
    c.fill();
    transport.write("a");
    const auto waits = transport.send_file(-1, 0, 10);
    transport.write("b");
    BOOST_TEST(c.drain(c.filled + 2).substr(c.filled) == "ab");
    loop.run_iterations(1);
    BOOST_TEST(code_of(waits) == EBADF);
    BOOST_TEST(!transport.is_closing());
    transport.close();
    c.run_until_lost();
}

REACTOR_LOOP_TEST(it_fails_with_what_ends_the_connection) {
    const Descriptor file = file_of(std::string(1000, 'x'));
    for (const bool dies : {false, true}) {
        Connection c(loop);
        Transport& transport = c.open_narrow();
        c.fill();
        const auto first = transport.send_file(file.number, 0, 1000);
        const auto second = transport.send_file(file.number, 0, 1000);
        if (dies) {
            transport.pause_reading();
            c.theirs.close();
        } else {
            transport.abort();
        }
        c.run_until_lost();
        BOOST_TEST(first.cancelled() == !dies);
        BOOST_TEST(second.cancelled() == !dies);
        if (dies) {
            BOOST_TEST(code_of(first) == EPIPE);
            BOOST_TEST(code_of(second) == EPIPE);
        }
        const auto late = transport.send_file(file.number, 0, 1000);
        BOOST_TEST(late.done());
        BOOST_TEST(late.cancelled() == !dies);
        if (dies) BOOST_TEST(code_of(late) == EPIPE);
    }
}

REACTOR_LOOP_TEST(cancelled_it_makes_room_for_what_is_behind_it) {
    const Descriptor file = file_of(std::string(1000, 'x'));
    Connection c(loop);
    Transport& transport = c.open_narrow();
    c.fill();
    auto first = transport.send_file(file.number, 0, 1000);
    auto second = transport.send_file(file.number, 0, 1000);
    BOOST_TEST(first.cancel());
    transport.write("next");
    BOOST_TEST(second.cancel());
    BOOST_TEST(c.drain(c.filled + 4).substr(c.filled) == "next");
    loop.run_iterations(1);
    auto last = transport.send_file(file.number, 0, 1000);
    BOOST_TEST(last.done());
    c.fill();
    auto only = transport.send_file(file.number, 0, 1000);
    BOOST_TEST(loop.watch_count() == 2u);
    BOOST_TEST(only.cancel());
    BOOST_TEST(loop.watch_count() == 1u);
    transport.close();
    c.run_until_lost();
}

// Law 9: sendfile() has no MSG_NOSIGNAL. A program that does nothing about SIGPIPE lives on, and a
// SIGPIPE of its own stays pending.
REACTOR_LOOP_TEST(no_signal_comes_of_a_peer_that_is_gone) {
    const Descriptor file = file_of("contents");
    for (const bool own : {false, true}) {
        Connection c(loop);
        Transport& transport = c.open();
        transport.pause_reading();
        c.theirs.close();
        ::sigset_t pipe, before, pending;
        ::sigemptyset(&pipe);
        ::sigaddset(&pipe, SIGPIPE);
        if (own) {
            ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
            ::raise(SIGPIPE);
        }
        const auto sent = transport.send_file(file.number, 0, 8);
        BOOST_TEST(code_of(sent) == EPIPE);
        ::sigpending(&pending);
        BOOST_TEST(::sigismember(&pending, SIGPIPE) == (own ? 1 : 0));
        ::sigset_t mask;
        ::pthread_sigmask(SIG_BLOCK, nullptr, &mask);
        BOOST_TEST(::sigismember(&mask, SIGPIPE) == (own ? 1 : 0));
        if (own) {
            const ::timespec at_once = {0, 0};
            ::sigtimedwait(&pipe, nullptr, &at_once);
            ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        }
        c.run_until_lost();
        BOOST_TEST(c.course.code() == EPIPE);
    }
}

// The same in the middle: the first bytes make the peer's system say that nobody reads, and the
// rest of the call raises the signal while it tells of those bytes alone.
REACTOR_LOOP_TEST(no_signal_comes_of_a_peer_that_is_gone_after_the_first_bytes) {
    const std::string bytes = pattern(1 << 20);
    const Descriptor file = file_of(bytes);
    ::sigset_t pipe, before, pending;
    ::sigemptyset(&pipe);
    ::sigaddset(&pipe, SIGPIPE);
    Connection c(loop, Connection::tcp);
    Transport& transport = c.open();
    transport.pause_reading();
    c.theirs.close();
    ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
    const auto sent = transport.send_file(file.number, 0, bytes.size());
    ::sigpending(&pending);
    BOOST_TEST(::sigismember(&pending, SIGPIPE) == 0);
    const ::timespec at_once = {0, 0};
    ::sigtimedwait(&pipe, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    c.run_until_lost();
    BOOST_TEST(code_of(sent) != 0);
}

// What each of them costs must not grow with how many wait: else this would take minutes.
REACTOR_LOOP_TEST(many_files_wait_and_some_are_cancelled) {
    constexpr std::size_t count = 60000;
    const Descriptor file = file_of("0123456789");
    Connection c(loop);
    Transport& transport = c.open_narrow();
    c.fill();
    std::vector<Promise<std::uint64_t>> sent;
    std::string expected;
    for (std::size_t i = 0; i < count; ++i) {
        sent.push_back(transport.send_file(file.number, i % 10, 1));
        if (i % 3 != 0) expected += static_cast<char>('0' + i % 10);
        if (i % 1000 == 0) {
            transport.write("w");
            expected += 'w';
        }
    }
    for (std::size_t i = count; i-- != 0;) {
        if (i % 3 == 0) BOOST_TEST_REQUIRE(sent[i].cancel());
    }
    BOOST_TEST((c.drain(c.filled + expected.size()).substr(c.filled) == expected));
    loop.run_until_idle();
    for (const auto& one : sent) BOOST_TEST_REQUIRE(one.done());
    transport.abort();
    c.run_until_lost();

    // Those that are left when the connection ends.
    Connection d(loop);
    d.open_narrow();
    d.fill();
    sent.clear();
    for (std::size_t i = 0; i < count; ++i) {
        sent.push_back(d.course.transport.send_file(file.number, 0, 1));
        d.course.transport.write("between");
    }
    d.course.transport.abort();
    for (const auto& one : sent) BOOST_TEST_REQUIRE(one.cancelled());
    d.run_until_lost();
}

// A failure that nobody holds is reported as the connection ends, and the handler may do anything.
REACTOR_LOOP_TEST(the_report_of_one_file_cancels_the_next) {
    const Descriptor file = file_of("0123456789");
    Connection c(loop);
    Transport& transport = c.open_narrow();
    c.fill();
    Promise<std::uint64_t> next;
    loop.set_exception_handler([&](reactor::EventLoop&, const reactor::Report&) {
        say("reported")();
        BOOST_TEST(next.cancel());
    });
    transport.send_file(file.number, 0, 10);
    next = transport.send_file(file.number, 0, 10);
    ::shutdown(c.theirs.number, SHUT_RD);
    c.theirs.close();  // with bytes unread: a reset
    c.run_until_lost();
    BOOST_TEST(heard() == "reported");
    BOOST_TEST(next.cancelled());
}

BOOST_AUTO_TEST_SUITE_END()
