// SPDX-License-Identifier: BSL-1.0
#include <net/transport.hpp>

#include "transport_fixture.hpp"

#include <net/detail/output_queue.hpp>

#include <reactor/detail/pool.hpp>

#include <sys/syscall.h>
#include <sys/uio.h>

#include <chrono>
#include <cstring>

#include <test/support/allocations.hpp>

using namespace transports;

namespace {

/// What the next calls of send() and sendmsg() do on one descriptor, and how many there were.
struct Sends {
    int descriptor = -1;
    long calls = 0;
    int interrupted = 0;                 // so many fail with EINTR
    int fails = 0;                       // all of them with this, unless 0
    std::size_t most = ~std::size_t(0);  // so much is taken at once
    bool full_next = false;              // after a short one: EAGAIN
} sends;

/// Negative: to fail with errno; else how much may be taken.
::ssize_t intercept(int fd, std::size_t size) {
    if (fd != sends.descriptor) return static_cast<::ssize_t>(size);
    ++sends.calls;
    if (sends.interrupted > 0) {
        --sends.interrupted;
        errno = EINTR;
        return -1;
    }
    if (sends.fails != 0) {
        errno = sends.fails;
        return -1;
    }
    return static_cast<::ssize_t>(std::min(size, sends.most));
}

struct Intercepted {
    explicit Intercepted(int fd) {
        sends = Sends();
        sends.descriptor = fd;
    }
    ~Intercepted() { sends = Sends(); }
};

}  // namespace

// These stand before the C library's.
extern "C" ::ssize_t send(int fd, const void* data, std::size_t size, int flags) {
    const ::ssize_t room = intercept(fd, size);
    if (room < 0) return room;
    return ::syscall(SYS_sendto, fd, data, room, flags, nullptr, 0);
}
extern "C" ::ssize_t sendmsg(int fd, const ::msghdr* message, int flags) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < message->msg_iovlen; ++i) size += message->msg_iov[i].iov_len;
    const ::ssize_t room = intercept(fd, size);
    if (room < 0) return room;
    if (static_cast<std::size_t>(room) < size) {
        std::string all;
        for (std::size_t i = 0; i < message->msg_iovlen; ++i) {
            all.append(static_cast<const char*>(message->msg_iov[i].iov_base),
                       message->msg_iov[i].iov_len);
        }
        return ::syscall(SYS_sendto, fd, all.data(), room, flags, nullptr, 0);
    }
    return ::syscall(SYS_sendmsg, fd, message, flags);
}

BOOST_AUTO_TEST_SUITE(transport_write)

REACTOR_LOOP_TEST(TR_08_what_fits_is_sent_within_the_call) {
    Connection c(loop);
    Transport& transport = c.open();
    const Intercepted on(c.number);
    transport.write("data");
    BOOST_TEST(take(c.theirs.number) == "data");
    BOOST_TEST(transport.write_buffer_size() == 0u);
    BOOST_TEST(loop.watch_count() == 1u);
    BOOST_TEST(sends.calls == 1);
    transport.write(std::string("more"));
    BOOST_TEST(take(c.theirs.number) == "more");
    transport.set_write_timeout(std::chrono::hours(1));
    transport.write("timed");
    BOOST_TEST(take(c.theirs.number) == "timed");
    BOOST_TEST(loop.watch_count() == 1u);
    BOOST_TEST(sends.calls == 3);
    transport.close();
    c.run_until_lost();
}

REACTOR_LOOP_TEST(TR_09_the_rest_waits_and_goes_out_in_order) {
    Connection c(loop);
    Transport& transport = c.open_narrow();
    const Intercepted on(c.number);
    const std::string big = pattern(500000);
    std::string array = big;
    transport.write(ByteView(array));
    std::fill(array.begin(), array.end(), '!');
    BOOST_TEST(transport.write_buffer_size() > 0u);
    BOOST_TEST(loop.watch_count() == 2u);
    const long calls = sends.calls;
    BOOST_TEST(calls == 1);
    transport.write("small");
    transport.write(std::string(10000, 'm'));
    transport.write_lines({"a", "b"});
    BOOST_TEST(sends.calls == calls);
    const std::string expected = big + "small" + std::string(10000, 'm') + "ab";
    BOOST_TEST((c.drain(expected.size()) == expected));
    loop.run_iterations(1);
    BOOST_TEST(transport.write_buffer_size() == 0u);
    BOOST_TEST(loop.watch_count() == 1u);
    transport.close();
    c.run_until_lost();
}

REACTOR_LOOP_TEST(TR_10_nothing_written_is_nothing_unless_the_end_was_written) {
    Connection c(loop);
    Transport& transport = c.open();
    const Intercepted on(c.number);
    transport.write("");
    transport.write(std::string());
    transport.write_lines({});
    BOOST_TEST(sends.calls == 0);
    transport.write_eof();
    BOOST_CHECK_THROW(transport.write(""), StateError);
    BOOST_CHECK_THROW(transport.write(std::string()), StateError);
    BOOST_CHECK_THROW(transport.write_lines({}), StateError);
    BOOST_CHECK_THROW(transport.send_file(0, 0, 0), StateError);
    transport.close();
    c.run_until_lost();
}

REACTOR_LOOP_TEST(TR_14_writes_to_a_closing_transport_are_dropped) {
    std::vector<std::string> warnings;
    loop.set_log([&](reactor::LogLevel level, const std::string& text) {
        BOOST_TEST((level == reactor::LogLevel::warning));
        warnings.push_back(text);
    });
    Connection c(loop);
    Transport& transport = c.open();
    transport.close();
    for (int i = 0; i < 4; ++i) transport.write("dropped");
    BOOST_TEST(warnings.size() == 0u);
    for (int i = 0; i < 2; ++i) transport.write(std::string("dropped"));
    c.run_until_lost();
    for (int i = 0; i < 2; ++i) transport.write_lines({"dropped"});
    BOOST_TEST(warnings.size() == 4u);
    bool ended = false;
    BOOST_TEST(take(c.theirs.number, 100, &ended) == "");
    BOOST_TEST(ended);
}

REACTOR_LOOP_TEST(writes_while_closing_still_flushes_are_dropped) {
    Connection c(loop);
    Transport& transport = c.open_narrow();
    const std::string bytes = pattern(300000);
    transport.write(bytes);
    transport.close();
    transport.write("dropped");
    BOOST_TEST((c.drain_to_end() == bytes));
    c.run_until_lost();
    BOOST_TEST(!c.course.error);
}

REACTOR_LOOP_TEST(TR_15_a_peer_that_is_gone_is_told_once_and_later) {
    Connection c(loop);
    Transport& transport = c.open();
    transport.pause_reading();
    c.theirs.close();
    transport.write("x");
    transport.write("x");
    BOOST_TEST(c.course.calls == "made");
    BOOST_TEST(transport.is_closing());
    loop.run_iterations(1);
    BOOST_TEST(c.course.calls == "made lost");
    BOOST_TEST(c.course.code() == EPIPE);
    loop.run_iterations(3);
    BOOST_TEST(c.course.lost == 1);
}

REACTOR_LOOP_TEST(TR_16_the_end_comes_after_all_bytes_and_reading_goes_on) {
    Connection c(loop);
    Transport& transport = c.open_narrow();
    BOOST_TEST(transport.can_write_eof());
    const std::string bytes = pattern(300000);
    transport.write(bytes);
    transport.write_eof();
    transport.write_eof();
    BOOST_CHECK_THROW(transport.write("z"), StateError);
    BOOST_TEST((c.drain_to_end() == bytes));
    put(c.theirs.number, "back");
    c.run_until([&] { return c.course.bytes == "back"; });
    BOOST_TEST(!transport.is_closing());
    transport.close();
    transport.write_eof();
    c.run_until_lost();
    BOOST_TEST(!c.course.error);
}

REACTOR_LOOP_TEST(write_eof_on_a_closing_transport_does_nothing) {
    Connection c(loop);
    Transport& transport = c.open();
    transport.close();
    transport.write_eof();
    transport.write("dropped");
    c.run_until_lost();
}

REACTOR_LOOP_TEST(TR_24_pieces_are_one_write) {
    Connection c(loop);
    Transport& transport = c.open_narrow();
    {
        const Intercepted on(c.number);
        transport.write_lines({"a", "", "bc", std::string("d")});
        BOOST_TEST(sends.calls == 1);
        BOOST_TEST(take(c.theirs.number) == "abcd");
        transport.write_lines({});
        transport.write_lines({"", ""});
        BOOST_TEST(sends.calls == 1);
    }
    // More pieces than go into one call, and a system that stops in the middle of one.
    std::string all;
    std::vector<std::string> texts;
    for (int i = 0; i < 200; ++i) texts.push_back(std::string(1, char('a' + i % 26)) + "123");
    for (const std::string& text : texts) all += text;
    const std::vector<ByteView> pieces(texts.begin(), texts.end());
    for (const std::size_t most : {~std::size_t(0), std::size_t(254), std::size_t(2)}) {
        const Intercepted on(c.number);
        sends.most = most;
        transport.write_lines(pieces);
        BOOST_TEST(c.drain(all.size()) == all);
    }
    c.fill();
    transport.set_write_limits(WriteLimits(1000, 100));
    transport.write_lines({std::string(400, 'a'), std::string(400, 'b'), std::string(400, 'c')});
    BOOST_TEST(transport.write_buffer_size() == 1200u);
    BOOST_TEST(transport.write_paused());
    loop.run_iterations(1);
    BOOST_TEST(c.course.calls == "made pause");
    const std::string got = c.drain(c.filled + 1200);
    BOOST_TEST(got.substr(c.filled) ==
               std::string(400, 'a') + std::string(400, 'b') + std::string(400, 'c'));
    transport.close();
    c.run_until_lost();
}

REACTOR_LOOP_TEST(an_interrupted_call_is_made_again) {
    Connection c(loop);
    Transport& transport = c.open();
    const Intercepted on(c.number);
    sends.interrupted = 2;
    transport.write("one");
    sends.interrupted = 2;
    transport.write_lines({"two", "three"});
    BOOST_TEST(take(c.theirs.number) == "onetwothree");
    transport.close();
    c.run_until_lost();
}

// Failure at every call: the error is told once, and nothing is left.
REACTOR_LOOP_TEST(a_failure_at_any_call_ends_the_connection_with_it) {
    for (const int code : {ECONNRESET, ENETUNREACH, ENOBUFS}) {
        for (int good = 0; good < 3; ++good) {
            Connection c(loop);
            Transport& transport = c.open_narrow();
            if (good > 0) transport.write(std::string(100000, 'x'));
            if (good > 1) c.drain(20000);
            const Intercepted on(c.number);
            sends.fails = code;
            if (good == 0) transport.write_lines({"a", "b"});
            c.drain(200000 * std::size_t(good > 0));
            c.run_until_lost();
            BOOST_TEST(c.course.code() == code);
            BOOST_TEST(transport.write_buffer_size() == 0u);
        }
    }
}

/// Every protocol's first: sends back what it gets.
class Echo : public Protocol {
    void connection_made(const Transport& transport) override { transport_ = transport; }
    void data_received(ByteView bytes) override { transport_.write(bytes); }
    Transport transport_;
};

// Law 10.
REACTOR_LOOP_TEST(the_steady_state_of_an_echo_allocates_nothing) {
    TcpPair ends;
    const Transport transport = loop.run_until_complete(
        make_transport(loop, ends.mine.release(), std::unique_ptr<Protocol>(new Echo)));
    loop.selector().set_patience(seconds(10));
    const auto round_trip = [&] {
        put(ends.theirs.number, "0123456789");
        loop.run_once();
        BOOST_REQUIRE(take(ends.theirs.number).size() == 10u);
    };
    for (int i = 0; i < 10; ++i) round_trip();
    const long before = support::allocation_count();
    for (int i = 0; i < 100; ++i) round_trip();
    if (reactor::detail::pooling_wanted()) {
        BOOST_TEST(support::allocation_count() == before);
    }
    transport.close();
    loop.run_iterations(2);
}

// A large buffer that holds little would be kept whole, and counted as little.
BOOST_AUTO_TEST_CASE(what_is_moved_in_is_kept_only_if_it_fills_its_buffer) {
    const auto kept = [](std::string bytes) {
        const char* const was = bytes.data();
        reactor::net::detail::OutputQueue queue;
        queue.append(std::move(bytes), 0);
        ::iovec piece;
        BOOST_REQUIRE(queue.gather(&piece, 1) == 1u);
        return piece.iov_base == was;
    };
    std::string hollow;
    hollow.reserve(1 << 20);
    hollow.assign(5000, 'h');
    BOOST_TEST(!kept(std::move(hollow)));
    BOOST_TEST(kept(std::string(5000, 'f')));
}

BOOST_AUTO_TEST_SUITE_END()
