// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TIMER_QUEUE_HPP
#define REACTOR_TIMER_QUEUE_HPP

#include <reactor/clock.hpp>
#include <reactor/detail/cache_line.hpp>
#include <reactor/detail/node.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace reactor {

/// The armed timers of a loop: a 4-ary heap by (deadline, order of arming). Owned by the loop; only
/// the loop's thread may use it. asyncio: loop._scheduled.
///
/// An entry has 16 bytes, {deadline, sequence, index of the node}, and the four children of an
/// entry are one cache line. An entry is valid as long as its sequence is noted for its index: a
/// dense array tells, no node is touched, and a node may be used again while stale entries of it
/// are still about. Pushing a deadline back only writes it into the node: the entry is corrected
/// when it surfaces. Stale entries stay until they surface or outnumber the valid ones.
class TimerQueue {
public:
    using Node = detail::TimerNode;

    TimerQueue();
    ~TimerQueue();
    TimerQueue(const TimerQueue&) = delete;
    TimerQueue& operator=(const TimerQueue&) = delete;

    /// A node for a timer that is not armed yet, with one reference, the caller's.
    Node* take() {
        if (free_count_ == 0) add_slab();
        Node* const node = at(free_[--free_count_]);
        node->label = nullptr;
        node->renew(detail::NodeKind::timer, detail::NodeRoom::full);
        node->missed = 0;
        ++nodes_out_;
        return node;
    }
    /// Takes back a node without references, whose callable is gone.
    void recycle(Node* node) noexcept {
        --nodes_out_;
        if (slab_bits_ == 0) {
            free_slab(node->key);
        } else {
            free_[free_count_++] = node->key;
        }
    }
    /// How many nodes were taken and not taken back yet.
    std::size_t nodes_out() const noexcept { return nodes_out_; }

    /// Arms `node` for `when`; the heap keeps a reference of its own. Strong guarantee.
    void arm(Node* node, TimePoint when) {
        push(node, when, next_sequence());
        node->arm();
    }
    /// Moves the deadline of an armed node: later costs nothing, earlier costs an arm().
    void rearm(Node* node, TimePoint when) {
        const std::uint32_t sequence = next_sequence();  // which may bring the entry up to date
        if (when < node->entry_when) {
            pull(node, when, sequence);
        } else {
            node->when = when;
            node->sequence = sequence;
        }
    }
    /// Takes an armed node out of the order; the heap's reference passes to the caller. When more
    /// than 100 entries are in the heap and more than half of them stale, those are removed.
    void disarm(Node* node) noexcept {
        node->disarm();
        valid_[node->key] = no_sequence;
        ++dead_;
        purge_if_worthwhile();
    }

    /// The earliest deadline; never() if nothing is armed. Removes dead entries from the head.
    TimePoint next_deadline() { return settle_head(never()) ? heap_.front().when : never(); }
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

    /// The last sequence that was given out: what is armed between two looks at it has those in
    /// between, but for a renumbering.
    std::uint32_t sequence() const noexcept { return sequence_; }
    /// Is told of a renumbering, which comes once in four thousand million armings (and early in
    /// each program): the armed timers, first to last, with their sequences before and after.
    class Renumbering {
    public:
        virtual void renumbered(std::uint32_t before, std::uint32_t now) noexcept = 0;
        virtual void all_renumbered() noexcept = 0;

    protected:
        ~Renumbering() = default;
    };
    /// One at a time, null for none; borrowed.
    void set_renumbering(Renumbering* listener) noexcept { renumbering_ = listener; }

    /// Calls visit(const Node&) for each armed timer, in no particular order.
    template <class F>
    void for_each(F visit) const {
        for (const Entry& entry : heap_) {
            if (valid(entry)) visit(*at(entry.index));
        }
    }

private:
    struct Entry {
        std::uint32_t index;
        std::uint32_t sequence;
        TimePoint when;
    };

    static constexpr std::size_t arity = 4;
    static constexpr std::uint32_t no_sequence = 0;
    // asyncio's constants (base_events.py): below a hundred entries a clean-up saves nothing, and
    // with at least half of the entries dead each removal is paid for by what made it dead.
    static constexpr std::size_t purge_minimum = 100;

    struct FreeSlab {
        void operator()(detail::TimerSlot* slots) const noexcept { detail::put_aligned(slots); }
    };
    using Slab = std::unique_ptr<detail::TimerSlot, FreeSlab>;

    Node* at(std::uint32_t index) const noexcept {
        return &(slabs_[index >> slab_bits_].get() + (index & ((1u << slab_bits_) - 1)))->node;
    }
    bool valid(const Entry& entry) const noexcept { return valid_[entry.index] == entry.sequence; }
    std::uint32_t next_sequence() noexcept {
        if (sequence_ == last_sequence) renumber();
        return ++sequence_;
    }
    void purge_if_worthwhile() noexcept {
        // asyncio looks once per iteration; here at each change, so that nothing piles up inside
        // one callback.
        if (heap_.size() > purge_minimum && dead_ > heap_.size() / 2) purge();
    }
    // As one number where there are such: 1 or 0 without a branch. Which of two children comes
    // first is random, and no processor foresees it.
    static std::size_t before(const Entry& a, const Entry& b) noexcept {
#ifdef __SIZEOF_INT128__
        return order(a) < order(b);
#else
        return static_cast<std::size_t>((a.when < b.when) |
                                        ((a.when == b.when) & (a.sequence < b.sequence)));
#endif
    }
#ifdef __SIZEOF_INT128__
    __extension__ using Order = __int128;
    // The index is in the low bits, since the two are loaded together: sequences never are equal.
    static Order order(const Entry& entry) noexcept {
        const std::uint64_t low = std::uint64_t{entry.sequence} << 32 | entry.index;
        return Order{entry.when.time_since_epoch().count()} * (Order{1} << 64) | low;
    }
#endif
    void push(Node* node, TimePoint when, std::uint32_t sequence);
    void pull(Node* node, TimePoint when, std::uint32_t sequence);
    void sift_up(std::size_t hole, Entry entry) noexcept;
    void sift_down(std::size_t hole, Entry entry) noexcept;
    std::size_t first_child(std::size_t parent) const noexcept;
    void pop_head() noexcept;
    Node* settle_head(TimePoint limit) noexcept;
    void purge() noexcept;
    void renumber() noexcept;
    static Slab make_slab(std::uint32_t first, std::uint32_t size);
    void add_slab();
    void free_slab(std::uint32_t index) noexcept;

    // The root is the last of its cache line, hence its children have the next one, and so on.
    std::vector<Entry, detail::AlignedAllocator<Entry, detail::cache_line - sizeof(Entry)>> heap_;
    std::vector<std::uint32_t> valid_;  // of each node: the sequence of its valid entry
    std::size_t dead_ = 0;
    // Ends soon for the first time, as Linux' jiffies do: what happens then happens in every
    // program's tests.
    static constexpr std::uint32_t last_sequence = 0xffffffff;
    std::uint32_t sequence_ = last_sequence - 200;
    Renumbering* renumbering_ = nullptr;

    // Nodes are named by index, so they live in slabs. With pooling off a slab is one node, freed
    // when it is recycled.
    unsigned slab_bits_;
    std::vector<Slab> slabs_;
    std::vector<std::uint32_t> free_;  // a stack of indices, with room for all there are
    std::size_t free_count_ = 0;
    std::vector<std::uint32_t> empty_;  // indices of freed slabs, when pooling is off
    std::size_t nodes_out_ = 0;
};

}  // namespace reactor

#endif
