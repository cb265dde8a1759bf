// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_TRANSPORT_HPP
#define REACTOR_NET_TRANSPORT_HPP

#include <net/byte_view.hpp>
#include <net/endpoint.hpp>
#include <net/protocol.hpp>
#include <reactor/clock.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/here.hpp>
#include <reactor/promise.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace reactor {
namespace net {

namespace detail {

class TransportState;
struct TransportAccess;

}  // namespace detail

/// How many unsent bytes a transport holds before it asks its protocol to pause, to go on, and
/// before it gives the connection, or the datagram, up. A value.
struct WriteLimits {
    std::size_t high = 64 * 1024;
    std::size_t low = 16 * 1024;
    /// A write that finds so many unsent bytes is one too many: the peer is not reading, and nobody
    /// heeds pause_writing(). The connection is lost with std::system_error (ENOBUFS). One write
    /// may be as long as it likes. Of datagrams only that one is dropped: see DatagramTransport.
    std::size_t hard = 64 * 1024 * 1024;

    /// Asyncio's defaults where one mark is given: the high one is four times the low one.
    static WriteLimits of_high(std::size_t bytes) noexcept { return {bytes, bytes / 4}; }
    static WriteLimits of_low(std::size_t bytes) noexcept { return {4 * bytes, bytes}; }

    WriteLimits() noexcept = default;
    WriteLimits(std::size_t high_mark, std::size_t low_mark) noexcept
        : high(high_mark), low(low_mark) {
        // Room for what is written before pause_writing() is heard.
        const std::size_t most = static_cast<std::size_t>(-1);
        if (hard / 2 < high) hard = high > most / 2 ? most : 2 * high;
    }
    WriteLimits(std::size_t high_mark, std::size_t low_mark, std::size_t hard_limit) noexcept
        : high(high_mark), low(low_mark), hard(hard_limit) {}
};

/// A connection (TCP or Unix), or one end of a pipe (net/pipe.hpp), that hands what it receives to
/// a Protocol, and sends what is written to it without ever blocking. asyncio: Transport.
///
/// A counted reference, plain: copies are cheap and stay on the loop's thread. The connection lives
/// by itself, whether or not anybody holds a reference, until it is lost; a lost one keeps the
/// names it had. Empty when default-constructed or moved from: what is noexcept answers false,
/// zero, -1 or null then, and everything else throws StateError. Any callback may close it, drop
/// it, or destroy its holders.
///
///     open ──close(), false from eof_received()──> closing: what was written still goes out ──┐
///       └──abort(), an error, a time limit────────────────────────────────────────────────────┴─>
///                                               connection_lost() in the next iteration ─> lost
///
/// Closing with bytes unread that the peer has sent, or goes on sending, would have the system
/// reset the connection, and with it what the peer has not read yet. So if anything was written,
/// the transport ends its sending half then and leaves the descriptor to the loop, which throws
/// away what comes until the peer ends its half, too: for 5 s of silence, 30 s and 64 MiB at most,
/// and for a quarter of the process's descriptors, 1024 of them at most.
/// connection_lost() does not wait for that.
///
/// If somebody else closes the descriptor, as far as the selector tells, or its number is that of
/// another file by now, which another part of this loop has, the connection is lost with
/// std::system_error (EBADF). Nothing is done to that file: native_handle() is -1 at once,
/// connection_lost() comes later.
///
/// EventLoop::close() closes the descriptor and destroys the protocol, without connection_lost();
/// what is asked of the transport then is answered as of a lost one, and calls have no effect.
class Transport {
public:
    Transport() noexcept = default;
    Transport(const Transport& other) noexcept;
    Transport(Transport&& other) noexcept : state_(other.state_) { other.state_ = nullptr; }
    Transport& operator=(Transport other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    ~Transport();

    explicit operator bool() const noexcept { return state_ != nullptr; }
    friend bool operator==(const Transport& a, const Transport& b) noexcept {
        return a.state_ == b.state_;
    }
    friend bool operator!=(const Transport& a, const Transport& b) noexcept { return !(a == b); }

    // ---- writing ----

    /// Sends what the system takes inside the call, and keeps the rest: a copy, or the string that
    /// was moved in (if nothing is left, its memory may serve what is read next). In order; nothing
    /// is sent twice. Never throws for what the connection does: a peer that is gone is told by
    /// connection_lost(), and what is written to a closing or lost transport is dropped (a warning
    /// is logged from the fifth time on). Throws StateError after write_eof(), and on the read end
    /// of a pipe, as everything that writes.
    void write(ByteView bytes) const;
    void write(std::string&& bytes) const;
    void write(const char* text) const { write(ByteView(text)); }
    /// The same for bytes that go to many connections: what has to wait is not copied for each of
    /// them, but shared (unless it is so short that a share weighs more). Nobody may change them
    /// any more. Throws std::invalid_argument for null. A deleter of the pointer's own must leave
    /// the transport alone.
    void write(const std::shared_ptr<const std::string>& bytes) const;
    /// The same for several pieces, in one system call where the system takes them.
    void write_lines(const std::vector<ByteView>& pieces) const;
    /// Sends `count` bytes of a file from `offset` on, in its place among the writes, without
    /// copying them through the program. The descriptor must stay open until the promise is done;
    /// its value is the count sent, less than `count` if the file ends before. Fails with
    /// std::system_error if the file cannot be read, and with what ended the connection; is
    /// cancelled by abort(), and on a closing transport. Of one that fails or that its caller
    /// cancels, part may be out, and what was written behind it follows: unless the peer can tell,
    /// abort(). Does not count among the unsent bytes. Throws StateError after write_eof().
    /// asyncio: loop.sendfile.
    Promise<std::uint64_t> send_file(int file, std::uint64_t offset, std::uint64_t count,
                                     Here here = Here()) const;
    /// Ends the sending half once everything has gone out; reading goes on. Again, or on a closing
    /// transport: no effect.
    void write_eof() const;
    /// Whether it has a sending half at all: false for the read end of a pipe. Also true once
    /// that has ended.
    bool can_write_eof() const noexcept;

    std::size_t write_buffer_size() const noexcept;
    /// Throws std::invalid_argument, and changes nothing, unless low <= high <= hard.
    void set_write_limits(WriteLimits limits) const;
    /// Of an empty one: the default.
    WriteLimits write_limits() const noexcept;
    /// Whether more than the high mark is waiting: told to the protocol by pause_writing(), which
    /// comes as a callback of its own, and not at all if it has changed by then.
    bool write_paused() const noexcept;

    // ---- reading ----

    /// Repeated calls, and calls on a closing transport, have no effect.
    void pause_reading() const;
    void resume_reading() const;
    /// False while paused, after the end of the stream, and once closing.
    bool is_reading() const noexcept;

    // ---- ending ----

    /// Stops reading at once, sends what was written, and then ends the connection:
    /// connection_lost(null). Again: no effect.
    void close() const noexcept;
    /// close() in the middle of what the peer sends, such as a request that is refused by its head:
    /// what still comes is thrown away for a while (see above) also if nothing is unread just now.
    void close_unread() const noexcept;
    /// Drops what was not sent and ends the connection in the next iteration; also while closing.
    /// A TCP peer sees a reset (ECONNRESET), so that it takes no half message for a whole one; a
    /// Unix socket has no such thing.
    void abort() const noexcept;
    bool is_closing() const noexcept;

    // ---- time limits: beyond them the connection is lost with TimeoutError ----

    /// No byte has come or gone for so long. Default: forever(), as for both others; a Server sets
    /// what its options say. The limit counts from the last byte, or from the call. Throws
    /// std::invalid_argument unless it is positive.
    void set_idle_timeout(Duration length) const;
    /// No byte has come for so long, while reading; counts from resume_reading(), too.
    void set_read_timeout(Duration length) const;
    /// Unsent bytes were waiting for so long, and the peer took none.
    void set_write_timeout(Duration length) const;

    // ---- what it is ----

    /// As they were when the connection was made; also once it is lost. Empty for pipes; the local
    /// one also if somebody else has closed the descriptor before it was asked for. asyncio:
    /// get_extra_info.
    Endpoint local_endpoint() const;
    Endpoint remote_endpoint() const;
    /// -1 once the connection is lost, or the number is that of another file. Stays the
    /// transport's: neither closed nor watched by others (add_reader and its kin throw StateError
    /// for it, also while reading is paused).
    int native_handle() const noexcept;
    /// Null once the connection is lost.
    Protocol* protocol() const noexcept;
    /// The next callbacks go to another one, without a connection_made(). The old one is destroyed
    /// when it no longer runs. Throws std::invalid_argument for null; on a lost transport nothing
    /// happens. asyncio: set_protocol.
    void set_protocol(std::unique_ptr<Protocol> protocol) const;
    EventLoop& loop() const;

private:
    friend struct detail::TransportAccess;
    /// Adds a reference.
    explicit Transport(detail::TransportState* state) noexcept;
    detail::TransportState& state(const char* call) const;

    detail::TransportState* state_ = nullptr;
};

/// Takes over a connected stream socket, makes it non-blocking, close-on-exec and, if it is TCP,
/// TCP_NODELAY, and hands it to a protocol: connection_made() in the next iteration, then reading
/// starts, then the promise is done. Throws std::invalid_argument for what is no stream socket and
/// for a null protocol; StateError for a descriptor that a transport of this loop has;
/// std::system_error; the descriptor stays the caller's then. Whatever else of this loop has had
/// the number, a Socket or a callback of add_reader(), has lost it. asyncio:
/// connect_accepted_socket.
Promise<Transport> make_transport(EventLoop& loop, int descriptor,
                                  std::unique_ptr<Protocol> protocol, Here here = Here());

}  // namespace net
}  // namespace reactor

#endif
