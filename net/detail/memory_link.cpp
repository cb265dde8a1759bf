// SPDX-License-Identifier: BSL-1.0
#include <net/detail/memory_link.hpp>
#include <reactor/selector.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <sys/uio.h>

namespace reactor {
namespace net {
namespace detail {

namespace {

// Linux's net.ipv4.tcp_retries2: 15 retransmissions of what nobody acknowledges.
constexpr Duration longest_unanswered = std::chrono::seconds(924);

std::string bytes_of(std::size_t size) {
    return std::to_string(size) + (size == 1 ? " byte" : " bytes");
}

int refuse(int code) noexcept {
    errno = code;
    return -1;
}

constexpr unsigned everything = Interest::read | Interest::write | Interest::urgent;

}  // namespace

MemoryLink::~MemoryLink() {
    for (End& end : ends_) {
        lose(end.input);
        lose(end.output);
    }
}

// ---- the program's calls --------------------------------------------------------------------

::ssize_t MemoryLink::receive(int side, char* room, std::size_t size) {
    End& end = ends_[side];
    if (!end.input.empty()) {
        const std::size_t unread = end.input.size();
        std::size_t count = std::min(size, unread);
        if (count > 1 && world_.random.chance(world_.options.short_reads)) {
            count = 1 + world_.random.below(count);
        }
        std::memcpy(room, end.input.view().data(), count);
        end.input.drop(count);
        world_.counters.bytes_received += count;
        world_.note(name(end) + " reads " + std::to_string(count) + " of " + bytes_of(unread));
        transmit(1 - side);  // there is room in the window
        return static_cast<::ssize_t>(count);
    }
    // TCP forgets an error once it has said that the peer has ended its half; a Unix socket says
    // the error first.
    const bool ended = end.end_received && kind_ == Kind::tcp;
    if (!ended && !end.connecting && end.error != 0) {
        const int code = take_error(side);
        world_.note(name(end) + " reads: " + std::strerror(code));
        return refuse(code);
    }
    if (end.end_received || end.over) {
        world_.note(name(end) + " reads the end");
        return 0;
    }
    return refuse(EAGAIN);
}

::ssize_t MemoryLink::send(int side, const ::iovec* pieces, std::size_t count) {
    End& end = ends_[side];
    if (end.connecting) return refuse(EAGAIN);
    if (kind_ == Kind::tcp && end.error != 0) {
        const int code = take_error(side);
        world_.note(name(end) + " sends: " + std::strerror(code));
        return refuse(code);
    }
    if (end.end_sent || end.over) {
        world_.note(name(end) + " sends: " + std::strerror(EPIPE));
        return refuse(EPIPE);
    }
    std::size_t wanted = 0;
    for (std::size_t i = 0; i < count; ++i) wanted += pieces[i].iov_len;
    std::size_t size = std::min(wanted, room(side));
    if (size == 0 && wanted != 0) {
        world_.note(name(end) + " sends: no room");
        return refuse(EAGAIN);
    }
    if (size > 1 && world_.random.chance(world_.options.short_writes)) {
        size = 1 + world_.random.below(size);
    }
    world_.note(name(end) + " sends " + std::to_string(size) + " of " + bytes_of(wanted));
    append(side, pieces, count, size);
    world_.counters.bytes_sent += size;
    transmit(side);
    return static_cast<::ssize_t>(size);
}

void MemoryLink::append(int side, const ::iovec* pieces, std::size_t count, std::size_t size) {
    StreamBuffer& to = kind_ == Kind::local ? peer(side).input : ends_[side].output;
    for (std::size_t i = 0; i < count && size != 0; ++i) {
        const std::size_t part = std::min(pieces[i].iov_len, size);
        to.keep(ByteView(static_cast<const char*>(pieces[i].iov_base), part));
        size -= part;
    }
}

int MemoryLink::end_sending(int side) {
    End& end = ends_[side];
    if (end.connecting || (kind_ == Kind::tcp && end.over)) return refuse(ENOTCONN);
    if (end.end_sent) return 0;
    world_.note(name(end) + " ends its half");
    end.end_sent = true;
    if (kind_ == Kind::local) peer(side).end_received = true;
    transmit(side);
    return 0;
}

void MemoryLink::close(int side) {
    End& end = ends_[side];
    const bool unread = !end.input.empty();
    end.open = false;
    world_.note(name(end) + " closes" + (unread ? ", unread " + bytes_of(end.input.size()) : ""));
    lose(end.input);
    if (kind_ == Kind::local) {
        End& other = peer(side);
        end.over = other.over = other.end_received = true;
        if (unread && other.open) other.error = ECONNRESET;
        return;
    }
    if (end.over) return;
    // Linux's state CLOSE: nothing is left to be reset.
    const bool finished = end.end_received && peer(side).end_received;
    if (end.connecting) {
        end.connecting = false;
        end.over = true;
    } else if ((unread || end.reset_on_close) && !finished) {
        send_reset(side);
    } else if (!end.end_sent) {
        end.end_sent = true;
        transmit(side);
    }
}

int MemoryLink::take_error(int side) noexcept {
    const int code = ends_[side].error;
    ends_[side].error = 0;
    return code;
}

std::size_t MemoryLink::used(int side) const noexcept {
    return kind_ == Kind::local ? ends_[1 - side].input.size() : ends_[side].output.size();
}

std::size_t MemoryLink::room(int side) const noexcept {
    return world_.options.send_buffer - std::min(world_.options.send_buffer, used(side));
}

unsigned MemoryLink::ready(int side) const noexcept {
    const End& end = ends_[side];
    if (end.connecting) return 0;
    if (end.error != 0 || end.over || (end.end_sent && end.end_received)) return everything;
    unsigned bits = 0;
    if (!end.input.empty() || end.end_received) bits |= Interest::read;
    // Not for every byte: a sender would be woken for each. Linux says it at a third.
    if (end.end_sent || (room(side) != 0 && room(side) >= used(side) / 2)) bits |= Interest::write;
    return bits;
}

// ---- under way ------------------------------------------------------------------------------

TimePoint MemoryLink::arrival(int side, std::size_t size) {
    End& end = ends_[side];
    end.line_free = std::max(end.line_free, world_.now());
    if (world_.options.bandwidth != 0) {
        const std::uint64_t nanoseconds = std::uint64_t(1000000000) * size;
        end.line_free +=
            Duration(static_cast<Duration::rep>(nanoseconds / world_.options.bandwidth));
    }
    end.last_arrival = std::max(end.last_arrival, end.line_free + world_.latency());
    return end.last_arrival;
}

void MemoryLink::hold_back(int side, TimePoint until) noexcept {
    peer(side).last_arrival = std::max(peer(side).last_arrival, until);
}

/// Sends what the peer's window allows, and then the end.
void MemoryLink::transmit(int side) {
    End& from = ends_[side];
    if (kind_ == Kind::local || from.over || from.connecting) return;
    if (silent_) {
        if (!from.output.empty() || (from.end_sent && !from.end_flying)) give_up_later(side);
        return;
    }
    const auto self = shared_from_this();
    const std::size_t window_size = world_.options.receive_buffer;
    const unsigned epoch = from.epoch;
    while (from.flying < from.output.size()) {
        const std::size_t taken = peer(side).input.size() + from.flying;
        const std::size_t window = window_size - std::min(window_size, taken);
        const std::size_t waiting = from.output.size() - from.flying;
        const std::size_t size = std::min({waiting, window, world_.options.largest_segment});
        // Not in crumbs as the reader reads (RFC 9293's silly window syndrome).
        if (size == 0 || (size < waiting && window < window_size / 4)) return;
        from.flying += size;
        world_.at(arrival(side, size),
                  [self, side, size, epoch] { self->segment_arrives(1 - side, size, epoch); });
        if (world_.random.chance(world_.options.resets)) reset_both();
    }
    if (from.end_sent && !from.end_flying) {
        from.end_flying = true;
        world_.at(arrival(side, 0), [self, side] { self->end_arrives(1 - side); });
    }
}

void MemoryLink::segment_arrives(int side, std::size_t size, unsigned epoch) {
    End& to = ends_[side];
    End& from = peer(side);
    if (epoch != from.epoch) return;
    if (silent_) {
        give_up_later(1 - side);
        return;
    }
    from.flying -= size;
    if (to.open && !to.over) {
        to.input.keep(from.output.view().from(0, size));
        from.output.drop(size);
        world_.note(name(to) + " gets " + bytes_of(size));
        return;
    }
    from.output.drop(size);
    world_.counters.bytes_lost += size;
    if (to.over) return;
    world_.note(name(to) + " is closed, and gets " + bytes_of(size));
    send_reset(side);
}

void MemoryLink::end_arrives(int side) {
    End& to = ends_[side];
    if (silent_) {
        give_up_later(1 - side);
        return;
    }
    if (to.over) return;
    to.end_received = true;
    if (to.open) world_.note(name(to) + " gets the end");
}

void MemoryLink::send_reset(int side) {
    End& end = ends_[side];
    world_.note(name(end) + " resets");
    end.over = true;
    // What flies arrives before it, what waits is not sent any more.
    const std::size_t waiting = end.output.size() - end.flying;
    world_.counters.bytes_lost += waiting;
    StreamBuffer flying;
    flying.keep(end.output.view().from(0, end.flying));
    std::swap(end.output, flying);
    const auto self = shared_from_this();
    world_.at(arrival(side, 0), [self, side] {
        if (!self->silent_) self->reset_arrives(1 - side, ECONNRESET);
    });
}

void MemoryLink::reset_arrives(int side, int code) {
    End& to = ends_[side];
    if (to.over) return;
    const bool connected = !to.connecting;
    to.over = true;
    to.connecting = false;
    // Linux's state CLOSE_WAIT.
    to.error = code == ECONNRESET && to.end_received && !to.end_sent ? EPIPE : code;
    lose(to.output);
    to.flying = 0;
    ++to.epoch;
    if (!to.open) return;
    world_.note(name(to) + " is told: " + std::strerror(code));
    ++(connected ? world_.counters.resets : world_.counters.refused);
    if (world_.options.reset_takes_unread && !to.input.empty()) {
        lose(to.input);
        // An end that was behind it has gone with it: else this would look like all there was.
        to.end_received = false;
        to.error = code;
    }
}

void MemoryLink::fail(int side, int code) { reset_arrives(side, code); }

void MemoryLink::reset_both() {
    world_.note("between " + name(ends_[0]) + " and " + name(ends_[1]) + " a reset");
    const auto self = shared_from_this();
    for (const int side : {0, 1}) {
        world_.at(world_.now() + world_.latency(), [self, side] {
            if (!self->silent_) self->reset_arrives(side, ECONNRESET);
        });
    }
}

void MemoryLink::silence() noexcept {
    silent_ = true;
    for (const int side : {0, 1}) {
        if (!ends_[side].output.empty()) give_up_later(side);
    }
}

void MemoryLink::give_up_later(int side) {
    if (ends_[side].gives_up) return;
    ends_[side].gives_up = true;
    const auto self = shared_from_this();
    world_.at(world_.now() + longest_unanswered,
              [self, side] { self->reset_arrives(side, ETIMEDOUT); });
}

void MemoryLink::lose(StreamBuffer& bytes) noexcept {
    world_.counters.bytes_lost += bytes.size();
    bytes.clear();
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
