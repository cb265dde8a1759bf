// SPDX-License-Identifier: BSL-1.0
#include <net/detail/datagram_state.hpp>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <string>
#include <system_error>

namespace reactor {
namespace net {
namespace detail {

using reactor::detail::PromiseState;
using reactor::detail::StateOwner;

void DatagramState::check_receive() const {
    if (receiving_) throw StateError("receive: another receive of this socket is pending");
    refuse_blocking(core, socket_.number(), "receive");
}

void DatagramState::begin(PendingReceive& receive, const Deadline& deadline) {
    if (!drained_ && advance(receive)) return;
    try {
        read_watch_.start(*core.loop, reactor::detail::NodeKind::reader,
                          watch_options("net::DatagramSocket receives"), socket_.number(), *this,
                          reading_side);
    } catch (const std::system_error& refusal) {
        receive.promise().fail(
            std::make_exception_ptr(watch_error(refusal, receive_step(), receive_address())));
        return;
    }
    const TimePoint when = deadline.at(*core.loop);
    if (when != never()) {
        receive.limit = core.loop->call_at(when, &DatagramState::receive_late, this);
    }
    receive.owner = this;
    receive.promise().keep();
    receiving_ = &receive;
}

/// True: it is done.
bool DatagramState::advance(PendingReceive& receive) {
    const int code = take(receive);
    drained_ = would_block(code);
    if (drained_) return false;
    if (code != 0) {
        receive.promise().fail(
            std::make_exception_ptr(socket_error(code, receive_step(), receive_address())));
    }
    return true;
}

/// 0: a datagram was delivered; else the error.
int DatagramState::take(PendingReceive& receive) {
    Arrival arrival = Arrival();
    char* room = receive.into ? receive.into : buffer_;
    std::size_t size = receive.most;
    std::string large;
    if (!receive.into && size > SocketService::buffer_size) {
        // Longer than those of IP are rare, also where they are allowed: so there is room for one
        // when it is there, and no more than it takes.
        const ::ssize_t next = socket_.next_size();
        if (next < 0) return errno;
        size = std::min(size, static_cast<std::size_t>(next));
        if (size > SocketService::buffer_size) {
            large.resize(size);
            room = &large[0];
        }
    }
    if (socket_.receive(room, size, arrival) != 0) return errno;
    receive.deliver(room, arrival);
    return 0;
}

void DatagramState::readable() {
    if (!receiving_) {
        read_watch_.stop();
    } else if (advance(*receiving_)) {
        detach_receive();
    } else {
        socket_.drop_notes();
    }
}

void DatagramState::receive_late() {
    const StateOwner<PromiseState> late = detach_receive();
    late->fail(std::make_exception_ptr(
        TimeoutError(std::string(receive_step()) + ' ' + in_words(receive_address()))));
}

void DatagramState::forget(PendingReceive&) noexcept { detach_receive(); }

const char* DatagramState::receive_step() const noexcept {
    return socket_.is_connected() ? "receive from" : "receive on";
}

Endpoint DatagramState::receive_address() const {
    return socket_.is_connected() ? socket_.peer() : socket_.address();
}

StateOwner<PromiseState> DatagramState::detach_receive() noexcept {
    PendingReceive& receive = *receiving_;
    receiving_ = nullptr;
    receive.owner = nullptr;
    receive.limit.cancel();
    read_watch_.stop();
    return StateOwner<PromiseState>(&receive.promise());
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
