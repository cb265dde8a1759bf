// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_MEMORY_LINK_HPP
#define REACTOR_NET_DETAIL_MEMORY_LINK_HPP

#include <net/detail/memory_world.hpp>
#include <net/detail/stream_buffer.hpp>
#include <net/endpoint.hpp>
#include <reactor/clock.hpp>

#include <cstddef>
#include <memory>
#include <string>

#include <sys/types.h>

struct iovec;

namespace reactor {
namespace net {
namespace detail {

/// One connection in memory: two ends, each with a program or none any more, and what is under way
/// between them. TCP as Linux has it, or a pair of Unix sockets, on which nothing takes time. Kept
/// by the sockets of its ends and by what is under way. Side 0 is the one that has connected.
///
///     write ─> output: | flying | waiting | ──latency──> input: | unread | ─> read
///                             flying + unread <= receive_buffer
class MemoryLink : public std::enable_shared_from_this<MemoryLink> {
public:
    enum class Kind { tcp, local };

    struct End {
        unsigned id = 0;  // in the diary
        Endpoint local;
        bool open = false;  // a program has it, or will get it from accept()
        bool connecting = false;
        bool end_sent = false;    // by the program
        bool end_flying = false;  // on its way, behind all bytes
        bool end_received = false;
        bool reset_on_close = false;
        bool gives_up = false;  // a time is set for it
        bool over = false;  // nothing comes or goes: reset, or refused; of a local one: peer gone
        int error = 0;      // what the next call is told, once
        StreamBuffer input;
        StreamBuffer output;
        std::size_t flying = 0;
        unsigned epoch = 0;  // what flew before a reset is void
        TimePoint line_free;
        TimePoint last_arrival;  // nothing overtakes
    };

    MemoryLink(MemoryWorld& world, Kind kind) : world_(world), kind_(kind) {}
    ~MemoryLink();
    MemoryLink(const MemoryLink&) = delete;
    MemoryLink& operator=(const MemoryLink&) = delete;

    End& end(int side) noexcept { return ends_[side]; }
    Kind kind() const noexcept { return kind_; }

    // ---- calls of the program at that side: as the system calls answer ----

    ::ssize_t receive(int side, char* room, std::size_t size);
    ::ssize_t send(int side, const ::iovec* pieces, std::size_t count);
    int end_sending(int side);
    void close(int side);
    /// The error that waits, which is told once.
    int take_error(int side) noexcept;
    /// Bits of Interest.
    unsigned ready(int side) const noexcept;

    // ---- what happens to it ----

    /// This side gives up a connection that has not come about, or that was refused.
    void fail(int side, int code);
    /// Somebody between the two resets both.
    void reset_both();
    void silence() noexcept;
    bool silent() const noexcept { return silent_; }
    /// What goes to this side arrives later than that.
    void hold_back(int side, TimePoint until) noexcept;

private:
    End& peer(int side) noexcept { return ends_[1 - side]; }
    static std::string name(const End& end) { return '#' + std::to_string(end.id); }

    std::size_t room(int side) const noexcept;
    std::size_t used(int side) const noexcept;
    void append(int side, const ::iovec* pieces, std::size_t count, std::size_t size);
    void transmit(int side);
    /// When what this side sends now arrives.
    TimePoint arrival(int side, std::size_t size);
    void segment_arrives(int side, std::size_t size, unsigned epoch);
    void end_arrives(int side);
    void send_reset(int side);
    void reset_arrives(int side, int code);
    void give_up_later(int side);
    void lose(StreamBuffer& bytes) noexcept;

    MemoryWorld& world_;
    const Kind kind_;
    End ends_[2];
    bool silent_ = false;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
