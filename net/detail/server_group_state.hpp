// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_SERVER_GROUP_STATE_HPP
#define REACTOR_NET_DETAIL_SERVER_GROUP_STATE_HPP

#include <net/endpoint.hpp>
#include <reactor/event_loop.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

namespace reactor {
namespace net {
namespace detail {

/// What the loops of a ServerGroup share: how to reach each other, and how many clients each has if
/// the first one accepts for all:
///
///     acceptor on loop 0 ──give()──> post ──> server on loop 0, 1, 2, 0, … ──leave()──> room
///
/// On each loop it names what belongs to the group there: see server_site.hpp.
class ServerGroupState {
public:
    /// `most` clients on each loop, those on their way included.
    ServerGroupState(std::vector<Poster> loops, bool in_turn, std::size_t most);

    std::size_t size() const noexcept { return loops_.size(); }
    const Poster& loop(std::size_t index) const noexcept { return loops_[index]; }
    /// Whether the first loop accepts for all, else each for itself.
    bool in_turn() const noexcept { return in_turn_; }

    // ---- the acceptor's thread ----

    /// Whether no loop has room; if so, the acceptor hears when one has.
    bool is_full() noexcept;
    /// To the next loop that has room and has not ended; owns the descriptor from now on. Throws
    /// StateError if there is none: one that ends is known to have ended a moment later.
    static void give(const std::shared_ptr<ServerGroupState>& self, int descriptor,
                     const Endpoint& peer);

    // ---- any thread ----

    /// A client of that loop has gone.
    void leave(std::size_t index) noexcept;
    /// That loop ends: it has room no more.
    void loop_ends(std::size_t index) noexcept { seats_[index].ended.store(true); }

private:
    struct Seats {
        std::atomic<std::size_t> taken{0};
        std::atomic<bool> ended{false};  // the loop
    };

    bool has_room() const noexcept;

    const std::vector<Poster> loops_;
    const bool in_turn_;
    const std::size_t most_;
    std::vector<Seats> seats_;
    std::size_t turn_ = 0;  // the acceptor's
    std::atomic<bool> wanted_{false};
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
