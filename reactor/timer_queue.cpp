// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/pool.hpp>
#include <reactor/timer_queue.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace reactor {

namespace {

constexpr unsigned pooled_slab_bits = 8;

inline void prefetch(const void* memory) noexcept {
#ifdef __GNUC__
    __builtin_prefetch(memory);
#else
    static_cast<void>(memory);
#endif
}

}  // namespace

constexpr std::uint32_t TimerQueue::no_sequence;

TimerQueue::TimerQueue() : slab_bits_(detail::pooling_wanted() ? pooled_slab_bits : 0) {}

TimerQueue::~TimerQueue() = default;

// ---- nodes ----------------------------------------------------------------------------------

TimerQueue::Slab TimerQueue::make_slab(std::uint32_t first, std::uint32_t size) {
    using Slot = detail::TimerSlot;
    Slot* const slots = static_cast<Slot*>(detail::get_aligned(size * sizeof(Slot), 0));
    for (std::uint32_t i = 0; i < size; ++i) (::new (&slots[i].node) Node)->key = first + i;
    return Slab(slots);
}

void TimerQueue::add_slab() {
    // As many entries may gather whatever the program does: room for them is no growth later.
    heap_.reserve(purge_minimum + 2);
    const std::uint32_t size = 1u << slab_bits_;
    if (!empty_.empty()) {
        const std::uint32_t index = empty_.back();
        slabs_[index] = make_slab(index, 1);
        empty_.pop_back();
        free_[free_count_++] = index;
        return;
    }
    const std::uint32_t first = static_cast<std::uint32_t>(slabs_.size()) << slab_bits_;
    Slab slab = make_slab(first, size);
    free_.resize(first + size);
    valid_.resize(first + size, no_sequence);
    if (slab_bits_ == 0 && empty_.capacity() <= slabs_.size()) {
        empty_.reserve(2 * slabs_.size() + 1);  // free_slab() must not throw
    }
    slabs_.push_back(std::move(slab));
    for (std::uint32_t i = size; i-- > 0;) free_[free_count_++] = first + i;
}

void TimerQueue::free_slab(std::uint32_t index) noexcept {
    slabs_[index].reset();
    empty_.push_back(index);
}

// ---- arming ---------------------------------------------------------------------------------

void TimerQueue::push(Node* node, TimePoint when, std::uint32_t sequence) {
    heap_.push_back(Entry());  // the only step that may throw comes first
    const std::uint32_t index = node->key;
    node->when = node->entry_when = when;
    node->sequence = valid_[index] = sequence;
    sift_up(heap_.size() - 1, Entry{index, sequence, when});
}

void TimerQueue::pull(Node* node, TimePoint when, std::uint32_t sequence) {
    push(node, when,
         sequence);  // the old entry is stale from here on: its sequence is no longer the node's
    ++dead_;
    purge_if_worthwhile();
}

void TimerQueue::purge() noexcept {
    std::size_t kept = 0;
    for (const Entry entry : heap_) {
        heap_[kept] = entry;
        kept += valid(entry);
    }
    heap_.resize(kept);
    dead_ = 0;
    if (kept < 2) return;
    for (std::size_t i = (kept - 2) / arity + 1; i-- > 0;) sift_down(i, heap_[i]);
}

void TimerQueue::renumber() noexcept {
    // A stale entry must never meet its own number again, and of two timers with equal deadlines
    // the older must keep the smaller one, were it four thousand million armings older. A sorted
    // array is a heap.
    purge();
    for (Entry& entry : heap_) {
        Node& node = *at(entry.index);
        entry.when = node.entry_when = node.when;
        entry.sequence = node.sequence;
    }
    std::sort(heap_.begin(), heap_.end(),
              [](const Entry& a, const Entry& b) { return before(a, b) != 0; });
    sequence_ = no_sequence;
    for (Entry& entry : heap_) {
        const std::uint32_t was = entry.sequence;
        entry.sequence = at(entry.index)->sequence = valid_[entry.index] = ++sequence_;
        if (renumbering_) renumbering_->renumbered(was, entry.sequence);
    }
    if (renumbering_) renumbering_->all_renumbered();
}

// ---- coming due -----------------------------------------------------------------------------

TimerQueue::Node* TimerQueue::settle_head(TimePoint limit) noexcept {
    while (!heap_.empty()) {
        const Entry head = heap_.front();
        if (head.when > limit) break;
        if (!valid(head)) {
            pop_head();
            --dead_;
            continue;
        }
        Node* const node = at(head.index);
        if (node->sequence == head.sequence) return node;
        // Pushed back meanwhile: here the entry catches up.
        node->entry_when = node->when;
        valid_[head.index] = node->sequence;
        sift_down(0, Entry{head.index, node->sequence, node->when});
    }
    return nullptr;
}

TimerQueue::Node* TimerQueue::pop_due(TimePoint now) {
    Node* const node = settle_head(now);
    if (!node) return nullptr;
    pop_head();
    valid_[node->key] = no_sequence;
    node->disarm();
    return node;
}

TimerQueue::Node* TimerQueue::pop_any() noexcept {
    while (!heap_.empty()) {
        const Entry last = heap_.back();
        heap_.pop_back();
        if (valid(last)) {
            valid_[last.index] = no_sequence;
            Node* const node = at(last.index);
            node->disarm();
            return node;
        }
        --dead_;
    }
    return nullptr;
}

// ---- the heap -------------------------------------------------------------------------------

// Among many timers each level of the heap is a cache miss, and so is a node: what the next steps
// will load is asked for one step ahead. The order of such steps is random, so that the hardware
// does not see them coming.

std::size_t TimerQueue::first_child(std::size_t parent) const noexcept {
    const Entry* const heap = heap_.data();
    const std::size_t size = heap_.size();
    const std::size_t first = parent * arity + 1;
    if (first + arity > size) {
        std::size_t least = first < size ? first : 0;
        for (std::size_t child = first + 1; child < size; ++child) {
            if (before(heap[child], heap[least])) least = child;
        }
        return least;
    }
    const Entry* const grandchildren = heap + (first * arity + 1);
    for (std::size_t i = 0; i < arity; ++i) prefetch(grandchildren + i * arity);
    const std::size_t left = first + before(heap[first + 1], heap[first]);
    const std::size_t right = first + 2 + before(heap[first + 3], heap[first + 2]);
    return left ^ ((left ^ right) & (std::size_t{0} - before(heap[right], heap[left])));
}

void TimerQueue::pop_head() noexcept {
    const Entry last = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return;
    // The last entry nearly always belongs far down again: the hole goes all the way down without
    // a look at it, which then rises a little.
    Entry* const heap = heap_.data();
    std::size_t hole = 0;
    while (const std::size_t child = first_child(hole)) {
        heap[hole] = heap[child];
        if (hole <= arity && slab_bits_ != 0) {
            // Now a child of the root, or the root: its timer is among the next ones. (With slabs
            // of one, a stale entry's is perhaps gone.)
            const Node* const soon = at(heap[hole].index);
            prefetch(soon);
            prefetch(&soon->next);
            prefetch(&valid_[heap[hole].index]);
        }
        hole = child;
    }
    sift_up(hole, last);
}

void TimerQueue::sift_up(std::size_t hole, Entry entry) noexcept {
    Entry* const heap = heap_.data();
    while (hole > 0) {
        const std::size_t parent = (hole - 1) / arity;
        if (!before(entry, heap[parent])) break;
        heap[hole] = heap[parent];
        hole = parent;
    }
    heap[hole] = entry;
}

void TimerQueue::sift_down(std::size_t hole, Entry entry) noexcept {
    Entry* const heap = heap_.data();
    while (const std::size_t child = first_child(hole)) {
        if (!before(heap[child], entry)) break;
        heap[hole] = heap[child];
        hole = child;
    }
    heap[hole] = entry;
}

}  // namespace reactor
