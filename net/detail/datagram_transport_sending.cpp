// SPDX-License-Identifier: BSL-1.0
#include <net/detail/datagram_transport_state.hpp>

#include <net/detail/socket_service.hpp>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

namespace reactor {
namespace net {
namespace detail {

using reactor::detail::NodeKind;

namespace {

// A system that takes everything at once leaves the loop to others after so many calls.
constexpr int calls_per_turn = 16;
// asyncio's LOG_THRESHOLD_FOR_CONNLOST_WRITES (constants.py): a few that cross the end on their way
// are no mistake.
constexpr std::uint8_t silent_drops = 4;
// Callbacks that wait for a program which sends in a loop what cannot be sent: they take memory.
constexpr unsigned most_errors = 16;

}  // namespace

void DatagramTransportState::send(ByteView bytes) {
    if (remote_.empty()) {
        throw StateError("send: the endpoint has no remote address: use send_to()");
    }
    const Endpoint the_peer;
    send_soon(bytes, socket_.is_connected() ? the_peer : remote_);  // not so with allow_broadcast
}

void DatagramTransportState::send_to(ByteView bytes, const Endpoint& to) {
    if (to.empty()) throw std::invalid_argument("send_to: the address is empty");
    if (remote_.empty()) {
        send_soon(bytes, to);
        return;
    }
    if (to != remote() && to != remote_) {
        throw std::invalid_argument("send_to: " + to.str() + " is not " + remote().str() +
                                    ", which is the remote address of this endpoint");
    }
    send(bytes);
}

/// Now, if nothing waits and the system takes it; inside a batch, behind that. To the peer if `to`
/// is empty.
void DatagramTransportState::send_soon(ByteView bytes, const Endpoint& to) {
    if (over()) {
        count_dropped();
        return;
    }
    if (service_->gathering.is_open() && gather(bytes, to)) return;
    try {
        if (output_.empty()) {
            if (socket_.send(bytes, to) >= 0) return;
            const int code = errno;
            if (!would_block(code)) {
                refused(code, bytes.size(), to);
                return;
            }
        }
        enqueue(bytes, to);
    } catch (...) {
        lose(std::current_exception());
    }
}

/// False: it goes its own way, behind those that are gathered.
bool DatagramTransportState::gather(ByteView bytes, const Endpoint& to) noexcept {
    DatagramGathering& gathering = service_->gathering;
    const bool fits = bytes.size() <= DatagramGathering::longest;
    DatagramTransportState* const owner = gathering.owner();
    if (owner && (owner != this || !fits || !gathering.has_room(bytes.size()))) {
        owner->flush_gathered();
        if (over()) return true;  // lost by that, and this one with it
    }
    if (!fits || !output_.empty()) return false;
    gathering.add(*this, bytes, to);
    return true;
}

/// As if each had been sent alone, also in what is told of it, which comes behind what the program
/// has queued meanwhile. Of an error in the middle: see flush().
void DatagramTransportState::flush_gathered() noexcept {
    DatagramGathering& gathered = service_->gathering;
    unsigned next = 0;
    try {
        while (next != gathered.count()) {
            const int sent = socket_.send(gathered, next);
            if (sent >= 0) {
                next += static_cast<unsigned>(sent);
                continue;
            }
            const int code = errno;
            if (would_block(code)) break;
            refused(code, gathered.bytes(next).size(), gathered.to(next));
            ++next;
        }
        for (; next != gathered.count(); ++next) enqueue(gathered.bytes(next), gathered.to(next));
        gathered.clear();
    } catch (...) {
        lose(std::current_exception());
    }
}

/// By the system, inside a call of the program's.
void DatagramTransportState::refused(int code, std::size_t size, const Endpoint& to) {
    if (errors_queued_ < most_errors) tell_error_soon(socket_.send_error(code, size, to));
}

/// Behind those that wait.
void DatagramTransportState::enqueue(ByteView bytes, const Endpoint& to) {
    if (weight() < limits_.hard) {
        append(bytes, to);
        update_flow();
        return;
    }
    if (!flood_told_) tell_error_soon(socket_.send_error(ENOBUFS, bytes.size(), to));
    flood_told_ = true;
}

void DatagramTransportState::append(ByteView bytes, const Endpoint& to) {
    output_.push_back({bytes.str(), to});
    unsent_ += bytes.size();
    flood_told_ = false;
    if (writer_ || asking_) return;
    writer_ = make_node(NodeKind::writer, "net::DatagramTransport sends",
                        &DatagramTransportState::writable);
    try {
        watch("send", writer_);
    } catch (const std::system_error& error) {
        throw watch_error(error, "send to", to.empty() ? socket_.peer() : to);
    }
}

void DatagramTransportState::count_dropped() {
    if (dropped_ < silent_drops) {
        ++dropped_;
    } else if (core.loop) {
        core.loop->log(LogLevel::warning,
                       name() + ": a datagram for a closing or lost endpoint is dropped");
    }
}

/// Room has come, or is to be asked for.
void DatagramTransportState::writable() {
    const Keep keep(*this);
    try {
        flush();
        if (!ending_) update_flow();
    } catch (const std::bad_alloc&) {
        lose(std::current_exception());
    }
}

/// The first error ends it: those behind the one that has failed go out with the next event, as its
/// error may have been heard of by then.
///
/// If the middle one of a call fails, the system says how many are out and forgets why: the next
/// call begins with that one. What was wrong with itself it meets again; what the network says of
/// an earlier datagram is lost, but then it goes out, and draws an answer of its own.
void DatagramTransportState::flush() {
    for (int i = 0; i < calls_per_turn && !output_.empty(); ++i) {
        int sent = socket_.send(output_);
        if (sent < 0) {
            const int code = errno;
            if (would_block(code)) {
                if (i == 0) socket_.drop_notes();
                wait_for_room();
                return;
            }
            const OutgoingDatagram& failed = output_.front();
            const std::system_error error =
                socket_.send_error(code, failed.bytes.size(), failed.to);
            drop_first();
            if (asking_) wait_for_room();
            if (!ending_) update_flow();
            tell_error(error);  // last: it may do anything, and a LoopExit leaves from here
            return;
        }
        pause_.reset();
        while (sent-- > 0) drop_first();
    }
    if (asking_) wait_for_room();
}

void DatagramTransportState::drop_first() noexcept {
    unsent_ -= output_.front().bytes.size();
    output_.pop_front();
    if (!output_.empty()) return;
    drop_queue();
    if (closing_) end_soon();
}

/// An event that does not tell of room would come again and again for nothing.
void DatagramTransportState::wait_for_room() {
    if (output_.empty()) return;
    if (socket_.tells_of_room(output_.front().to) && !asking_) return;  // the watch goes on
    asking_ = true;                                                     // until the queue is empty
    drop_node(writer_);
    retry_ = core.loop->call_later(Options().label("net::DatagramTransport asks for room"),
                                   pause_.next(), &DatagramTransportState::writable, this);
}

void DatagramTransportState::stop_waiting_for_room() noexcept {
    drop_node(writer_);
    retry_.cancel();
    asking_ = false;
    pause_.reset();
}

void DatagramTransportState::drop_queue() noexcept {
    output_.clear();
    output_.shrink_to_fit();  // not by a swap with a new one, which takes memory to be made
    unsent_ = 0;
    stop_waiting_for_room();
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
