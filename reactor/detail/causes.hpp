// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_CAUSES_HPP
#define REACTOR_DETAIL_CAUSES_HPP

#include <reactor/clock.hpp>
#include <reactor/detail/node.hpp>
#include <reactor/timer_queue.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace reactor {
namespace detail {

class LoopCore;

/// A callback that scheduled another one, and when. An id of 0 is nobody: the main program, another
/// thread, or a time before the trace.
struct Cause {
    std::uint64_t id;
    TimePoint when;
};

/// Which callback scheduled each node of a loop, found out without a word from those who schedule.
/// Owned by the trace, used on its loop's thread.
///
/// The ready queue is a list to which only its end is added: what stands behind the end that was
/// seen last was queued since, by whatever ran since. A second queue goes along with it, with an
/// entry for each node: appended when it is seen there, taken when the node is.
///
///     ready queue   a ─ b ─ c ─ d ─ e     seen up to c: d and e were queued by what ran since
///     entries       1   2   3
///
/// Timers, which come into the queue when they are due, are told apart by their sequence: those of
/// the timers that a callback armed lie between what the TimerQueue counted before and after it.
/// Callbacks of descriptors were registered under the eyes of registered().
class Causes final : private TimerQueue::Renumbering {
public:
    struct Entry {
        std::uint64_t id;
        Cause cause;
    };

    explicit Causes(LoopCore& core);
    ~Causes();
    Causes(const Causes&) = delete;
    Causes& operator=(const Causes&) = delete;

    // All of these may throw std::bad_alloc, after which the object is of no further use.

    /// A node was just taken from the queue: its entry.
    Entry take();
    /// What comes from here on, until settle(), is the doing of `who`.
    void begin(const Cause& who) noexcept { running_ = who; }
    /// What was queued and armed since begin(), or since the last settle(), has this cause.
    void settle(const Cause& cause);
    /// What was queued since then is posts, events and due timers.
    void collected();
    void registered(const Node& watch, const Cause& cause);

    /// Who scheduled a node that is queued, armed or registered.
    Cause of(const Node& node) const;

private:
    // The timers armed with sequences in (after, last].
    struct Armed {
        std::uint32_t after;
        std::uint32_t last;
        Cause cause;
    };

    void append(const Node* node, const Cause& cause);
    Cause of_timer(std::uint32_t sequence) const noexcept;
    Cause of_event(const Node& node) const noexcept;
    void note_armed(const Cause& cause);
    void prune();
    void renumbered(std::uint32_t before, std::uint32_t now) noexcept override;
    void all_renumbered() noexcept override;
    static std::size_t place(const Node& watch) noexcept;

    LoopCore& core_;
    std::deque<Entry> queued_;
    Node** seen_;  // where the queue ended when it was looked at last
    Cause running_ = Cause();
    std::vector<Armed> armed_;       // by sequence
    std::vector<Armed> renumbered_;  // the same, while it is made anew
    std::uint32_t sequence_;         // the TimerQueue's when it was looked at last
    std::size_t prune_at_;
    std::vector<Cause> watches_;  // three for each descriptor
};

}  // namespace detail
}  // namespace reactor

#endif
