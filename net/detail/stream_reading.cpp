// SPDX-License-Identifier: BSL-1.0
#include <net/detail/stream_state.hpp>
#include <net/detail/transport_state.hpp>

#include <stdexcept>
#include <utility>

namespace reactor {
namespace net {
namespace detail {

using reactor::detail::PromiseAccess;
using reactor::detail::PromiseStatus;
using reactor::detail::StateOwner;
using Outcome = StreamRequest::Answer::Outcome;

void StreamRead::abandon() noexcept { owner->forget(*this); }

Promise<std::string> StreamState::read(StreamRequest&& request, const Deadline& deadline,
                                       const Here& here) {
    core.check(request.call);
    if (reading_) {
        throw StateError(std::string(request.call) + ": another read of this stream is pending");
    }
    StreamRead* const read =
        reactor::detail::make_state<StreamRead>(core, here, this, std::move(request));
    Promise<std::string> promise = PromiseAccess::adopt<Promise<std::string>>(read);
    const StreamRequest::Answer answer = read->request.judge(buffer_.view(), eof_, limit_);
    if (answer.outcome != Outcome::wait || reading_failed()) {
        finish(*read, answer);
    } else {
        const TimePoint when = deadline.at(*core.loop);
        if (when != never()) read->limit = core.loop->call_at(when, &StreamState::read_late, this);
        read->keep();
        reading_ = read;
    }
    adjust_flow();
    return promise;
}

void StreamState::finish(StreamRead& read, const StreamRequest::Answer& answer) {
    const StreamRequest& request = read.request;
    switch (answer.outcome) {
        case Outcome::take:
            read.set(buffer_.take(answer.size));
            break;
        case Outcome::incomplete:
            read.fail(std::make_exception_ptr(
                IncompleteReadError(buffer_.take(buffer_.size()), request.count)));
            break;
        case Outcome::overrun:
            read.fail(std::make_exception_ptr(LimitOverrunError(
                std::string(request.call) + " from " + TransportAccess::peer(transport) +
                    (request.kind == StreamRequest::Kind::all
                         ? ": more than " + std::to_string(request.count) + " bytes"
                         : ": no separator within " + std::to_string(limit_) + " bytes"),
                answer.size)));
            buffer_.drop(answer.drop);
            break;
        case Outcome::wait:
            read.fail(error_);
            break;
    }
}

void StreamState::received(ByteView bytes) {
    if (reading_ && buffer_.empty()) {
        // From the transport's buffer into the result, without a stop in ours.
        const StreamRequest::Answer answer = reading_->request.judge(bytes, false, limit_);
        if (answer.outcome == Outcome::take) {
            reading_->emplace(
                TransportAccess::state(transport)->string_of(bytes.from(0, answer.size)));
            take_read().release()->settle_and_drop(PromiseStatus::value);
            bytes = bytes.from(answer.size);
        }
    }
    if (!bytes.empty()) buffer_.keep(bytes);
    settle_reading();
}

/// Looks whether the pending read can end now.
void StreamState::settle_reading() {
    if (reading_) {
        const StreamRequest::Answer answer = reading_->request.judge(buffer_.view(), eof_, limit_);
        if (answer.outcome != Outcome::wait || reading_failed()) {
            const StateOwner<StreamRead> read = take_read();
            finish(*read, answer);
            adjust_flow();
            return;  // an error that nobody reads is reported now, and that may destroy this stream
        }
    }
    adjust_flow();
}

/// Reads that wait want the bytes, however many are kept.
void StreamState::pause_or_resume() {
    if (eof_ || lost_ || !transport) return;
    const std::size_t kept = buffer_.size();
    if (paused_) {
        if (!reading_ && kept > limit_) return;
        paused_ = false;
        transport.resume_reading();
    } else if (!reading_ && kept > limit_ && kept - limit_ > limit_) {
        paused_ = true;
        transport.pause_reading();
    }
}

void StreamState::set_limit(std::size_t limit) {
    core.check("set_limit");
    if (limit == 0) throw std::invalid_argument("set_limit: no line would fit into 0 bytes");
    limit_ = limit;
    settle_reading();
}

void StreamState::read_late() {
    const StateOwner<StreamRead> read = take_read();
    read->fail(late(std::string(read->request.call) + " from"));
    adjust_flow();
}

StateOwner<StreamRead> StreamState::take_read() noexcept {
    StateOwner<StreamRead> read(reading_);
    reading_ = nullptr;
    read->limit.cancel();
    return read;
}

void StreamState::forget(StreamRead&) noexcept {
    const StateOwner<StreamRead> read = take_read();
    if (core.closed.load(std::memory_order_relaxed)) return;
    try {
        adjust_flow();
    } catch (...) {  // it can only pause: too much is kept then
    }
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
