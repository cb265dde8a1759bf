// SPDX-License-Identifier: BSL-1.0
#include <net/detail/datagram_state.hpp>

#include <cerrno>
#include <exception>
#include <string>
#include <system_error>

namespace reactor {
namespace net {
namespace detail {

using reactor::detail::PromiseAccess;
using reactor::detail::PromiseStatus;
using reactor::detail::StateOwner;

void DatagramSend::abandon() noexcept { owner->forget(*this); }

Promise<std::size_t> DatagramState::send(ByteView bytes, const Endpoint& to,
                                         const Deadline& deadline, const Here& here) {
    refuse_blocking(core, socket_.number(), "send");
    const StateOwner<DatagramSend> send(reactor::detail::make_state<DatagramSend>(core, here));
    const Promise<std::size_t> promise = PromiseAccess::share<Promise<std::size_t>>(&*send);
    send->to = to;
    if (sends_.empty()) {
        if (attempt(*send, bytes)) return promise;
        try {
            write_watch_.start(*core.loop, reactor::detail::NodeKind::writer,
                               watch_options("net::DatagramSocket sends"), socket_.number(), *this,
                               writing_side);
        } catch (const std::system_error& refusal) {
            send->fail(
                std::make_exception_ptr(watch_error(refusal, "send to", destination(*send))));
            return promise;
        }
    }
    send->bytes.assign(bytes.data(), bytes.size());
    const TimePoint when = deadline.at(*core.loop);
    if (when != never()) {
        send->limit = core.loop->call_at(when, &DatagramState::send_late, this, &*send);
    }
    send->owner = this;
    sends_.add(*send);
    return promise;
}

/// True: it is done.
bool DatagramState::attempt(DatagramSend& send, ByteView bytes) {
    const ::ssize_t took = socket_.send(bytes, send.to);
    if (took >= 0) {
        send.set(static_cast<std::size_t>(took));
        return true;
    }
    const int code = errno;
    if (would_block(code)) return false;
    send.fail(std::make_exception_ptr(socket_.send_error(code, bytes.size(), send.to)));
    return true;
}

void DatagramState::writable() {
    if (sends_.empty()) {
        write_watch_.stop();
    } else {
        send_queued();
    }
}

void DatagramState::send_queued() {
    while (DatagramSend* const send = sends_.first()) {
        if (!attempt(*send, send->bytes)) {
            socket_.drop_notes();
            wait_for_room();
            return;
        }
        pause_.reset();
        const StateOwner<DatagramSend> sent = unlink(*send);
        if (sent->status == PromiseStatus::error) {
            // Those behind it go out with the next event: the error of one that nobody holds is
            // reported as it goes, and the exception handler may destroy this object.
            if (sends_.empty()) {
                stop_waiting_for_room();
            } else {
                wait_for_room();
            }
            return;
        }
    }
    stop_waiting_for_room();
}

/// A watch that does not tell of room would wake it again and again for nothing.
void DatagramState::wait_for_room() {
    if (socket_.tells_of_room(sends_.first()->to) && !asking_) return;  // the watch goes on
    asking_ = true;                                                     // until the queue is empty
    write_watch_.stop();
    retry_ = core.loop->call_later(pause_.next(), &DatagramState::send_queued, this);
}

void DatagramState::stop_waiting_for_room() noexcept {
    write_watch_.stop();
    retry_.cancel();
    asking_ = false;
    pause_.reset();
}

const Endpoint& DatagramState::destination(const DatagramSend& send) const noexcept {
    return send.to.empty() ? socket_.peer() : send.to;
}

StateOwner<DatagramSend> DatagramState::unlink(DatagramSend& send) noexcept {
    send.owner = nullptr;
    send.limit.cancel();
    std::string().swap(send.bytes);  // the promise may be held long after its outcome
    return sends_.take(send);
}

void DatagramState::send_late(DatagramSend* send) {
    const StateOwner<DatagramSend> late = unlink(*send);
    if (sends_.empty()) stop_waiting_for_room();
    late->fail(std::make_exception_ptr(TimeoutError("send to " + in_words(destination(*late)))));
}

void DatagramState::forget(DatagramSend& send) noexcept {
    const StateOwner<DatagramSend> cancelled = unlink(send);
    if (sends_.empty()) stop_waiting_for_room();
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
