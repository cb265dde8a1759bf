// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_SOCKET_HPP
#define REACTOR_NET_SOCKET_HPP

#include <net/deadline.hpp>
#include <net/endpoint.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/here.hpp>
#include <reactor/promise.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace reactor {
namespace net {

class Socket;

namespace detail {

class SocketState;

struct SocketAccess {
    static Socket wrap(std::unique_ptr<SocketState> state) noexcept;
};

}  // namespace detail

/// A stream socket (TCP or Unix) whose operations are promises: the bytes as they come, without
/// buffers of its own. The origin's AsyncSocket; asyncio: loop.sock_*.
///
/// Moves, and is owned by whoever holds it; used on its loop's thread, where any callback may
/// destroy it. Empty when default-constructed or moved from; everything but bool, assignment and
/// destruction throws StateError then.
///
///                connect()              done
///     unconnected ───────> connecting ───────> connected ──┐
///          ^                   │ failed, cancelled         │ close(), abort(), release()
///          └───────────────────┴───────────────────────────┘
///
/// One connect or one read may be pending at a time: another one throws StateError. Sends queue up
/// and go out in the order of the calls. Each operation can be cancelled, and takes a deadline
/// after which it fails with TimeoutError. What can be done at once is tried inside the call; the
/// promise's callbacks run from the loop all the same.
///
/// Errors are std::system_error (category std::system_category()) whose text names the step, the
/// address and the system's reason: "connect to 127.0.0.1:9: Connection refused". A descriptor that
/// the loop's selector refuses (ENOSPC; select has its FD_SETSIZE) fails what would have to wait
/// for it, at once; one that the loop lets go of (a selector made anew refuses it; somebody else
/// has closed it) fails what waits with it, and one that was closed is let go of here, too. If its
/// number is that of another file by now, which another part of this loop has, native_handle() is
/// -1 at once and every operation fails with EBADF; in the next iteration what waits fails, and
/// the socket is unconnected. While something waits the number is the socket's: add_reader(),
/// remove_reader() and their kin would take the watch from it, and what waits fails with
/// StateError. A call in the wrong state throws StateError. In debug mode read and send throw
/// std::invalid_argument if somebody has taken O_NONBLOCK from the descriptor: it would block the
/// loop.
///
/// close(), abort(), release() and the destructor cancel what is pending: those promises end with
/// CancelledError. After the loop was closed a Socket can only be closed and destroyed.
class Socket {
public:
    /// The most that one read() gives.
    static constexpr std::size_t read_size = 64 * 1024;

    Socket() noexcept;
    /// Unconnected; takes no descriptor before connect().
    explicit Socket(EventLoop& loop);
    Socket(Socket&&) noexcept;
    Socket& operator=(Socket&&) noexcept;
    ~Socket();

    /// Takes over a connected stream socket's descriptor and makes it non-blocking and
    /// close-on-exec. Throws std::invalid_argument for what is no stream socket; StateError for a
    /// descriptor that a transport or a listening socket of this loop has; std::system_error; the
    /// descriptor stays the caller's then. Whatever else of this loop has had the number, a Socket
    /// or a callback of add_reader(), has lost it.
    static Socket adopt(EventLoop& loop, int descriptor);

    explicit operator bool() const noexcept { return state_ != nullptr; }

    /// Connects. TCP sockets get TCP_NODELAY: whoever sends in small pieces means it. If it fails
    /// or is cancelled the socket is unconnected again, and may try another address. A Unix
    /// listener whose backlog is full is asked again, at growing intervals, until the deadline.
    Promise<void> connect(const Endpoint& to, Deadline deadline = Deadline(), Here here = Here());
    /// The same from a local address: port 0 leaves the choice of the port to the system, the file
    /// of a Unix path is the caller's to remove. Its errors name both: "bind 127.0.0.1:80 to
    /// connect to 127.0.0.2:80: Permission denied".
    Promise<void> connect(const Endpoint& to, const Endpoint& from, Deadline deadline = Deadline(),
                          Here here = Here());

    /// Sends all of `bytes`; done when the system has taken the last one. Of a send that is
    /// cancelled or late, part may be out, and the rest is dropped: unless the protocol can tell,
    /// close. When one fails, those behind it fail with the same error.
    Promise<void> send(std::string bytes, Deadline deadline = Deadline(), Here here = Here());
    /// The same for bytes that others share, without a copy.
    Promise<void> send(std::shared_ptr<const std::string> bytes, Deadline deadline = Deadline(),
                       Here here = Here());

    /// The bytes that have come, at least one and at most min(max, read_size); empty at the end of
    /// the stream. A read that was cancelled, or that is late, has taken nothing. Throws
    /// std::invalid_argument for max 0.
    Promise<std::string> read(std::size_t max = read_size, Deadline deadline = Deadline(),
                              Here here = Here());
    /// All bytes up to the end of the stream. Fails with LimitOverrunError if there are more than
    /// `limit`. What it had read when it was cancelled, late or over the limit comes first in the
    /// next read.
    Promise<std::string> read_all(std::size_t limit, Deadline deadline = Deadline(),
                                  Here here = Here());

    /// Ends the sending half once the pending sends are out: the peer sees the end of the stream,
    /// reading goes on. Queues like a send; sends after it throw StateError.
    Promise<void> shutdown_send(Here here = Here());

    /// Cancels what is pending and closes; what was sent still goes out, unless bytes have come
    /// that nobody has read: TCP then resets the peer (RFC 1122, 4.2.2.13), which may lose it the
    /// answer. Read to the end after shutdown_send(), or use a Transport or Stream, which does.
    /// Done at once, again on an unconnected socket; works on a closed loop too.
    Promise<void> close(Here here = Here());
    /// The same with a reset: the peer gets ECONNRESET, unsent bytes are dropped.
    void abort() noexcept;
    /// Cancels what is pending and gives the descriptor, non-blocking, to the caller. Throws
    /// StateError if not connected, or if read_all() has left bytes behind; std::system_error
    /// (EBADF) if the number is that of another file by now.
    int release();

    bool is_connected() const noexcept;
    /// The descriptor, -1 if there is none, or its number is that of another file by now. Stays the
    /// socket's.
    int native_handle() const noexcept;
    EventLoop& loop() const;

    /// Throw StateError if not connected. The remote one as connect() or accept() knew it.
    Endpoint local_endpoint() const;
    Endpoint remote_endpoint() const;

    /// Socket options, of a connected socket: else StateError; what the system says is thrown.
    void set_no_delay(bool on);  ///< TCP_NODELAY; no effect on a Unix socket
    bool no_delay() const;
    void set_keep_alive(bool on);  ///< SO_KEEPALIVE
    bool keep_alive() const;
    /// SO_SNDBUF and SO_RCVBUF. Linux has twice as much then, half of it for what it keeps beside
    /// the bytes: told is what is for these, which is what was asked for.
    void set_send_buffer_size(int bytes);
    void set_receive_buffer_size(int bytes);
    int send_buffer_size() const;
    int receive_buffer_size() const;

private:
    friend struct detail::SocketAccess;
    explicit Socket(std::unique_ptr<detail::SocketState> state) noexcept;

    detail::SocketState& state(const char* call) const;
    detail::SocketState& connected(const char* call) const;

    std::unique_ptr<detail::SocketState> state_;
};

}  // namespace net
}  // namespace reactor

#endif
