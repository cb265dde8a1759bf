// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/pool.hpp>
#include <reactor/timer_queue.hpp>

#include <algorithm>
#include <utility>

namespace reactor {

namespace {

// asyncio's constants (base_events.py): below a hundred entries a clean-up saves nothing, and with
// at least half of the entries dead each removal is paid for by the cancel that made it dead.
constexpr std::size_t purge_minimum = 100;

constexpr unsigned pooled_slab_bits = 8;

}  // namespace

TimerQueue::TimerQueue() : slab_bits_(detail::pooling_wanted() ? pooled_slab_bits : 0) {}

TimerQueue::~TimerQueue() = default;

void TimerQueue::add_slab() {
    const std::uint32_t size = 1u << slab_bits_;
    if (slab_bits_ == 0 && !free_indices_.empty()) {
        const std::uint32_t index = free_indices_.back();
        slabs_[index].reset(new Node[1]);
        free_indices_.pop_back();
        slabs_[index][0].key = index;
        free_ = &slabs_[index][0];
        return;
    }
    const std::uint32_t first = static_cast<std::uint32_t>(slabs_.size()) << slab_bits_;
    if (slab_bits_ == 0 && free_indices_.capacity() <= slabs_.size()) {
        free_indices_.reserve(2 * slabs_.size() + 1);  // recycle() must not throw
    }
    std::unique_ptr<Node[]> slab(new Node[size]);
    slabs_.push_back(std::move(slab));
    Node* const nodes = slabs_.back().get();
    for (std::uint32_t i = size; i-- > 0;) {
        nodes[i].key = first + i;
        nodes[i].next = free_;
        free_ = &nodes[i];
    }
}

TimerQueue::Node* TimerQueue::take() {
    if (!free_) add_slab();
    Node* const node = static_cast<Node*>(free_);
    free_ = node->next;
    node->next = nullptr;
    node->label = nullptr;
    node->kind = detail::NodeKind::timer;
    node->explicit_context = node->repeating = node->cancelled = node->in_heap = false;
    node->queued = node->running = false;
    node->period = Duration::zero();
    node->missed = 0;
    node->references = 1;
    ++nodes_out_;
    return node;
}

void TimerQueue::recycle(Node* node) noexcept {
    --nodes_out_;
    if (slab_bits_ == 0) {
        const std::uint32_t index = node->key;
        slabs_[index].reset();
        free_indices_.push_back(index);
        return;
    }
    node->next = free_;
    free_ = node;
}

void TimerQueue::push(Node* node, TimePoint when) {
    heap_.push_back(Entry());  // the only step that may throw comes first
    const std::uint32_t sequence = sequence_++;
    node->when = node->armed = when;
    node->sequence = node->armed_sequence = sequence;
    node->in_heap = true;
    ++node->references;
    sift_up(heap_.size() - 1, Entry{when, sequence, node->key});
}

void TimerQueue::arm(Node* node, TimePoint when) { push(node, when); }

void TimerQueue::rearm(Node* node, TimePoint when) {
    if (when >= node->armed) {
        node->when = when;
        node->sequence = sequence_++;
        return;
    }
    push(node, when);  // the old entry is stale from here on: it no longer matches the node
    ++dead_;
    purge_if_worthwhile();
}

void TimerQueue::note_cancelled() noexcept {
    // Only the valid entry dies now; an entry left stale by rearm() was counted then.
    ++dead_;
    purge_if_worthwhile();
}

void TimerQueue::purge_if_worthwhile() noexcept {
    // asyncio looks once per iteration; here at each change, so that nothing piles up inside one
    // callback.
    if (heap_.size() > purge_minimum && dead_ > heap_.size() / 2) purge();
}

void TimerQueue::drop_dead(Node* node) noexcept {
    // Runs nothing of the user's: who holds the last reference to a node lets go of its callable
    // before, and here that was cancel(), or the call itself.
    --dead_;
    if (--node->references == 0) recycle(node);
}

void TimerQueue::purge() noexcept {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < heap_.size(); ++i) {
        Node* const node = at(heap_[i].index);
        if (valid(heap_[i], *node)) {
            heap_[kept++] = heap_[i];
        } else {
            drop_dead(node);
        }
    }
    heap_.resize(kept);
    if (kept < 2) return;
    for (std::size_t i = (kept - 2) / arity + 1; i-- > 0;) sift_down(i, heap_[i]);
}

bool TimerQueue::settle_head() {
    while (!heap_.empty()) {
        const Entry head = heap_.front();
        Node* const node = at(head.index);
        if (!valid(head, *node)) {
            pop_head();
            drop_dead(node);
        } else if (node->sequence != head.sequence || node->when != head.when) {
            // Pushed back meanwhile: here the entry catches up. (Both are compared, since sequence
            // numbers come round again.)
            node->armed = node->when;
            node->armed_sequence = node->sequence;
            sift_down(0, Entry{node->when, node->sequence, head.index});
        } else {
            return true;
        }
    }
    return false;
}

TimePoint TimerQueue::next_deadline() { return settle_head() ? heap_.front().when : never(); }

TimerQueue::Node* TimerQueue::pop_due(TimePoint now) {
    if (heap_.empty() || heap_.front().when > now) return nullptr;
    if (!settle_head() || heap_.front().when > now) return nullptr;
    Node* const node = at(heap_.front().index);
    pop_head();
    node->in_heap = false;
    return node;
}

TimerQueue::Node* TimerQueue::pop_any() noexcept {
    while (!heap_.empty()) {
        const Entry last = heap_.back();
        heap_.pop_back();
        Node* const node = at(last.index);
        if (valid(last, *node)) {
            node->in_heap = false;
            return node;
        }
        drop_dead(node);
    }
    return nullptr;
}

void TimerQueue::pop_head() noexcept {
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sift_down(0, last);
}

void TimerQueue::sift_up(std::size_t hole, Entry entry) noexcept {
    while (hole > 0) {
        const std::size_t parent = (hole - 1) / arity;
        if (!entry.before(heap_[parent])) break;
        heap_[hole] = heap_[parent];
        hole = parent;
    }
    heap_[hole] = entry;
}

void TimerQueue::sift_down(std::size_t hole, Entry entry) noexcept {
    const std::size_t size = heap_.size();
    for (;;) {
        const std::size_t first = hole * arity + 1;
        if (first >= size) break;
        const std::size_t last = std::min(first + arity, size);
        std::size_t least = first;
        for (std::size_t child = first + 1; child < last; ++child) {
            if (heap_[child].before(heap_[least])) least = child;
        }
        if (!heap_[least].before(entry)) break;
        heap_[hole] = heap_[least];
        hole = least;
    }
    heap_[hole] = entry;
}

}  // namespace reactor
