// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_STREAM_HPP
#define REACTOR_NET_STREAM_HPP

#include <net/byte_view.hpp>
#include <net/deadline.hpp>
#include <net/endpoint.hpp>
#include <net/transport.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/here.hpp>
#include <reactor/promise.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace reactor {
namespace net {

namespace detail {

class StreamReceiver;
class StreamState;

}  // namespace detail

/// A connection whose reads are promises, over a Transport: what has come is kept until somebody
/// asks for it, and reading pauses when too much is kept. asyncio: StreamReader and StreamWriter.
///
/// Moves, and is owned by whoever holds it; used on its loop's thread. Destroyed while open, it
/// closes the connection and logs a warning: close() or abort() say that it was meant. Empty when
/// default-constructed or moved from: everything but bool, assignment and destruction throws
/// StateError then.
///
/// One read may be pending at a time; another one throws StateError. A read that is cancelled, or
/// late (TimeoutError), takes nothing: the next one gets the bytes. Once the connection is lost
/// with an error, reads give what came before it and then fail with it.
///
///     class Echo : public reactor::Task<void> {
///     public:
///         explicit Echo(Stream stream) : stream_(std::move(stream)) {}
///
///     private:
///         Next start() override { return await(stream_.read_line(seconds(60)), &Echo::answer); }
///         Next answer(std::string line) {
///             if (line.empty()) return finish();
///             stream_.write(std::move(line));
///             return await(stream_.drain(), &Echo::start);
///         }
///         Next finally() override { return await(stream_.close(), &Echo::closed); }
///         Next closed() { return end(); }
///
///         Stream stream_;
///     };
class Stream {
public:
    /// How many bytes read_line() and read_until() accept before the separator; reading pauses at
    /// twice as many.
    static constexpr std::size_t default_limit = 64 * 1024;

    Stream() noexcept = default;
    Stream(Stream&& other) noexcept : state_(other.state_) { other.state_ = nullptr; }
    Stream& operator=(Stream&& other) noexcept;
    ~Stream();

    explicit operator bool() const noexcept { return state_ != nullptr; }

    // ---- reading ----

    /// What has come, at least one byte and at most `max`; empty at the end of the stream, and for
    /// max 0.
    Promise<std::string> read(std::size_t max = default_limit, Deadline deadline = Deadline(),
                              Here here = Here());
    /// Everything up to the end of the stream; fails with LimitOverrunError, and keeps the bytes,
    /// if there are more than `limit`. asyncio: read(-1), which has no limit.
    Promise<std::string> read_all(std::size_t limit, Deadline deadline = Deadline(),
                                  Here here = Here());
    /// Exactly `count` bytes, which may be more than the limit. Fails with IncompleteReadError,
    /// which holds what had come and takes it away, if the stream ends before. Throws
    /// std::invalid_argument for a negative count.
    Promise<std::string> read_exactly(std::size_t count, Deadline deadline = Deadline(),
                                      Here here = Here());
    /// Up to the separator and including it; with several, the one whose match ends first. Fails
    /// with IncompleteReadError, as read_exactly(), at the end of the stream, and with
    /// LimitOverrunError, which takes nothing, if the separator begins beyond the limit. Throws
    /// std::invalid_argument for an empty separator and for none.
    Promise<std::string> read_until(ByteView separator, Deadline deadline = Deadline(),
                                    Here here = Here());
    Promise<std::string> read_until(const std::vector<std::string>& separators,
                                    Deadline deadline = Deadline(), Here here = Here());
    /// read_until("\n"), but the end of the stream ends a line as well, and of a line beyond the
    /// limit what has come is taken away with its LimitOverrunError. Empty at the end of the
    /// stream.
    Promise<std::string> read_line(Deadline deadline = Deadline(), Here here = Here());
    /// The stream has ended and everything was read.
    bool at_eof() const;
    /// Throws std::invalid_argument for 0.
    void set_limit(std::size_t limit);
    std::size_t limit() const;

    // ---- writing ----

    /// Transport::write() and its kin.
    void write(ByteView bytes);
    void write(const char* text) { write(ByteView(text)); }
    void write(std::string&& bytes);
    void write_lines(const std::vector<ByteView>& pieces);
    void write_eof();
    /// Done when the transport wants more: at once unless it is paused. Any number may wait. Fails
    /// with what ended the connection, or ECONNRESET if that was lost.
    Promise<void> drain(Deadline deadline = Deadline(), Here here = Here());

    // ---- ending ----

    /// Sends what was written and closes; done when the connection is lost, with its error. Nobody
    /// is told if that goes unread. Pending reads end as at the end of the stream. With bytes that
    /// were not read it is Transport::close_unread().
    Promise<void> close(Here here = Here());
    /// Drops what was not sent; pending reads and drains fail with CancelledError.
    void abort() noexcept;
    bool is_closing() const;

    /// What it is made of: addresses, limits, time limits. Its protocol is the stream's own.
    const Transport& transport() const;
    EventLoop& loop() const;

private:
    friend class detail::StreamReceiver;
    /// Takes over a reference.
    explicit Stream(detail::StreamState* state) noexcept : state_(state) {}

    detail::StreamState& state(const char* call) const;

    detail::StreamState* state_ = nullptr;
};

/// Takes over a connected stream socket: make_transport() for streams. Cancelled, it drops the
/// connection.
Promise<Stream> make_stream(EventLoop& loop, int descriptor, Here here = Here());

}  // namespace net
}  // namespace reactor

#endif
