// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_NET_CONNECTED_HPP
#define REACTOR_TEST_NET_CONNECTED_HPP

#include <boost/test/unit_test.hpp>

#include <net/listener.hpp>
#include <net/socket.hpp>
#include <reactor/combinators.hpp>
#include <reactor/handle.hpp>

#include <test/support/loop_test.hpp>
#include <test/support/pattern.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

/// What tests of sockets share: connected pairs, and how a promise ended.
namespace connected {

using reactor::CancelledError;
using reactor::Promise;
using reactor::StateError;
using reactor::TimeoutError;
using reactor::net::Endpoint;
using reactor::net::Listener;
using reactor::net::ListenerOptions;
using reactor::net::Socket;
using reactor::testing::TestLoop;
using std::chrono::milliseconds;
using std::chrono::seconds;
using support::pattern;

const Endpoint any_port("127.0.0.1", 0);

struct Pair {
    Socket client;
    Socket server;
};

/// Loopback connections come about at once, as a rule: but nobody promises it.
inline void be_patient(TestLoop& loop) { loop.selector().set_patience(seconds(10)); }

inline Pair pair(TestLoop& loop, const Endpoint& at = any_port) {
    be_patient(loop);
    Listener listener(loop, at);
    const Promise<Socket> accepted = listener.accept();
    Pair made;
    made.client = Socket(loop);
    loop.run_until_complete(made.client.connect(listener.local_endpoint()));
    made.server = loop.run_until_complete(accepted);
    loop.run_iterations(1);  // in which the client lets go of the watch that told of the connect
    return made;
}

/// Goes on for a second, in which a timer beats and a connection transfers as if nothing else were
/// there.
inline void check_that_nothing_is_held_up(TestLoop& loop, Pair& connection) {
    const std::string bytes = pattern(1 << 20);
    int beats = 0;
    loop.selector().set_patience(reactor::Duration::zero());
    reactor::TimerHandle heart = loop.call_every(milliseconds(10), [&] { ++beats; });
    const Promise<void> sent = connection.client.send(bytes);
    const Promise<std::string> received = connection.server.read_all(bytes.size());
    const Promise<void> ended = connection.client.shutdown_send();
    loop.run_for(seconds(1));
    heart.cancel();
    be_patient(loop);
    BOOST_TEST(beats == 100);
    BOOST_TEST((loop.run_until_complete(received) == bytes));
    loop.run_until_complete(reactor::gather(sent, ended));
}

/// Runs until the promise is done; the text of its std::system_error, "" for a value.
template <class T>
std::string error_of(reactor::EventLoop& loop, Promise<T> promise) {
    try {
        loop.run_until_complete(std::move(promise));
    } catch (const std::system_error& error) {
        return error.what();
    }
    return std::string();
}

/// The code of a promise that is done with a std::system_error, which must be the system's.
template <class T>
int code_of(const Promise<T>& done) {
    BOOST_REQUIRE(done.done());
    try {
        if (const std::exception_ptr error = done.error()) std::rethrow_exception(error);
    } catch (const std::system_error& error) {
        BOOST_TEST((error.code().category() == std::system_category()));
        return error.code().value();
    }
    return 0;
}

/// Reads until `size` bytes have come.
inline std::string read_exactly(reactor::EventLoop& loop, Socket& socket, std::size_t size) {
    std::string bytes;
    while (bytes.size() < size) {
        const std::string more = loop.run_until_complete(socket.read(size - bytes.size()));
        BOOST_REQUIRE(!more.empty());
        bytes += more;
    }
    return bytes;
}

/// An address that refuses connections for as long as this lives: bound, but nobody listens.
struct Refusing {
    explicit Refusing(const std::string& address) {
        Endpoint at(address, 0);
        fd = ::socket(at.family() == Endpoint::Family::ipv4 ? AF_INET : AF_INET6,
                      SOCK_STREAM | SOCK_CLOEXEC, 0);
        const auto* const bytes = static_cast<const ::sockaddr*>(at.data());
        BOOST_REQUIRE(::bind(fd, bytes, static_cast<::socklen_t>(at.size())) == 0);
        ::sockaddr_storage bound;
        ::socklen_t size = sizeof bound;
        ::getsockname(fd, static_cast<::sockaddr*>(static_cast<void*>(&bound)), &size);
        endpoint = Endpoint::from_sockaddr(&bound, size);
    }
    ~Refusing() { ::close(fd); }
    Refusing(const Refusing&) = delete;
    Refusing& operator=(const Refusing&) = delete;

    int fd;
    Endpoint endpoint;
};

/// A listener whose backlog is full, so that one more connect neither succeeds nor fails.
struct Full {
    explicit Full(TestLoop& loop, const Endpoint& at = any_port)
        : listener(loop, at, ListenerOptions().backlog(0)) {
        for (;;) {
            clients.push_back(Socket(loop));
            const Promise<void> connect = clients.back().connect(listener.local_endpoint());
            ::pollfd ready = {clients.back().native_handle(), POLLOUT, 0};
            // A Unix socket that cannot connect counts as ready: for hanging up.
            if (::poll(&ready, 1, 200) != 1 || (ready.revents & POLLHUP)) break;
            loop.run_iterations(2);
            BOOST_REQUIRE(connect.done());
        }
        clients.pop_back();
    }

    Listener listener;
    std::vector<Socket> clients;
};

/// What fill() sends. With the send buffer that it leaves each 4 KB wait for an acknowledgement,
/// which the system delays: not more of them than what nobody reads of it needs.
constexpr std::size_t filling = 1 << 20;

/// Makes the system's buffers so full that a send has to wait.
inline Promise<void> fill(Socket& socket) {
    socket.set_send_buffer_size(4096);
    return socket.send(std::string(filling, 'f'));
}

}  // namespace connected

#endif
