// SPDX-License-Identifier: BSL-1.0
#include <net/detail/socket_state.hpp>

#include <exception>
#include <string>
#include <system_error>
#include <utility>

namespace reactor {
namespace net {
namespace detail {

using reactor::detail::PromiseState;
using reactor::detail::StateOwner;

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
    read_watch_.cancel();
    write_watch_.cancel();
    core.loop->forget_descriptor(socket_->native_handle());
    const int descriptor = socket_->release();
    socket_.reset();
    close();
    return descriptor;
}

bool SocketState::watch_reading(PromiseState& read) {
    try {
        read_watch_ = core.loop->add_reader(watch_options("net::Socket reads"),
                                            socket_->native_handle(), &SocketState::readable, this);
        return true;
    } catch (const std::system_error& error) {
        fail(read, watch_error(error, "read from", peer_));
        return false;
    }
}

bool SocketState::watch_writing(PromiseState& operation, const std::string& step) {
    // Watched still, perhaps, since the last time.
    if (write_watch_ && !write_watch_.cancelled()) return true;
    try {
        write_watch_ =
            core.loop->add_writer(watch_options("net::Socket writes"), socket_->native_handle(),
                                  &SocketState::writable, this);
        return true;
    } catch (const std::system_error& error) {
        fail(operation, watch_error(error, step, peer_));
        return false;
    }
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
