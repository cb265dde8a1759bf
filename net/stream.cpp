// SPDX-License-Identifier: BSL-1.0
#include <net/detail/stream_hand_over.hpp>
#include <net/detail/stream_receiver.hpp>
#include <net/detail/stream_state.hpp>
#include <net/stream.hpp>

#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace reactor {
namespace net {

using detail::StreamRequest;
using detail::StreamState;
using Kind = StreamRequest::Kind;

constexpr std::size_t Stream::default_limit;

Promise<Stream> make_stream(EventLoop& loop, int descriptor, Here here) {
    loop.core().check("make_stream");
    std::unique_ptr<detail::StreamReceiver> receiver(new detail::StreamReceiver(loop));
    detail::StreamHandOver hand_over(receiver->take_stream());
    return make_transport(loop, descriptor, std::move(receiver), here)
        .then(std::move(hand_over), here);
}

Stream& Stream::operator=(Stream&& other) noexcept {
    Stream moved(std::move(other));
    std::swap(state_, moved.state_);
    return *this;
}

Stream::~Stream() {
    if (state_) state_->release();
}

StreamState& Stream::state(const char* call) const {
    if (!state_) throw StateError(std::string(call) + ": the Stream is empty");
    return *state_;
}

// ---- reading --------------------------------------------------------------------------------

Promise<std::string> Stream::read(std::size_t max, Deadline deadline, Here here) {
    return state("read").read(StreamRequest("read", Kind::some, max), deadline, here);
}

Promise<std::string> Stream::read_all(std::size_t limit, Deadline deadline, Here here) {
    return state("read_all").read(StreamRequest("read_all", Kind::all, limit), deadline, here);
}

Promise<std::string> Stream::read_exactly(std::size_t count, Deadline deadline, Here here) {
    StreamState& stream = state("read_exactly");
    if (count > static_cast<std::size_t>((std::numeric_limits<std::ptrdiff_t>::max)())) {
        throw std::invalid_argument("read_exactly: the count is negative");
    }
    return stream.read(StreamRequest("read_exactly", Kind::exactly, count), deadline, here);
}

Promise<std::string> Stream::read_until(ByteView separator, Deadline deadline, Here here) {
    return state("read_until")
        .read(StreamRequest("read_until", Kind::until, separator.str()), deadline, here);
}

Promise<std::string> Stream::read_until(const std::vector<std::string>& separators,
                                        Deadline deadline, Here here) {
    return state("read_until")
        .read(StreamRequest("read_until", Kind::until, separators), deadline, here);
}

Promise<std::string> Stream::read_line(Deadline deadline, Here here) {
    return state("read_line")
        .read(StreamRequest("read_line", Kind::line, std::string(1, '\n')), deadline, here);
}

bool Stream::at_eof() const { return state("at_eof").at_eof(); }
void Stream::set_limit(std::size_t limit) { state("set_limit").set_limit(limit); }
std::size_t Stream::limit() const { return state("limit").limit(); }

// ---- writing --------------------------------------------------------------------------------

void Stream::write(ByteView bytes) { state("write").transport.write(bytes); }
void Stream::write(std::string&& bytes) { state("write").transport.write(std::move(bytes)); }
void Stream::write_lines(const std::vector<ByteView>& pieces) {
    state("write_lines").transport.write_lines(pieces);
}
void Stream::write_eof() { state("write_eof").transport.write_eof(); }

Promise<void> Stream::drain(Deadline deadline, Here here) {
    return state("drain").drain(deadline, here);
}

// ---- ending ---------------------------------------------------------------------------------

Promise<void> Stream::close(Here here) { return state("close").close(here); }

void Stream::abort() noexcept {
    if (state_) state_->abort();
}

bool Stream::is_closing() const { return state("is_closing").transport.is_closing(); }

const Transport& Stream::transport() const { return state("transport").transport; }

EventLoop& Stream::loop() const {
    EventLoop* const loop = state("loop").core.loop;
    if (!loop) throw StateError("loop: the event loop of this Stream is gone");
    return *loop;
}

}  // namespace net
}  // namespace reactor
