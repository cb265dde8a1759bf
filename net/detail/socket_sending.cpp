// SPDX-License-Identifier: BSL-1.0
#include <net/detail/socket_state.hpp>

#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

#include <sys/socket.h>

namespace reactor {
namespace net {
namespace detail {

using reactor::detail::PromiseAccess;
using reactor::detail::PromiseStatus;
using reactor::detail::StateOwner;

void SendOperation::abandon() noexcept { owner->forget(*this); }

Promise<void> SocketState::send(std::string own, std::shared_ptr<const std::string> shared,
                                bool ends_stream, const Deadline& deadline, const Here& here) {
    if (sending_ended_) throw StateError("send: shutdown_send() has ended the sending");
    refuse_blocking(core, descriptor(), "send");
    StateOwner<SendOperation> send(reactor::detail::make_state<SendOperation>(core, here));
    const Promise<void> promise = PromiseAccess::share<Promise<void>>(&*send);
    send->own = std::move(own);
    send->shared = std::move(shared);
    send->ends_stream = ends_stream;
    sending_ended_ = ends_stream;
    if (sends_.empty() && advance(*send)) return promise;

    if (!watch_writing(*send, "send to")) return promise;
    const TimePoint when = deadline.at(*core.loop);
    if (when != never()) {
        send->limit = core.loop->call_at(when, &SocketState::send_late, this, &*send);
    }
    send->owner = this;
    sends_.add(*send);
    return promise;
}

/// True: it is done.
bool SocketState::advance(SendOperation& send) {
    const std::string& bytes = send.bytes();
    while (send.sent < bytes.size()) {
        const std::size_t left = bytes.size() - send.sent;
        const ::ssize_t took =
            ::send(socket_->native_handle(), bytes.data() + send.sent, left, MSG_NOSIGNAL);
        if (took < 0) {
            const int code = errno;
            if (code == EINTR) continue;
            if (would_block(code)) return false;
            fail(send, socket_error(code, "send to", peer_));
            return true;
        }
        send.sent += static_cast<std::size_t>(took);
        // Less than all: the system's buffer is full, asking again would say so.
        if (static_cast<std::size_t>(took) < left) return false;
    }
    if (send.ends_stream) {
        boost::system::error_code error;
        socket_->shutdown(boost::asio::socket_base::shutdown_send, error);
        if (error) {
            fail(send, socket_error(error, "end sending to", peer_));
            return true;
        }
    }
    send.drop_bytes();
    send.set();
    return true;
}

void SocketState::writable() {
    if (connecting_) {
        connect_ready();
        return;
    }
    while (SendOperation* const send = sends_.first()) {
        if (!advance(*send)) return;
        if (send->status == PromiseStatus::error) break;
        unlink(*send);
    }
    write_watch_.stop();
    // One has failed: those behind it fail with the same error.
    PendingOperations<SendOperation> failed = std::move(sends_);
    for (SendOperation* send = failed.first(); send; send = send->behind) {
        send->limit.cancel();
        send->drop_bytes();
        if (!send->done()) send->fail(failed.first()->error);
    }
    // Dropped last, when all are done: one that nobody holds is reported as it goes, and the
    // exception handler may cancel the others, or destroy this object.
    while (!failed.empty()) failed.take_first();
}

StateOwner<SendOperation> SocketState::unlink(SendOperation& send) noexcept {
    send.drop_bytes();
    send.owner = nullptr;
    send.limit.cancel();
    return sends_.take(send);
}

void SocketState::send_late(SendOperation* send) {
    const StateOwner<SendOperation> late = unlink(*send);
    if (sends_.empty()) write_watch_.stop();
    if (late->ends_stream) sending_ended_ = false;
    fail_late(*late, "send to");
}

void SocketState::forget(SendOperation& send) noexcept {
    const StateOwner<SendOperation> cancelled = unlink(send);
    if (sends_.empty()) write_watch_.stop();
    if (cancelled->ends_stream) sending_ended_ = false;
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
