// SPDX-License-Identifier: BSL-1.0
#include <net/detail/socket_service.hpp>
#include <net/detail/transport_state.hpp>

#include <cerrno>
#include <system_error>

#include <sys/uio.h>

namespace reactor {
namespace net {
namespace detail {

namespace {

// So many pieces go into one call.
constexpr std::size_t pieces_per_call = 64;
// A peer that takes everything at once leaves the loop to others after so many calls.
constexpr int calls_per_turn = 16;
// asyncio's LOG_THRESHOLD_FOR_CONNLOST_WRITES (constants.py): a few writes that cross the end of
// the connection on their way are no mistake.
constexpr std::uint8_t silent_drops = 4;

}  // namespace

void TransportState::refuse_write(const char* call) const {
    throw StateError(std::string(call) + (can_write()
                                              ? ": write_eof() has ended the sending half"
                                              : ": the read end of a pipe cannot be written to"));
}

/// Everything but a write to an open socket, without a time limit, for which nothing waits.
void TransportState::write_otherwise(ByteView bytes, std::string* owned,
                                     const std::shared_ptr<const std::string>* shared) {
    if (eof_written_) refuse_write("write");
    if (bytes.empty()) return;
    if (over()) {
        count_dropped_write();
        return;
    }
    if (unsent_) {
        if (!refuse_flood()) write_rest(bytes, 0, owned, shared);
        return;
    }
    settle_write(send(bytes.data(), bytes.size()), bytes, owned, shared);
}

/// What the system has said to a write for which nothing waits.
void TransportState::settle_write(::ssize_t took, ByteView bytes, std::string* owned,
                                  const std::shared_ptr<const std::string>* shared) {
    if (took >= 0) {
        wrote_ = true;
        if (timed_) touch(&TimeLimits::output);
        if (static_cast<std::size_t>(took) != bytes.size()) {
            write_rest(bytes, static_cast<std::size_t>(took), owned, shared);
        }
    } else if (would_block(errno)) {
        write_rest(bytes, 0, owned, shared);
    } else {
        lose_by_system("send to", errno);
    }
}

/// Behind what waits, if anything does: else the system's buffer is full.
void TransportState::write_rest(ByteView bytes, std::size_t sent, std::string* owned,
                                const std::shared_ptr<const std::string>* shared) {
    try {
        OutputQueue& queue = open_output().queue;
        if (owned) {
            queue.append(std::move(*owned), sent);
        } else if (shared) {
            queue.append(*shared, sent);
        } else {
            queue.append(bytes.from(sent));
        }
        update_flow();
    } catch (...) {
        // What the peer has, and what is queued, would not fit together any more.
        lose(std::current_exception());
    }
}

void TransportState::write_lines(const std::vector<ByteView>& pieces) {
    if (eof_written_) refuse_write("write_lines");
    std::size_t size = 0;
    for (const ByteView& piece : pieces) size += piece.size();
    if (size == 0) return;
    if (over()) {
        count_dropped_write();
        return;
    }
    if (refuse_flood()) return;
    std::size_t sent = 0;  // of the pieces from `index` on
    std::size_t index = 0;
    if (!unsent_) {
        sent = send_at_once(pieces, index);
        if (index == pieces.size() || ending_) return;
    }
    try {
        OutputQueue& queue = open_output().queue;
        for (; index < pieces.size(); ++index, sent = 0) {
            if (sent < pieces[index].size()) queue.append(pieces[index].from(sent));
        }
        update_flow();
    } catch (...) {
        lose(std::current_exception());
    }
}

void TransportState::count_dropped_write() {
    if (dropped_writes_ < silent_drops) {
        ++dropped_writes_;
    } else if (core().loop) {
        core().loop->log(LogLevel::warning,
                         "net::Transport to " + peer() +
                             ": write() on a closing or lost connection: the bytes are dropped");
    }
}

/// `index` is the first piece that is not out, and so much of it is: if that is not the end, the
/// system's buffer is full, or the connection is lost.
std::size_t TransportState::send_at_once(const std::vector<ByteView>& pieces, std::size_t& index) {
    while (index < pieces.size()) {
        ::iovec vectors[pieces_per_call];
        std::size_t count = 0;
        std::size_t size = 0;
        for (; count < pieces_per_call && index + count < pieces.size(); ++count) {
            const ByteView& piece = pieces[index + count];
            vectors[count].iov_base = const_cast<char*>(piece.data());
            vectors[count].iov_len = piece.size();
            size += piece.size();
        }
        const ::ssize_t took = send(vectors, count);
        if (took < 0) {
            if (!would_block(errno)) lose_by_system("send to", errno);
            return 0;
        }
        wrote_ = true;
        if (timed_) touch(&TimeLimits::output);
        std::size_t sent = static_cast<std::size_t>(took);
        if (sent == size) {
            index += count;
            continue;
        }
        while (sent >= pieces[index].size()) sent -= pieces[index++].size();
        return sent;
    }
    return 0;
}

/// The queue, with the descriptor watched for room. Throws what the selector says.
TransportState::Output& TransportState::open_output() {
    if (unsent_) return *extras_->output;
    extras().output.reset(new Output);
    unsent_ = true;
    Output& output = *extras_->output;
    output.writer = make_node<&TransportState::writable>(core(), reactor::detail::NodeKind::writer,
                                                         "net::Transport writes");
    try {
        watch("write", output.writer);
    } catch (const std::system_error& error) {
        throw watch_refused(error, "send to");
    }
    if (timed_) {
        extras_->times.output = core().clock->now();
        arm();
    }
    return output;
}

/// Judged by what was waiting before: how long one write may be is the program's business.
bool TransportState::refuse_flood() noexcept {
    if (!unsent_ || unsent() < limits().hard) return false;
    lose_by_system("send to", ENOBUFS);
    return true;
}

void TransportState::writable() {
    const Keep keep(*this);
    for (int i = 0; i < calls_per_turn && unsent_; ++i) {
        if (!flush()) break;
    }
    if (!ending_) update_flow();
}

/// One call. False: the system takes no more now, or the connection is lost.
bool TransportState::flush() {
    OutputQueue& queue = extras_->output->queue;
    if (FileOperation* const file = queue.file()) return flush_file(*file);

    ::iovec pieces[pieces_per_call];
    const std::size_t count = queue.gather(pieces, pieces_per_call);
    std::size_t size = 0;
    for (std::size_t i = 0; i < count; ++i) size += pieces[i].iov_len;
    const ::ssize_t took = send(pieces, count);
    if (took < 0) {
        if (!would_block(errno)) lose_by_system("send to", errno);
        return false;
    }
    wrote_ = true;
    queue.consume(static_cast<std::size_t>(took));
    if (queue.empty()) output_empty();
    if (timed_) touch(&TimeLimits::output);
    return static_cast<std::size_t>(took) == size;
}

void TransportState::output_empty() noexcept {
    take_output();
    if (closing_) {
        end_soon();
    } else if (eof_written_) {
        shut_down();
    }
}

std::unique_ptr<TransportState::Output> TransportState::take_output() noexcept {
    if (!unsent_) return nullptr;
    unsent_ = false;
    std::unique_ptr<Output> output = std::move(extras_->output);
    drop_node(output->writer);
    return output;
}

void TransportState::write_eof() {
    if (over() || eof_written_) return;
    eof_written_ = true;
    if (pipe_) {
        close(false);  // it has but this half
    } else if (!unsent_) {
        shut_down();
    }
}

void TransportState::shut_down() noexcept {
    // It fails if the peer has reset the connection: reading, or the next write, will tell.
    service_->calls.end_sending(descriptor());
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
