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
    /// SO_REUSEPORT, off by default: several sockets of one user, in one process or many, listen on
    /// the same address, and the system spreads the clients among them.
    ListenerOptions& reuse_port(bool on) noexcept {
        reuse_port_ = on;
        return *this;
    }
    /// IPV6_V6ONLY, on by default: "[::]" does not take IPv4 clients, which get a Listener of their
    /// own.
    ListenerOptions& v6_only(bool on) noexcept {
        v6_only_ = on;
        return *this;
    }

    /// Who may connect to a Unix path, as for chmod: 0 to 0777. By default what the umask leaves.
    ListenerOptions& permissions(int mode) noexcept {
        permissions_ = mode;
        return *this;
    }

    int backlog() const noexcept { return backlog_; }
    bool reuse_address() const noexcept { return reuse_address_; }
    bool reuse_port() const noexcept { return reuse_port_; }
    bool v6_only() const noexcept { return v6_only_; }
    int permissions() const noexcept { return permissions_; }

private:
    int backlog_ = 4096;  // Linux's own default limit (net.core.somaxconn)
    int permissions_ = -1;
    bool reuse_address_ = true;
    bool reuse_port_ = false;
    bool v6_only_ = true;
};

/// A socket that clients connect to, and that gives a Socket for each. Moves, and is owned by
/// whoever holds it; used on its loop's thread, where any callback may destroy it. Empty when
/// default-constructed or moved from. asyncio: loop.sock_accept.
class Listener {
public:
    Listener() noexcept;
    /// Opens, binds and listens. Port 0 lets the system choose: see local_endpoint().
    ///
    /// The file of a Unix path is the listener's: close() removes it, unless another server has put
    /// its own there meanwhile, or somebody else has closed the descriptor; a forked child removes
    /// none. A file whose server is gone, killed say, is replaced; a server that lives, even with a
    /// full backlog, and any other file are EADDRINUSE, and stay as they are. While it replaces
    /// one, it holds a lock on the directory (flock) against others of this library; a lock of
    /// somebody else's it waits for up to 50 ms. The path should be absolute if the program changes
    /// its directory: else the file stays.
    ///
    /// Throws std::system_error: "listen on 127.0.0.1:80: Permission denied";
    /// std::invalid_argument for permissions that are none; StateError for a loop with a network in
    /// memory, where a Server listens.
    Listener(EventLoop& loop, const Endpoint& at, ListenerOptions options = ListenerOptions());
    Listener(Listener&&) noexcept;
    Listener& operator=(Listener&&) noexcept;
    ~Listener();

    /// Takes over a socket that listens already, opened by whoever started this program: see
    /// inherited_sockets(). It becomes non-blocking and close-on-exec; a Unix path stays. Throws
    /// std::invalid_argument for what is no listening stream socket; StateError for a descriptor
    /// that a transport or a listening socket of this loop has, and as the constructor;
    /// std::system_error; the descriptor stays the caller's then. Whatever else of this loop has
    /// had the number, a Socket or a callback of add_reader(), has lost it.
    static Listener adopt(EventLoop& loop, int descriptor);

    explicit operator bool() const noexcept { return state_ != nullptr; }

    /// The next client, connected, with TCP_NODELAY. One accept may be pending at a time: another
    /// throws StateError, as does a closed listener. Cancelled or late (TimeoutError), it has taken
    /// no client. A client that is gone before it is accepted, and errors of its network, are
    /// passed over. Out of descriptors or memory (EMFILE, ENFILE, ENOBUFS, ENOMEM), or refused by
    /// the loop's selector, the promise fails with the error, and the clients stay in the backlog:
    /// try again after a pause, since the next accept fails at once as long as nothing was freed.
    /// So it does (EBADF) if somebody has closed the listener's descriptor, as far as the selector
    /// tells, or its number is that of another file by now, which another part of this loop has:
    /// the listener is closed then, and its number left alone.
    /// In debug mode a descriptor whose O_NONBLOCK somebody has taken is std::invalid_argument.
    Promise<Socket> accept(Deadline deadline = Deadline(), Here here = Here());

    /// Cancels a pending accept and closes. Again: no effect. Works on a closed loop too.
    void close() noexcept;
    bool is_open() const noexcept;
    /// The descriptor, -1 if closed. Stays the listener's: add_reader() and its kin throw
    /// StateError for it until then, also while no accept is pending.
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
