// SPDX-License-Identifier: BSL-1.0
#include <net/detail/socket_state.hpp>
#include <reactor/detail/loop_state.hpp>

#include <cerrno>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

namespace reactor {
namespace net {
namespace detail {

using reactor::detail::NodeKind;
using reactor::detail::PromiseState;
using reactor::detail::StateOwner;
using reactor::detail::watches_of;
using reactor::detail::WatchLoss;
using reactor::detail::WatchTable;

namespace {

const char* const was_closed = "the socket was closed";

}  // namespace

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
        throw socket_error(error, "take over the connection of", peer);
    }
    try {
        hold();
    } catch (...) {
        socket_->release(error);
        socket_.reset();
        throw;
    }
    peer_ = peer;
    connected_ = true;
}

/// Shared: as long as nothing waits here, others may watch it.
void SocketState::hold() {
    watches_of(core).hold("Socket", descriptor(), *this, WatchTable::Hold::shared);
}

/// From here on every call of the system's fails with EBADF.
void SocketState::number_taken(int) noexcept {
    boost::system::error_code ignored;
    socket_->release(ignored);
}

void SocketState::number_lost(int) noexcept {
    watch_lost(reading_side, {WatchLoss::closed, EBADF});
}

void SocketState::close_descriptor() noexcept { drop_descriptor(true); }

/// Closes it, unless the number is somebody else's by now.
void SocketState::drop_descriptor(bool ours) noexcept {
    read_watch_.stop();
    write_watch_.stop();
    retry_.cancel();
    connected_ = drained_ = sending_ended_ = false;
    unread_.clear();
    if (!socket_) return;
    watches_of(core).let_go(descriptor(), *this);
    boost::system::error_code ignored;  // the descriptor is gone whatever it says
    if (ours) {
        // Out of the selector before the number is free for others. After close() there is none.
        if (!core.closed.load(std::memory_order_relaxed)) {
            core.loop->forget_descriptor(socket_->native_handle());
        }
        socket_->close(ignored);
    } else {
        socket_->release(ignored);
    }
    socket_.reset();
}

void SocketState::close() noexcept {
    core.require_thread("Socket::close");
    // All is taken out before the first promise is done: on a closed loop that destroys what its
    // callbacks captured, and with it perhaps this object.
    ConnectOperation* const connecting = connecting_;
    ReadOperation* const reading = reading_;
    PendingOperations<SendOperation> sends = std::move(sends_);
    if (connecting) connecting->limit.cancel();
    if (reading) reading->limit.cancel();
    for (SendOperation* send = sends.first(); send; send = send->behind) send->limit.cancel();
    connecting_ = nullptr;
    reading_ = nullptr;
    close_descriptor();

    if (connecting) {
        const StateOwner<ConnectOperation> owned(connecting);
        cancel_operation(*owned, was_closed);
    }
    if (reading) {
        const StateOwner<ReadOperation> owned(reading);
        cancel_operation(*owned, was_closed);
    }
    while (!sends.empty()) cancel_operation(*sends.take_first(), was_closed);
}

int SocketState::release() {
    if (!connected_) throw StateError("release: the socket is not connected");
    if (!unread_.empty()) {
        throw StateError("release: read_all() has left bytes behind: read() them first");
    }
    read_watch_.stop();
    write_watch_.stop();
    const int number = descriptor();
    if (number < 0) {
        throw std::system_error(EBADF, std::system_category(),
                                "release: the connection of " + in_words(peer_));
    }
    core.loop->forget_descriptor(number);
    watches_of(core).let_go(number, *this);
    socket_->release();
    socket_.reset();
    close();
    return number;
}

bool SocketState::watch_reading(PromiseState& read) {
    try {
        read_watch_.start(*core.loop, NodeKind::reader, watch_options("net::Socket reads"),
                          socket_->native_handle(), *this, reading_side);
        return true;
    } catch (const std::system_error& error) {
        fail(read, watch_error(error, "read from", peer_));
        return false;
    }
}

bool SocketState::watch_writing(PromiseState& operation, const std::string& step) {
    // Watched still, perhaps, since the last time.
    if (write_watch_) return true;
    try {
        write_watch_.start(*core.loop, NodeKind::writer, watch_options("net::Socket writes"),
                           socket_->native_handle(), *this, writing_side);
        return true;
    } catch (const std::system_error& error) {
        fail(operation, watch_error(error, step, peer_));
        return false;
    }
}

/// The loop has let go of the descriptor, or somebody has taken a watch from us: what waits for it
/// would wait for ever.
void SocketState::watch_lost(unsigned side, const WatchLoss& loss) noexcept {
    const bool foreign = loss.kind == WatchLoss::closed;
    const bool both = loss.kind != WatchLoss::taken;
    const bool reads = both || side == reading_side;
    const bool writes = both || side == writing_side;
    if (reads) read_watch_.stop();
    if (writes) write_watch_.stop();

    // All is taken out before the first of them fails.
    std::exception_ptr read_error, write_error;
    ConnectOperation* const connecting = writes ? connecting_ : nullptr;
    ReadOperation* const reading = reads ? reading_ : nullptr;
    PendingOperations<SendOperation> sends =
        writes ? std::move(sends_) : PendingOperations<SendOperation>();
    if (reading) {
        read_error = lost_watch_error(loss, descriptor(), "read from", peer_);
        reading->owner = nullptr;
        reading->limit.cancel();
        if (!foreign) put_back(*reading);
        reading_ = nullptr;
    }
    if (connecting) {
        try {
            const std::string step = connecting->step();
            write_error = lost_watch_error(loss, descriptor(), step.c_str(), peer_);
        } catch (...) {
            write_error = std::current_exception();
        }
        connecting->owner = nullptr;
        connecting->limit.cancel();
        connecting_ = nullptr;
    }
    if (!sends.empty()) write_error = lost_watch_error(loss, descriptor(), "send to", peer_);
    for (SendOperation* send = sends.first(); send; send = send->behind) {
        send->owner = nullptr;
        send->limit.cancel();
        send->drop_bytes();
        if (send->ends_stream) sending_ended_ = false;
    }
    if (foreign || connecting) drop_descriptor(!foreign);

    const StateOwner<ConnectOperation> failed_connect(connecting);
    const StateOwner<ReadOperation> failed_read(reading);
    if (connecting) connecting->fail(write_error);
    if (reading) reading->fail(std::move(read_error));
    for (SendOperation* send = sends.first(); send; send = send->behind) send->fail(write_error);
    // Dropped last, when all are done: one that nobody holds is reported as it goes, and the
    // exception handler may cancel the others, or destroy this object.
    while (!sends.empty()) sends.take_first();
}

void SocketState::fail(PromiseState& operation, const std::system_error& error) {
    operation.fail(std::make_exception_ptr(error));
}

void SocketState::fail_late(PromiseState& operation, const std::string& step) {
    operation.fail(std::make_exception_ptr(TimeoutError(step + ' ' + in_words(peer_))));
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
