// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_LISTENER_HPP
#define REACTOR_NET_LISTENER_HPP

#include <net/deadline.hpp>
#include <net/endpoint.hpp>
#include <net/socket.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/here.hpp>
#include <reactor/promise.hpp>

#include <memory>

namespace reactor {
namespace net {

namespace detail {

class ListenerState;

}  // namespace detail

/// What a Listener may be told; a value.
class ListenerOptions {
public:
    /// How many clients may wait to be accepted; the system has a limit of its own.
    ListenerOptions& backlog(int clients) noexcept {
        backlog_ = clients;
        return *this;
    }
    /// SO_REUSEADDR, on by default: else a server cannot start again while connections of its
    /// predecessor are in TIME_WAIT. No effect on a Unix socket.
    ListenerOptions& reuse_address(bool on) noexcept {
        reuse_address_ = on;
        return *this;
    }
    /// IPV6_V6ONLY, on by default: "[::]" does not take IPv4 clients, which get a Listener of their
    /// own.
    ListenerOptions& v6_only(bool on) noexcept {
        v6_only_ = on;
        return *this;
    }

    int backlog() const noexcept { return backlog_; }
    bool reuse_address() const noexcept { return reuse_address_; }
    bool v6_only() const noexcept { return v6_only_; }

private:
    int backlog_ = 4096;  // Linux's own default limit (net.core.somaxconn)
    bool reuse_address_ = true;
    bool v6_only_ = true;
};

/// A socket that clients connect to, and that gives a Socket for each. Moves, and is owned by
/// whoever holds it; used on its loop's thread, where any callback may destroy it. Empty when
/// default-constructed or moved from. asyncio: loop.sock_accept.
class Listener {
public:
    Listener() noexcept;
    /// Opens, binds and listens. Port 0 lets the system choose: see local_endpoint(). A Unix path
    /// that exists is an error (EADDRINUSE), also if its server is gone: the file is the caller's
    /// to remove, now and after close(). Throws std::system_error: "listen on 127.0.0.1:80:
    /// Permission denied".
    Listener(EventLoop& loop, const Endpoint& at, ListenerOptions options = ListenerOptions());
    Listener(Listener&&) noexcept;
    Listener& operator=(Listener&&) noexcept;
    ~Listener();

    explicit operator bool() const noexcept { return state_ != nullptr; }

    /// The next client, connected, with TCP_NODELAY. One accept may be pending at a time: another
    /// throws StateError, as does a closed listener. Cancelled or late (TimeoutError), it has taken
    /// no client. A client that is gone before it is accepted, and errors of its network, are
    /// passed over. Out of descriptors or memory (EMFILE, ENFILE, ENOBUFS, ENOMEM), or refused by
    /// the loop's selector, the promise fails with the error, and the clients stay in the backlog:
    /// try again after a pause, since the next accept fails at once as long as nothing was freed.
    Promise<Socket> accept(Deadline deadline = Deadline(), Here here = Here());

    /// Cancels a pending accept and closes. Again: no effect. Works on a closed loop too.
    void close() noexcept;
    bool is_open() const noexcept;
    /// The descriptor, -1 if closed. Stays the listener's.
    int native_handle() const noexcept;
    EventLoop& loop() const;

    /// Where it listens, with the port that the system chose. StateError if empty.
    const Endpoint& local_endpoint() const;

private:
    detail::ListenerState& state(const char* call) const;

    std::unique_ptr<detail::ListenerState> state_;
};

}  // namespace net
}  // namespace reactor

#endif
