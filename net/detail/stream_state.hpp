// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_STREAM_STATE_HPP
#define REACTOR_NET_DETAIL_STREAM_STATE_HPP

#include <net/byte_view.hpp>
#include <net/deadline.hpp>
#include <net/detail/stream_buffer.hpp>
#include <net/detail/stream_operation.hpp>
#include <net/detail/stream_request.hpp>
#include <net/stream.hpp>
#include <net/transport.hpp>
#include <reactor/detail/promise_state.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <cstddef>
#include <exception>
#include <string>

namespace reactor {
namespace net {
namespace detail {

/// What a Stream and the protocol of its connection share: counted by these two, plainly, and freed
/// by the last. The connection's life is in stream_state.cpp, reading in stream_reading.cpp.
///
///     open ──close(), abort(), ~Stream()──> meant ──┐
///       └───────────lost(), detached()──────────────┴─> lost
///
/// Nothing here calls the user's code, with two exceptions: a failure that nobody holds is reported
/// when its promise goes, and a warning is logged. Both may do anything to the Stream, so what they
/// could meet is whole by then, and the caller's reference keeps this object.
class StreamState {
public:
    /// With one reference, the caller's.
    explicit StreamState(EventLoop& loop);
    StreamState(const StreamState&) = delete;
    StreamState& operator=(const StreamState&) = delete;
    void keep() noexcept { ++references_; }
    void drop() noexcept {
        if (--references_ == 0) delete this;
    }

    // ---- of the Stream ----

    Promise<std::string> read(StreamRequest&& request, const Deadline& deadline, const Here& here);
    Promise<void> drain(const Deadline& deadline, const Here& here);
    Promise<void> close(const Here& here);
    void abort() noexcept;
    /// The Stream goes, and its reference.
    void release() noexcept;
    bool at_eof() const noexcept { return eof_ && buffer_.empty(); }
    std::size_t limit() const noexcept { return limit_; }
    void set_limit(std::size_t limit);

    // ---- of the protocol ----

    void made(const Transport& connection);
    void may_be_dropped() noexcept { may_be_dropped_ = true; }
    void received(ByteView bytes);
    void ended();
    void lost(std::exception_ptr error);
    void write_flow(bool paused);
    /// The protocol goes, after lost() or without; its reference is dropped by itself.
    void detached() noexcept;

    // A pending operation was cancelled.
    void forget(StreamRead& read) noexcept;
    void forget(StreamWait& wait) noexcept;

    reactor::detail::LoopCore& core;
    Transport transport;  // empty before made()

private:
    ~StreamState();

    bool reading_failed() const noexcept { return error_ && !eof_; }
    void finish(StreamRead& read, const StreamRequest::Answer& answer);
    void settle_reading();
    void read_late();
    void adjust_flow() {
        if (paused_ || buffer_.size() > limit_) pause_or_resume();
    }
    void pause_or_resume();
    reactor::detail::StateOwner<StreamRead> take_read() noexcept;

    void settle_drains();
    void wait_late(StreamWait* wait);
    void finish(StreamWait& wait) const noexcept;
    static reactor::detail::StateOwner<StreamWait> take(StreamWait& wait) noexcept;
    void close_transport() const noexcept;
    void cancel_pending(const char* why) noexcept;
    std::exception_ptr late(const std::string& call) const;

    std::size_t references_ = 1;
    std::size_t limit_ = Stream::default_limit;
    StreamBuffer buffer_;
    StreamRead* reading_ = nullptr;  // owns a reference
    PendingOperations<StreamWait> drains_;
    PendingOperations<StreamWait> closes_;
    Handle drain_check_;
    std::exception_ptr error_;  // what the connection was lost with
    bool eof_ = false;          // nothing will follow what is kept
    bool paused_ = false;       // reading is, by us
    bool told_paused_ = false;  // writing is: resume_writing() will come
    bool meant_ = false;        // closed, aborted, or lost: no Stream has to close it
    bool may_be_dropped_ = false;
    bool lost_ = false;  // the protocol has heard its last
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
