// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_RAW_TIMERS_HPP
#define REACTOR_TEST_BENCH_RAW_TIMERS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace bench {

/// The least that a queue of many timers costs: a 4-ary heap of {deadline, node}, nodes with a
/// function pointer from slabs. Cancelled ones stay in the heap until they surface or outnumber the
/// others; one that is pushed back finds its place when it surfaces. No order among equal
/// deadlines, no reference counts, no check of anything.
class RawTimers {
public:
    struct Node {
        void (*function)(void*);  // null: cancelled
        union {
            void* data;
            Node* next;  // of the free list
        };
        std::int64_t when;
    };

    Node* add(std::int64_t when, void (*function)(void*), void* data) {
        if (!free_) grow();
        Node* const node = free_;
        free_ = node->next;
        node->function = function;
        node->data = data;
        node->when = when;
        heap_.push_back(Entry());
        sift_up(heap_.size() - 1, Entry{when, node});
        return node;
    }

    void cancel(Node* node) noexcept {
        node->function = nullptr;
        ++dead_;
        if (heap_.size() > 100 && dead_ > heap_.size() / 2) purge();
    }

    static void push_back(Node* node, std::int64_t when) noexcept { node->when = when; }

    /// Calls what is due.
    void run(std::int64_t now) {
        while (!heap_.empty() && heap_.front().when <= now) {
            Node* const node = heap_.front().node;
            if (node->function && node->when > heap_.front().when) {
                sift_down(0, Entry{node->when, node});
                continue;
            }
            const Entry last = heap_.back();
            heap_.pop_back();
            if (!heap_.empty()) sift_down(0, last);
            void (*const function)(void*) = node->function;
            void* const data = node->data;
            recycle(node);
            if (function) {
                function(data);
            } else {
                --dead_;
            }
        }
    }

private:
    struct Entry {
        std::int64_t when;
        Node* node;
    };
    static constexpr std::size_t arity = 4;
    static constexpr std::size_t slab_size = 256;

    void grow() {
        slabs_.emplace_back(new Node[slab_size]);
        for (std::size_t i = slab_size; i-- > 0;) recycle(&slabs_.back()[i]);
    }
    void recycle(Node* node) noexcept {
        node->next = free_;
        free_ = node;
    }
    void purge() noexcept {
        std::size_t kept = 0;
        for (const Entry& entry : heap_) {
            if (entry.node->function) {
                heap_[kept++] = entry;
            } else {
                recycle(entry.node);
            }
        }
        heap_.resize(kept);
        dead_ = 0;
        if (kept < 2) return;
        for (std::size_t i = (kept - 2) / arity + 1; i-- > 0;) sift_down(i, heap_[i]);
    }
    void sift_up(std::size_t hole, Entry entry) noexcept {
        while (hole > 0) {
            const std::size_t parent = (hole - 1) / arity;
            if (heap_[parent].when <= entry.when) break;
            heap_[hole] = heap_[parent];
            hole = parent;
        }
        heap_[hole] = entry;
    }
    void sift_down(std::size_t hole, Entry entry) noexcept {
        const std::size_t size = heap_.size();
        for (;;) {
            const std::size_t first = hole * arity + 1;
            if (first >= size) break;
            const std::size_t end = std::min(first + arity, size);
            std::size_t least = first;
            for (std::size_t child = first + 1; child < end; ++child) {
                if (heap_[child].when < heap_[least].when) least = child;
            }
            if (entry.when <= heap_[least].when) break;
            heap_[hole] = heap_[least];
            hole = least;
        }
        heap_[hole] = entry;
    }

    std::vector<Entry> heap_;
    std::vector<std::unique_ptr<Node[]>> slabs_;
    Node* free_ = nullptr;
    std::size_t dead_ = 0;
};

}  // namespace bench

#endif
