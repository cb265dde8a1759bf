// SPDX-License-Identifier: BSL-1.0
#include <net/detail/datagram_state.hpp>

#include <utility>

namespace reactor {
namespace net {
namespace detail {

using reactor::detail::PromiseState;
using reactor::detail::StateOwner;

namespace {

const char* const was_closed = "the socket was closed";

}  // namespace

DatagramState::DatagramState(EventLoop& loop, DatagramDescriptor descriptor)
    : core(loop.core()),
      socket_(std::move(descriptor)),
      buffer_(loop.service<SocketService>().buffer.get()) {
    core.retain();
}

DatagramState::~DatagramState() {
    close();
    core.forget();
}

void DatagramState::connect(const Endpoint& remote) {
    if (!sends_.empty()) {
        throw StateError("connect: sends of this socket wait: they would go to the new address");
    }
    socket_.connect(remote);
}

/// Out of the selector, before the number is free for others. After the loop's close() there is
/// none.
void DatagramState::stop_watching() noexcept {
    read_watch_.cancel();
    stop_waiting_for_room();
    if (socket_.is_open() && !core.closed.load(std::memory_order_relaxed)) {
        core.loop->forget_descriptor(socket_.number());
    }
}

void DatagramState::close() noexcept {
    core.require_thread("DatagramSocket::close");
    // All is taken out before the first promise is done: on a closed loop that destroys what its
    // callbacks captured, and with it perhaps this object.
    PendingReceive* const receiving = receiving_;
    PendingOperations<DatagramSend> sends = std::move(sends_);
    if (receiving) receiving->limit.cancel();
    for (DatagramSend* send = sends.first(); send; send = send->behind) send->limit.cancel();
    receiving_ = nullptr;
    stop_watching();
    socket_.close();

    if (receiving) {
        const StateOwner<PromiseState> owned(&receiving->promise());
        cancel_operation(*owned, was_closed);
    }
    while (!sends.empty()) cancel_operation(*sends.take_first(), was_closed);
}

int DatagramState::release() {
    stop_watching();
    const int descriptor = socket_.release();
    close();
    return descriptor;
}

DatagramDescriptor DatagramState::take() {
    stop_watching();
    DatagramDescriptor taken = std::move(socket_);
    close();
    return taken;
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
