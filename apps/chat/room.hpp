// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_CHAT_ROOM_HPP
#define REACTOR_CHAT_ROOM_HPP

#include <net/protocol.hpp>
#include <reactor/clock.hpp>
#include <reactor/event_loop.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace chat {

/// What a Room is made with.
struct RoomOptions {
    std::size_t most_members = 1000;  // who comes then is turned away
    std::size_t longest_line = 1024;  // in bytes, without its end
    std::size_t longest_name = 32;
    std::size_t rate = 64 * 1024;  // how much each may say, in bytes a second

    std::size_t queue = 64 * 1024;  // a member for whom more than this waits is behind,
    reactor::Duration patience = std::chrono::seconds(10);  // is dropped when it stays so,
    std::size_t most_queued = 16 * 1024 * 1024;             // and at once with so much
};

/// What has come to pass in it so far.
struct RoomCounters {
    std::size_t present = 0;        // members
    std::uint64_t joined = 0;       // who became one
    std::uint64_t turned_away = 0;  // or not, since the room was full or closed
    std::uint64_t dropped = 0;      // for not reading
    std::uint64_t lines = 0;        // said
    std::uint64_t refused = 0;      // lines that were answered with what is wrong with them
};

/// A chat: what one member says, all others hear, in the same order.
///
///     member ──data──> Lines ──> one block of what was said ──(shared)──> queue of each other one
///
/// A block is stored once however many it waits for. Nobody waits for anybody:
///
///     more than `queue` waits for a member       ->  it is behind, and not listened to
///     and it does not catch up within `patience` ->  dropped: what waits for it is let go
///     it says more than `rate`                   ->  it is not read for a while
///     it is silly                                ->  it is told so, in a line that begins with "!"
///
/// Used on its loop's thread. The connections belong to the loop: they go on when the room has been
/// destroyed.
class Room {
public:
    Room(reactor::EventLoop& loop, const RoomOptions& options);
    ~Room();
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;

    /// The protocol of a member's connection: what create_server() asks its factory for.
    std::unique_ptr<reactor::net::Protocol> serve_member();

    /// Tells every member, and ends its connection once everything has been sent. Nobody gets in
    /// any more.
    void close(const std::string& word);

    const RoomCounters& counters() const noexcept;

private:
    struct State;
    class Member;

    std::shared_ptr<State> state_;
};

}  // namespace chat

#endif
