// SPDX-License-Identifier: BSL-1.0
#include <net/detail/datagram_state.hpp>
#include <reactor/detail/loop_state.hpp>

#include <exception>
#include <utility>

namespace reactor {
namespace net {
namespace detail {

using reactor::detail::PromiseState;
using reactor::detail::StateOwner;
using reactor::detail::watches_of;
using reactor::detail::WatchLoss;
using reactor::detail::WatchTable;

namespace {

const char* const was_closed = "the socket was closed";

}  // namespace

DatagramState::DatagramState(EventLoop& loop, DatagramDescriptor descriptor)
    : core(loop.core()), buffer_(loop.service<SocketService>().buffer.get()) {
    if (descriptor.is_open()) take_over(descriptor);
    core.retain();
}

void DatagramState::take_over(DatagramDescriptor& descriptor) {
    watches_of(core).hold("DatagramSocket", descriptor.number(), *this, WatchTable::Hold::shared);
    socket_ = std::move(descriptor);
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
    read_watch_.stop();
    stop_waiting_for_room();
    if (socket_.is_open() && !core.closed.load(std::memory_order_relaxed)) {
        core.loop->forget_descriptor(socket_.number());
    }
    watches_of(core).let_go(socket_.number(), *this);
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

/// The loop has let go of the descriptor, or somebody has taken a watch from us: what waits for it
/// would wait for ever.
void DatagramState::watch_lost(unsigned side, const WatchLoss& loss) noexcept {
    const bool foreign = loss.kind == WatchLoss::closed;
    const bool both = loss.kind != WatchLoss::taken;
    const bool reads = both || side == reading_side;
    // Sends that ask from time to time need no watch, but a descriptor.
    const bool writes = foreign || ((both || side == writing_side) && write_watch_);
    if (reads) read_watch_.stop();

    // All is taken out, and the number let go of, before the first of them fails.
    const int number = socket_.number();
    if (foreign) watches_of(core).let_go(number, *this);
    std::exception_ptr receive_error;
    PendingReceive* const receiving = reads ? receiving_ : nullptr;
    if (receiving) {
        receive_error = lost_watch_error(loss, number, receive_step(), receive_address());
        receiving->owner = nullptr;
        receiving->limit.cancel();
        receiving_ = nullptr;
    }
    if (writes) stop_waiting_for_room();
    PendingOperations<DatagramSend> sends =
        writes ? std::move(sends_) : PendingOperations<DatagramSend>();
    for (DatagramSend* send = sends.first(); send; send = send->behind) {
        send->owner = nullptr;
        send->limit.cancel();
    }
    if (foreign && socket_.is_open()) socket_.release();

    const StateOwner<PromiseState> failed(receiving ? &receiving->promise() : nullptr);
    if (receiving) failed->fail(std::move(receive_error));
    for (DatagramSend* send = sends.first(); send; send = send->behind) {
        send->fail(lost_watch_error(loss, number, "send to", destination(*send)));
    }
    // Dropped last, when all are done: one that nobody holds is reported as it goes, and the
    // exception handler may cancel the others, or destroy this object.
    while (!sends.empty()) sends.take_first();
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
