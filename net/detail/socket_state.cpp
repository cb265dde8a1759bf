// SPDX-License-Identifier: BSL-1.0
#include <net/detail/socket_state.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <utility>

#include <sys/socket.h>

namespace reactor {
namespace net {
namespace detail {

using reactor::detail::PromiseAccess;
using reactor::detail::PromiseStatus;
using reactor::detail::StateOwner;

namespace {

// How often a Unix listener with a full backlog is asked: there is nothing to wait for.
constexpr Duration first_pause = std::chrono::milliseconds(1);
constexpr Duration longest_pause = std::chrono::milliseconds(100);

// One read_all() leaves the loop to others after 1 MiB.
constexpr int reads_per_turn = 16;

bool would_block(int code) noexcept { return code == EAGAIN || code == EWOULDBLOCK; }

template <class Operation>
void fail(Operation& operation, const std::system_error& error) {
    operation.fail(std::make_exception_ptr(error));
}

void fail_late(reactor::detail::PromiseState& state, const char* step, const Endpoint& peer) {
    state.fail(std::make_exception_ptr(TimeoutError(std::string(step) + ' ' + peer.str())));
}

void cancel_closed(reactor::detail::PromiseState& state) noexcept {
    try {
        state.cancel_now("the socket was closed");
    } catch (...) {
        state.end_cancelled(nullptr);  // no memory for the message
    }
}

}  // namespace

void ConnectOperation::abandon() noexcept { owner->forget(*this); }
void ReadOperation::abandon() noexcept { owner->forget(*this); }
void SendOperation::abandon() noexcept { owner->forget(*this); }

// ---- the descriptor -------------------------------------------------------------------------

SocketState::SocketState(EventLoop& loop) : core(loop.core()) {
    core.check("Socket");
    core.retain();
}

SocketState::~SocketState() {
    close();
    core.forget();
}

void SocketState::make_socket() {
    close_descriptor();  // left by a connect() that threw
    SocketService& shared = service();
    context_ = shared.context;
    buffer_ = shared.buffer.get();
    socket_.reset(new AsioSocket(*context_));
}

void SocketState::assign(int descriptor, int family, const Endpoint& peer) {
    make_socket();
    boost::system::error_code error;
    socket_->assign(StreamProtocol(family), descriptor, error);
    if (error) {
        socket_.reset();
        throw detail::socket_error(error, "take over the connection of", peer);
    }
    peer_ = peer;
    connected_ = true;
}

void SocketState::close_descriptor() noexcept {
    read_watch_.cancel();
    write_watch_.cancel();
    retry_.cancel();
    connected_ = drained_ = sending_ended_ = false;
    unread_.clear();
    if (!socket_) return;
    // Out of the selector before the number is free for others. After close() there is none.
    if (!core.closed.load(std::memory_order_relaxed)) {
        core.loop->forget_descriptor(socket_->native_handle());
    }
    boost::system::error_code ignored;  // the descriptor is gone whatever it says
    socket_->close(ignored);
    socket_.reset();
}

void SocketState::close() noexcept {
    core.require_thread("Socket::close");
    // All is taken out before the first promise is done: on a closed loop that destroys what its
    // callbacks captured, and with it perhaps this object.
    ConnectOperation* const connecting = connecting_;
    ReadOperation* const reading = reading_;
    SendOperation* sending = sending_;
    if (connecting) connecting->limit.cancel();
    if (reading) reading->limit.cancel();
    for (SendOperation* send = sending; send; send = send->behind) send->limit.cancel();
    connecting_ = nullptr;
    reading_ = nullptr;
    sending_ = last_send_ = nullptr;
    close_descriptor();

    if (connecting) {
        const StateOwner<ConnectOperation> owned(connecting);
        cancel_closed(*owned);
    }
    if (reading) {
        const StateOwner<ReadOperation> owned(reading);
        cancel_closed(*owned);
    }
    while (sending) {
        const StateOwner<SendOperation> owned(sending);
        sending = sending->behind;
        cancel_closed(*owned);
    }
}

int SocketState::release() {
    if (!connected_) throw StateError("release: the socket is not connected");
    if (!unread_.empty()) {
        throw StateError("release: read_all() has left bytes behind: read() them first");
    }
    read_watch_.cancel();
    write_watch_.cancel();
    core.loop->forget_descriptor(socket_->native_handle());
    const int descriptor = socket_->release();
    socket_.reset();
    close();
    return descriptor;
}

void SocketState::watch_reading() {
    read_watch_ = core.loop->add_reader(Options().owned_descriptor().label("net::Socket reads"),
                                        socket_->native_handle(), &SocketState::readable, this);
}

void SocketState::watch_writing() {
    // Watched still, perhaps, since the last time.
    if (write_watch_ && !write_watch_.cancelled()) return;
    write_watch_ = core.loop->add_writer(Options().owned_descriptor().label("net::Socket writes"),
                                         socket_->native_handle(), &SocketState::writable, this);
}

template <class Operation>
void SocketState::limit(Operation& operation, const Deadline& deadline,
                        void (SocketState::*late)()) {
    const TimePoint when = deadline.at(*core.loop);
    if (when != never()) operation.limit = core.loop->call_at(when, late, this);
}

template <class Operation>
StateOwner<Operation> SocketState::detach(Operation*& waiting) noexcept {
    StateOwner<Operation> operation(waiting);
    waiting = nullptr;
    operation->owner = nullptr;
    operation->limit.cancel();
    return operation;
}

// ---- connecting -----------------------------------------------------------------------------

Promise<void> SocketState::connect(const Endpoint& to, const Deadline& deadline, const Here& here) {
    core.check("connect");
    if (connected_ || connecting_) {
        throw StateError("connect: the socket is connected or connecting: close() it first");
    }
    StateOwner<ConnectOperation> connect(reactor::detail::make_state<ConnectOperation>(core, here));
    const Promise<void> promise = PromiseAccess::share<Promise<void>>(&*connect);
    peer_ = to;
    make_socket();
    boost::system::error_code error;
    socket_->open(detail::to_asio(to).protocol(), error);
    if (advance(*connect, error ? error.value() : begin_connect())) return promise;

    limit(*connect, deadline, &SocketState::connect_late);
    connect->owner = this;
    connect->keep();
    connecting_ = &*connect;
    return promise;
}

int SocketState::begin_connect() noexcept {
    // Asio's own connect would wait here, however long it takes, also on a non-blocking socket.
    const ::sockaddr* const address = static_cast<const ::sockaddr*>(peer_.data());
    const int descriptor = socket_->native_handle();
    if (::connect(descriptor, address, static_cast<::socklen_t>(peer_.size())) == 0) return 0;
    // Interrupted, it goes on in the background all the same.
    return errno == EINTR ? EINPROGRESS : errno;
}

/// True: it is done.
bool SocketState::advance(ConnectOperation& connect, int code) {
    if (code == 0) {
        connected_ = true;
        drained_ = true;  // who was connected just now has hardly said anything yet
        if (peer_.is_ip()) {
            boost::system::error_code ignored;  // the peer may be gone again
            socket_->set_option(boost::asio::ip::tcp::no_delay(true), ignored);
        }
        connect.set();
        return true;
    }
    if (code == EINPROGRESS) {
        watch_writing();
        return false;
    }
    // A Unix listener's backlog is full, and no event will tell when it is not (tokio-rs/mio#1560).
    if (would_block(code) && peer_.family() == Endpoint::Family::local) {
        connect.pause = connect.pause == Duration::zero()
                            ? first_pause
                            : std::min(connect.pause * 2, longest_pause);
        retry_ = core.loop->call_later(connect.pause, &SocketState::try_again, this);
        return false;
    }
    close_descriptor();
    fail(connect, detail::socket_error(code, "connect to", peer_));
    return true;
}

void SocketState::try_again() {
    if (connecting_ && advance(*connecting_, begin_connect())) detach(connecting_);
}

void SocketState::connect_ready() {
    int code = 0;
    ::socklen_t size = sizeof code;
    if (::getsockopt(socket_->native_handle(), SOL_SOCKET, SO_ERROR, &code, &size) != 0) {
        code = errno;
    }
    // The writer stays for now: what the callbacks of this promise start in the next iteration
    // replaces it, so that the selector hears of one change instead of two.
    if (advance(*connecting_, code)) detach(connecting_);
}

void SocketState::connect_late() {
    const StateOwner<ConnectOperation> connect = detach(connecting_);
    close_descriptor();
    const bool full = connect->pause != Duration::zero();
    fail_late(*connect, full ? "connect (the listener's backlog is full) to" : "connect to", peer_);
}

void SocketState::forget(ConnectOperation&) noexcept {
    detach(connecting_);
    close_descriptor();
}

// ---- reading --------------------------------------------------------------------------------

Promise<std::string> SocketState::read(std::size_t most, bool to_end, const Deadline& deadline,
                                       const Here& here) {
    if (reading_) throw StateError("read: another read of this socket is pending");
    StateOwner<ReadOperation> read(reactor::detail::make_state<ReadOperation>(core, here));
    const Promise<std::string> promise = PromiseAccess::share<Promise<std::string>>(&*read);
    read->most = most;
    read->to_end = to_end;
    if ((!drained_ || !unread_.empty()) && advance(*read)) return promise;

    watch_reading();
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
            fail(read, detail::socket_error(code, "read from", peer_));
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
            read.fail(std::make_exception_ptr(LimitOverrunError(
                "read from " + peer_.str() + ": more than " + std::to_string(read.most) + " bytes",
                consumed)));
            return true;
        }
        if (drained_) return false;
    }
    return false;
}

void SocketState::readable() {
    if (!reading_) {
        read_watch_.cancel();
    } else if (advance(*reading_)) {
        read_watch_.cancel();
        detach(reading_);
    }
}

void SocketState::read_late() {
    const StateOwner<ReadOperation> read = detach(reading_);
    read_watch_.cancel();
    put_back(*read);
    fail_late(*read, "read from", peer_);
}

void SocketState::put_back(ReadOperation& read) noexcept {
    if (!read.bytes.empty()) unread_.swap(read.bytes);
}

void SocketState::forget(ReadOperation&) noexcept {
    const StateOwner<ReadOperation> read = detach(reading_);
    read_watch_.cancel();
    put_back(*read);
}

// ---- sending --------------------------------------------------------------------------------

Promise<void> SocketState::send(std::string own, std::shared_ptr<const std::string> shared,
                                bool ends_stream, const Deadline& deadline, const Here& here) {
    if (sending_ended_) throw StateError("send: shutdown_send() has ended the sending");
    StateOwner<SendOperation> send(reactor::detail::make_state<SendOperation>(core, here));
    const Promise<void> promise = PromiseAccess::share<Promise<void>>(&*send);
    send->own = std::move(own);
    send->shared = std::move(shared);
    send->ends_stream = ends_stream;
    sending_ended_ = ends_stream;
    if (!sending_ && advance(*send)) return promise;

    watch_writing();
    const TimePoint when = deadline.at(*core.loop);
    if (when != never()) {
        send->limit = core.loop->call_at(when, &SocketState::send_late, this, &*send);
    }
    send->owner = this;
    send->keep();
    (last_send_ ? last_send_->behind : sending_) = &*send;
    last_send_ = &*send;
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
            fail(send, detail::socket_error(code, "send to", peer_));
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
            fail(send, detail::socket_error(error, "end sending to", peer_));
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
    std::exception_ptr broken;
    while (sending_) {
        if (broken) {
            unlink(*sending_)->fail(broken);
            continue;
        }
        if (!advance(*sending_)) return;
        const StateOwner<SendOperation> done = unlink(*sending_);
        if (done->status == PromiseStatus::error) broken = done->error;
    }
    write_watch_.cancel();
}

StateOwner<SendOperation> SocketState::unlink(SendOperation& send) noexcept {
    SendOperation* before = nullptr;
    for (SendOperation* at = sending_; at != &send; at = at->behind) before = at;
    (before ? before->behind : sending_) = send.behind;
    if (last_send_ == &send) last_send_ = before;
    send.drop_bytes();
    SendOperation* out = &send;
    return detach(out);
}

void SocketState::send_late(SendOperation* send) {
    const StateOwner<SendOperation> late = unlink(*send);
    if (!sending_) write_watch_.cancel();
    if (late->ends_stream) sending_ended_ = false;
    fail_late(*late, "send to", peer_);
}

void SocketState::forget(SendOperation& send) noexcept {
    const StateOwner<SendOperation> cancelled = unlink(send);
    if (!sending_) write_watch_.cancel();
    if (cancelled->ends_stream) sending_ended_ = false;
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
