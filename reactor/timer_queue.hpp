// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TIMER_QUEUE_HPP
#define REACTOR_TIMER_QUEUE_HPP

#include <reactor/clock.hpp>
#include <reactor/detail/node.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace reactor {

/// The armed timers of a loop: a 4-ary heap by (deadline, order of arming). Owned by the loop; only
/// the loop's thread may use it. asyncio: loop._scheduled.
///
/// An entry has 16 bytes, {deadline, sequence, index of the node}, so four children share a cache
/// line and comparing them touches no node. Pushing a deadline back only writes it into the node:
/// the entry is corrected when it surfaces. Cancelled entries stay until they surface or outnumber
/// the live ones.
class TimerQueue {
public:
    using Node = detail::TimerNode;

    TimerQueue();
    ~TimerQueue();
    TimerQueue(const TimerQueue&) = delete;
    TimerQueue& operator=(const TimerQueue&) = delete;

    /// A node for a timer that is not armed yet, with one reference, the caller's.
    Node* take();
    /// Takes back a node without references, whose callable is gone.
    void recycle(Node* node) noexcept;
    /// How many nodes were taken and not taken back yet.
    std::size_t nodes_out() const noexcept { return nodes_out_; }

    /// Arms `node` for `when`; the heap keeps a reference of its own. Strong guarantee.
    void arm(Node* node, TimePoint when);
    /// Moves the deadline of an armed node: later costs nothing, earlier costs an arm().
    void rearm(Node* node, TimePoint when);
    /// An armed node has been cancelled: its `in_heap` is false already. When more than 100 entries
    /// are in the heap and more than half of them dead, the dead ones are removed.
    void note_cancelled() noexcept;

    /// The earliest deadline; never() if nothing is armed. Removes dead entries from the head.
    TimePoint next_deadline();
    /// Takes the timer that is due first: armed, `when <= now`; null if none. The heap's reference
    /// passes to the caller.
    Node* pop_due(TimePoint now);

    /// Takes any one armed node out of the heap, with the heap's reference; null when none is left:
    /// for closing a loop.
    Node* pop_any() noexcept;

    bool empty() const noexcept { return heap_.empty(); }
    /// Entries, dead ones included; how many are dead. For tests and inspection.
    std::size_t entries() const noexcept { return heap_.size(); }
    std::size_t dead_entries() const noexcept { return dead_; }

    /// Calls visit(const Node&) for each armed timer, in no particular order.
    template <class F>
    void for_each(F visit) const {
        for (const Entry& entry : heap_) {
            const Node& node = *at(entry.index);
            if (valid(entry, node)) visit(node);
        }
    }

private:
    struct Entry {
        TimePoint when;
        std::uint32_t sequence;
        std::uint32_t index;

        // Sequence numbers wrap: the earlier of two is the one that the other is ahead of.
        bool before(const Entry& other) const noexcept {
            if (when != other.when) return when < other.when;
            return static_cast<std::int32_t>(sequence - other.sequence) < 0;
        }
    };

    static constexpr std::size_t arity = 4;

    Node* at(std::uint32_t index) const noexcept {
        return slabs_[index >> slab_bits_].get() + (index & ((1u << slab_bits_) - 1));
    }
    bool valid(const Entry& entry, const Node& node) const noexcept {
        return node.ops && node.in_heap && node.armed == entry.when &&
               node.armed_sequence == entry.sequence;
    }
    void push(Node* node, TimePoint when);
    void sift_up(std::size_t hole, Entry entry) noexcept;
    void sift_down(std::size_t hole, Entry entry) noexcept;
    void pop_head() noexcept;
    void drop_dead(Node* node) noexcept;
    void purge_if_worthwhile() noexcept;
    bool settle_head();
    void purge() noexcept;
    void add_slab();

    std::vector<Entry> heap_;
    std::size_t dead_ = 0;
    std::size_t nodes_out_ = 0;
    // Comes round soon, as Linux' jiffies do: what happens then happens in every program's tests.
    std::uint32_t sequence_ = 0u - 200u;
    // Nodes are named by index, so they live in slabs. With pooling off a slab is one node, freed
    // when it is recycled.
    unsigned slab_bits_;
    std::vector<std::unique_ptr<Node[]>> slabs_;
    std::vector<std::uint32_t> free_indices_;  // of freed slabs, when pooling is off
    detail::Node* free_ = nullptr;
};

}  // namespace reactor

#endif
