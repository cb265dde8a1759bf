// SPDX-License-Identifier: BSL-1.0
#include <net/detail/socket_service.hpp>
#include <net/detail/transport_state.hpp>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace reactor {
namespace net {
namespace detail {

/// One read: less than all of the room means that nothing is left, and if there is more, the
/// descriptor is still ready in the next iteration. So one connection does not hold up the others.
void TransportState::read() {
    if (pipe_ || buffered_ || read_paused_ || eof_ || closing_) {
        read_otherwise();
    } else {
        receive_for_protocol();
    }
}

void TransportState::read_otherwise() {
    if (watches_readers_ && !closing_) look_for_readers();
    if (!is_reading()) return;
    if (buffered_) {
        read_for_protocol();
    } else {
        receive_for_protocol();
    }
}

void TransportState::receive_for_protocol() {
    struct Looking {
        ReadBuffer& buffer;
        ~Looking() { buffer.keep(0); }
    } const looking{service_->buffer};
    char* const bytes = looking.buffer.open();
    const ::ssize_t got = receive(bytes, ReadBuffer::size);
    if (got <= 0) {
        nothing_received(got);
        return;
    }
    const std::size_t size = static_cast<std::size_t>(got);
    looking.buffer.keep(size);
    if (timed_) touch(&TimeLimits::input);
    call("data_received", Weight::vital,
         [bytes, size](Protocol& protocol) { protocol.data_received(ByteView(bytes, size)); });
}

void TransportState::nothing_received(::ssize_t got) {
    if (got == 0) {
        received_end();
    } else if (!would_block(errno)) {
        lose_by_system("read from", errno);
    }
}

void TransportState::read_for_protocol() {
    BufferedProtocol::Buffer room = {nullptr, 0};
    Protocol* const asked = protocol_.get();
    const bool given = call("get_buffer", Weight::vital, [&room](Protocol& protocol) {
        room = protocol.buffered()->get_buffer(ReadBuffer::size);
        if (!room.data || room.size == 0) {
            throw std::invalid_argument("get_buffer() has given an empty buffer");
        }
    });
    // It may have closed the connection, paused it, or given it to another protocol.
    if (!given || !is_reading() || protocol_.get() != asked) return;
    const ::ssize_t got = receive(room.data, room.size);
    if (got <= 0) {
        nothing_received(got);
        return;
    }
    if (timed_) touch(&TimeLimits::input);
    call("buffer_updated", Weight::vital, [got](Protocol& protocol) {
        protocol.buffered()->buffer_updated(static_cast<std::size_t>(got));
    });
}

void TransportState::received_end() {
    // Afterwards: who closes now is not to be taken out of the selector first. Also when a LoopExit
    // leaves.
    struct Update {
        TransportState& state;
        ~Update() { state.update_reading(); }
    } const update{*this};
    eof_ = true;
    bool stay = false;
    const bool answered = call("eof_received", Weight::vital,
                               [&stay](Protocol& protocol) { stay = protocol.eof_received(); });
    // The read end of a pipe has no other half that could stay open.
    if (answered && (!stay || pipe_)) close(false);
}

void TransportState::pause_reading() noexcept {
    if (!is_reading()) return;
    read_paused_ = true;
    update_reading();
}

void TransportState::resume_reading() {
    if (!read_paused_ || over()) return;
    read_paused_ = false;
    update_reading();
    if (timed_ && !closing_) {
        extras_->times.input = core().clock->now();
        arm();
    }
}

/// Brings the loop to what is_reading() says; if it refuses, the connection is lost.
void TransportState::update_reading() noexcept {
    const bool wanted = begun_ && (is_reading() || watches_readers_) && !over();
    if (wanted == watching_) return;
    watching_ = wanted;
    if (!wanted) {
        // In the next iteration the descriptor is closed, and with that out of the selector, or
        // reading may go on: it costs less to leave it there.
        const bool ends = closing_ && !unsent_;
        service_->watches.forget(*node_, (eof_ || closing_) && !ends);
        return;
    }
    std::exception_ptr refused;
    try {
        try {
            watch("read", node_);
            return;
        } catch (const std::system_error& error) {
            throw watch_refused(error, "read from");
        }
    } catch (...) {
        refused = std::current_exception();
    }
    watching_ = false;
    lose(std::move(refused));
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
