// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_NET_STREAMED_HPP
#define REACTOR_TEST_NET_STREAMED_HPP

#include <boost/test/unit_test.hpp>

#include <net/stream.hpp>

#include <test/support/loop_test.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

/// What tests of streams share: a stream with a plain descriptor at its other end, and how a
/// promise ended, as a word.
namespace streamed {

using reactor::CancelledError;
using reactor::Promise;
using reactor::StateError;
using reactor::net::Stream;
using reactor::testing::TestLoop;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// A stream, and its peer; ends with both, so that nothing is left of a test.
struct StreamPair : support::SocketPair {
    explicit StreamPair(TestLoop& l) : loop(l) {
        stream = loop.run_until_complete(reactor::net::make_stream(loop, mine));
        mine = -1;
    }
    ~StreamPair() {
        stream.abort();
        stream = Stream();
        close_theirs();  // what it has not read would keep the connection lingering
        try {
            if (!loop.is_closed()) loop.run_until_idle();
        } catch (const std::exception& error) {
            BOOST_ERROR(error.what());
        }
    }

    /// Sends, and lets it come to the stream.
    void feed(const std::string& bytes) {
        send(bytes);
        loop.run_until_idle();
    }
    void feed_end() {
        BOOST_REQUIRE(::shutdown(theirs, SHUT_WR) == 0);
        loop.run_until_idle();
    }
    /// A Unix socket resets its peer if it is closed with bytes that nobody has read.
    void feed_reset() {
        stream.write("unread");
        close_theirs();
        loop.run_until_idle();
    }
    /// Everything that has come to the peer.
    std::string sent() {
        std::string all;
        char bytes[4096];
        ::ssize_t got;
        while ((got = ::recv(theirs, bytes, sizeof bytes, MSG_DONTWAIT)) > 0) {
            all.append(bytes, static_cast<std::size_t>(got));
        }
        return all;
    }
    /// Writes until the transport wants no more.
    void fill() {
        const std::string some(100000, 'f');
        while (!stream.transport().write_paused()) stream.write(some);
        loop.run_until_idle();
    }
    /// The peer reads until everything that was written is out.
    void empty() {
        const reactor::net::Transport transport = stream.transport();
        while (transport.write_buffer_size() != 0) {
            sent();
            loop.run_until_idle();
        }
    }

    TestLoop& loop;
    Stream stream;
};

inline std::string shown(const std::string& value) { return "'" + value + "'"; }

/// What kind of error it is.
inline std::string kind(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const CancelledError&) {
        return "cancelled";
    } catch (const reactor::IncompleteReadError& e) {
        return "incomplete " + shown(e.partial) + " of " + std::to_string(e.expected);
    } catch (const reactor::LimitOverrunError& e) {
        return "overrun " + std::to_string(e.consumed);
    } catch (const reactor::TimeoutError&) {
        return "late";
    } catch (const std::system_error& e) {
        return e.code() == std::errc::connection_reset ? "reset" : e.what();
    } catch (const std::exception& e) {
        return e.what();
    }
}

/// How it ended: 'the value', done, or the error.
inline std::string outcome(const Promise<std::string>& read) {
    if (!read.done()) return "pending";
    const std::exception_ptr error = read.error();
    return error ? kind(error) : shown(read.result());
}
inline std::string outcome(const Promise<void>& promise) {
    if (!promise.done()) return "pending";
    const std::exception_ptr error = promise.error();
    return error ? kind(error) : "done";
}

/// Numbers that do not differ from one library to the next.
class Random {
public:
    explicit Random(std::uint32_t seed) : state_(seed) {}
    std::size_t below(std::size_t bound) {
        state_ = state_ * 1664525u + 1013904223u;
        return (state_ >> 8) % bound;
    }

private:
    std::uint32_t state_;
};

}  // namespace streamed

#endif
