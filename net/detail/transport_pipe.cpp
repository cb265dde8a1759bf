// SPDX-License-Identifier: BSL-1.0
#include <net/detail/pipe_end.hpp>
#include <net/detail/socket_service.hpp>
#include <net/detail/standard_pipes.hpp>
#include <net/detail/stream_receiver.hpp>
#include <net/detail/transport_state.hpp>

#include <cerrno>
#include <utility>

#include <poll.h>

namespace reactor {
namespace net {
namespace detail {

void TransportState::become_pipe(PipeEnd&& end) {
    extras().pipe_name = std::move(end.name);
    pipe_ = true;
    note_standard_pipe(descriptor(), this);
    if (end.direction == PipeEnd::write) {
        // As if it had ended: so nothing is read, and nothing waits for that.
        hears_nothing_ = eof_ = true;
        watches_readers_ = end.tells_of_readers;
    } else {
        eof_written_ = true;
    }
}

std::string TransportState::peer() const { return pipe_ ? extras_->pipe_name : remote().str(); }

std::system_error TransportState::watch_refused(const std::system_error& refusal,
                                                const char* step) const {
    return pipe_ ? watch_error(refusal, std::string(step) + ' ' + peer())
                 : watch_error(refusal, step, remote());
}

/// The write end has woken its reader's watch: the last reader has gone, as a rule. Else something
/// can be read here, which nobody will do: a FIFO that is open for both, a socket whose peer
/// answers. Then the next write will have to tell.
void TransportState::look_for_readers() noexcept {
    ::pollfd end = {descriptor(), 0, 0};
    if (::poll(&end, 1, 0) > 0 && (end.revents & (POLLERR | POLLHUP))) {
        lose_by_system("send to", EPIPE);
        return;
    }
    watches_readers_ = false;
    update_reading();
}

Transport pipe_transport(const char* call, EventLoop& loop, int descriptor, PipeEnd end,
                         std::unique_ptr<Protocol> protocol, bool opened) {
    using Origin = TransportState::Origin;
    TransportState* const state =
        TransportState::make(loop, descriptor, Endpoint(), std::move(protocol),
                             opened ? Origin::opened : Origin::given, call);
    const Transport transport = TransportAccess::share(state);
    state->release();
    try {
        state->become_pipe(std::move(end));
    } catch (...) {
        state->disown();
        throw;
    }
    state->begin();
    return transport;
}

Stream pipe_stream(const char* call, EventLoop& loop, int descriptor, PipeEnd end) {
    std::unique_ptr<StreamReceiver> receiver(new StreamReceiver(loop));
    Stream stream = receiver->take_stream();
    receiver->may_be_dropped();
    pipe_transport(call, loop, descriptor, std::move(end), std::move(receiver), true);
    return stream;
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
