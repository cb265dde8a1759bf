// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_NET_REFUSED_STREAMS_HPP
#define REACTOR_TEST_NET_REFUSED_STREAMS_HPP

#include <net/socket.hpp>

#include "connected.hpp"

#include <test/support/refusing_loop.hpp>

#include <string>
#include <system_error>

#include <sys/socket.h>
#include <unistd.h>

/// What tests of sockets share whose descriptors the selector refuses, at once or later.
namespace refused {

using reactor::Promise;
using reactor::net::Socket;

/// A socket, and its peer's descriptor.
struct Streams {
    explicit Streams(reactor::EventLoop& loop) {
        BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
        socket = Socket::adopt(loop, fds[0]);
    }
    ~Streams() { ::close(fds[1]); }

    int fds[2];
    Socket socket;
};

/// The text of the system's error that a promise is done with.
template <class T>
std::string text_of(const Promise<T>& promise, int code) {
    BOOST_TEST(connected::code_of(promise) == code);
    try {
        promise.result();
    } catch (const std::system_error& error) {
        return error.what();
    }
    return std::string();
}

/// The next read waits, and gets what comes.
inline void check_next_read(support::RefusingLoop& r, Streams& streams) {
    const Promise<std::string> next = streams.socket.read();
    BOOST_TEST(!next.done());
    BOOST_TEST(::write(streams.fds[1], "x", 1) == 1);
    r.selector->play({{streams.socket.native_handle(), reactor::Interest::read}});
    BOOST_TEST(r.loop.run_until_complete(next) == "x");
}

}  // namespace refused

#endif
