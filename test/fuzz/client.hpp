// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_FUZZ_CLIENT_HPP
#define REACTOR_TEST_FUZZ_CLIENT_HPP

#include <net/detail/memory_random.hpp>
#include <net/endpoint.hpp>
#include <net/port.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/task_handle.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace fuzz {

using Random = reactor::net::detail::MemoryRandom;

/// Whom a client talks to.
struct Place {
    std::string host;  // empty: `address`
    reactor::net::Endpoint address;
    std::uint16_t port;
};

/// What one client of an echo is going to do. Drawn from a seed.
struct Plan {
    explicit Plan(Random& random);

    enum class End { half_close, close, abort, cancel };

    reactor::Duration start;
    std::size_t size;           // of what it sends, in all
    std::size_t largest_piece;  // of a write
    reactor::Duration longest_pause;
    std::size_t largest_read;
    bool reads_late;          // only after everything is written
    reactor::Duration limit;  // of one read; forever(): none
    End end;
    reactor::Duration cancel_after;
    std::uint64_t seed;  // of its bytes and pauses
};

/// What has become of it.
struct Story {
    bool connected = false;
    bool sent_all = false;   // and then its end
    bool saw_end = false;    // of what the server sends
    std::size_t sent = 0;    // written
    std::size_t echoed = 0;  // read, and right
    std::string wrong;       // what should never be; empty: nothing
    std::string error;       // what ended it; empty: nothing
};

/// One client: connects, writes and reads at the same time, ends as planned.
class Client {
public:
    Client(reactor::EventLoop& loop, const Place& place, const Plan& plan);
    ~Client();

    bool done() const;
    /// In words: plan and story.
    std::string text() const;
    const Plan& plan() const { return plan_; }
    const Story& story() const { return *story_; }

private:
    const Plan plan_;
    const std::shared_ptr<Story> story_;
    reactor::TaskHandle<void> task_;
    reactor::TimerHandle cancel_;
};

}  // namespace fuzz

#endif
