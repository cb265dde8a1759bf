// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_FUZZ_GUEST_HPP
#define REACTOR_TEST_FUZZ_GUEST_HPP

#include "client.hpp"

#include <apps/lines/lines.hpp>

#include <net/transport.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace fuzz {

/// What one guest of a chat room is going to do. Drawn from a seed.
struct GuestPlan {
    GuestPlan(Random& random, std::size_t longest_line);

    /// The first three are there until the room ends.
    enum class Kind { calm, pauses, stalls, quits, closes, resets };

    bool stays() const { return kind == Kind::calm || kind == Kind::pauses; }

    Kind kind;
    reactor::Duration start;
    std::size_t lines;    // that it says
    std::size_t longest;  // of the room, in bytes
    reactor::Duration longest_pause;
    reactor::Duration stall_after, stall_for;  // it does not read then
    bool has_name;
    bool is_silly;  // says what is no line among it
    std::uint64_t seed;
};

/// One guest, by callbacks: joins, says its lines, looks whether it hears what the others say, and
/// ends as planned. Owned by the scenario, which outlives its connection.
class Guest {
public:
    /// A guest's line begins with its number, and so tells what the whole of it must be.
    Guest(reactor::EventLoop& loop, const Place& place, const GuestPlan& plan, std::size_t number,
          std::size_t guests);
    ~Guest();
    Guest(const Guest&) = delete;
    Guest& operator=(const Guest&) = delete;

    /// Ends the connection if it is there still.
    void abort();

    std::string text() const;  // plan and story, in words
    const GuestPlan& plan() const { return plan_; }

    // What has become of it.
    bool welcomed() const { return welcomed_; }
    bool turned_away() const { return turned_away_; }
    bool told() const { return told_; }  // that the room ends
    /// Everything that it wanted to say has been looked at, as the room has answered.
    bool settled() const { return settled_; }
    const std::string& wrong() const { return wrong_; }  // what should never be; empty: nothing
    std::size_t heard() const { return heard_; }
    /// Whether all that the other one has said has come, provided that it had to.
    bool misses_lines_of(const Guest& other) const;

private:
    class Visit;

    void connect();
    void made(const reactor::net::Transport& transport);
    void speak();
    void take(const std::string& line);
    void hear(const std::string& text);
    void stall();
    std::string line(std::size_t number, std::size_t index) const;
    void fault(const std::string& what);

    reactor::EventLoop& loop_;
    const Place place_;
    const GuestPlan plan_;
    const std::size_t number_;
    Random random_;
    reactor::Promise<reactor::net::Transport> connecting_;
    reactor::net::Transport transport_;
    lines::Lines lines_;
    reactor::TimerHandle next_, stall_;
    bool over_ = false;

    std::size_t said_ = 0, bad_ = 0, complaints_ = 0, heard_ = 0;
    bool welcomed_ = false, turned_away_ = false, told_ = false, settled_ = false;
    reactor::TimePoint welcomed_at_, spoke_at_;
    /// Which line of each other one must come next; none has come: `nothing`.
    std::vector<std::size_t> expected_;
    std::vector<std::size_t> first_;
    std::string wrong_, error_;
};

}  // namespace fuzz

#endif
