// SPDX-License-Identifier: BSL-1.0
#include <net/detail/stream_receiver.hpp>
#include <net/detail/stream_state.hpp>

#include <utility>

namespace reactor {
namespace net {
namespace detail {

StreamReceiver::StreamReceiver(EventLoop& loop) : state_(new StreamState(loop)) {}

StreamReceiver::~StreamReceiver() {
    state_->detached();
    state_->drop();
}

Stream StreamReceiver::take_stream() noexcept {
    state_->keep();
    return Stream(state_);
}

void StreamReceiver::may_be_dropped() noexcept { state_->may_be_dropped(); }

void StreamReceiver::connection_made(const Transport& transport) { state_->made(transport); }
void StreamReceiver::data_received(ByteView bytes) { state_->received(bytes); }
bool StreamReceiver::eof_received() {
    state_->ended();
    return true;  // the sending half is the program's: an answer may follow the end of a request
}
void StreamReceiver::connection_lost(std::exception_ptr error) { state_->lost(std::move(error)); }
void StreamReceiver::pause_writing() { state_->write_flow(true); }
void StreamReceiver::resume_writing() { state_->write_flow(false); }
const char* StreamReceiver::protocol_name() const noexcept { return "net::Stream"; }

}  // namespace detail
}  // namespace net
}  // namespace reactor
