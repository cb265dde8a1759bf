// SPDX-License-Identifier: BSL-1.0
#include <net/detail/socket_state.hpp>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

#include <sys/socket.h>

namespace reactor {
namespace net {
namespace detail {

using reactor::detail::PromiseAccess;
using reactor::detail::StateOwner;

namespace {

// One read_all() leaves the loop to others after 1 MiB.
constexpr int reads_per_turn = 16;

}  // namespace

void ReadOperation::abandon() noexcept { owner->forget(*this); }

Promise<std::string> SocketState::read(std::size_t most, bool to_end, const Deadline& deadline,
                                       const Here& here) {
    if (reading_) throw StateError("read: another read of this socket is pending");
    refuse_blocking(core, descriptor(), "read");
    StateOwner<ReadOperation> read(reactor::detail::make_state<ReadOperation>(core, here));
    const Promise<std::string> promise = PromiseAccess::share<Promise<std::string>>(&*read);
    read->most = most;
    read->to_end = to_end;
    if ((!drained_ || !unread_.empty()) && advance(*read)) return promise;

    if (!watch_reading(*read)) return promise;
    limit(*read, deadline, &SocketState::read_late);
    read->owner = this;
    read->keep();
    reading_ = &*read;
    return promise;
}

/// True: it is done.
bool SocketState::advance(ReadOperation& read) {
    if (!unread_.empty()) {
        if (!read.to_end) {
            read.set(unread_.substr(0, read.most));
            unread_.erase(0, read.most);
            return true;
        }
        read.bytes.swap(unread_);
    }
    for (int turn = 0; turn < reads_per_turn; ++turn) {
        const std::size_t room = SocketService::buffer_size;
        const std::size_t wanted = read.to_end ? room : std::min(read.most, room);
        ::ssize_t got;
        do {
            got = ::recv(socket_->native_handle(), buffer_, wanted, 0);
        } while (got < 0 && errno == EINTR);
        if (got < 0) {
            const int code = errno;
            drained_ = would_block(code);
            if (drained_) return false;
            fail(read, socket_error(code, "read from", peer_));
            return true;
        }
        const std::size_t size = static_cast<std::size_t>(got);
        drained_ = size != 0 && size < wanted;
        if (!read.to_end) {
            read.set(buffer_, size);
            return true;
        }
        if (size == 0 && read.bytes.size() <= read.most) {
            read.set(std::move(read.bytes));
            return true;
        }
        read.bytes.append(buffer_, size);
        if (read.bytes.size() > read.most) {
            const std::size_t consumed = read.bytes.size();
            put_back(read);
            read.fail(std::make_exception_ptr(
                LimitOverrunError("read from " + in_words(peer_) + ": more than " +
                                      std::to_string(read.most) + " bytes",
                                  consumed)));
            return true;
        }
        if (drained_) return false;
    }
    return false;
}

void SocketState::readable() {
    if (!reading_) {
        read_watch_.stop();
    } else if (advance(*reading_)) {
        read_watch_.stop();
        detach(reading_);
    }
}

void SocketState::read_late() {
    const StateOwner<ReadOperation> read = detach(reading_);
    read_watch_.stop();
    put_back(*read);
    fail_late(*read, "read from");
}

void SocketState::put_back(ReadOperation& read) noexcept {
    if (!read.bytes.empty()) unread_.swap(read.bytes);
}

void SocketState::forget(ReadOperation&) noexcept {
    const StateOwner<ReadOperation> read = detach(reading_);
    read_watch_.stop();
    put_back(*read);
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
