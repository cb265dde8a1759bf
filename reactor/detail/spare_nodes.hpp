// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_SPARE_NODES_HPP
#define REACTOR_DETAIL_SPARE_NODES_HPP

#include <reactor/detail/node.hpp>
#include <reactor/detail/node_list.hpp>

#include <cstddef>
#include <vector>

namespace reactor {
namespace detail {

/// Nodes of a loop, but for its timers: those that are not in use wait in two lists, one for each
/// NodeRoom, empty, and are taken as they are. They lie side by side in slabs, which live as long
/// as this. Under the tools that look for errors in the use of memory each is a block of its own
/// instead. One thread at a time may use it: its owner sees to that.
class SpareNodes {
public:
    SpareNodes() noexcept;
    ~SpareNodes();
    SpareNodes(const SpareNodes&) = delete;
    SpareNodes& operator=(const SpareNodes&) = delete;

    /// A node of `core` without callable and context; whatever else is in it is of its last use.
    Node* take(LoopCore& core, NodeRoom room) {
        Node*& first = first_[index_of(room)];
        if (!first) add(core, room);
        Node* const node = first;
        first = node->next;
        return node;
    }
    /// Takes back a node without callable and context.
    void put(Node* node) noexcept {
        if (in_slabs_) {
            put_in(first_[index_of(node->room())], node);
        } else {
            free_one(node);
        }
    }
    /// The same for many, which come before the others; the lists are empty afterwards.
    void put_all(NodesByRoom& nodes) noexcept;

    /// How many are in use.
    std::size_t out() const noexcept;
    /// No more are taken; from now on any thread may drop() those that are in use.
    void retire() noexcept { first_[0] = first_[1] = nullptr; }
    void drop(Node* node) noexcept {
        if (!in_slabs_) release_memory(node);
    }
    /// Whether put() keeps them; nodes from anywhere must not be put otherwise.
    bool in_slabs() const noexcept { return in_slabs_; }

    /// f(memory) for each block of the heap with nodes that are not in use, and perhaps others.
    template <class F>
    void for_each_block(F f) const {
        for (void* const slab : slabs_) f(static_cast<const void*>(slab));
    }

private:
    static void put_in(Node*& first, Node* node) noexcept {
        node->next = first;
        first = node;
    }
    void add(LoopCore& core, NodeRoom room);
    template <class Slot>
    void add_slots(LoopCore& core, Node*& first);
    void free_one(Node* node) noexcept;
    static void release_memory(Node* node) noexcept;

    Node* first_[2] = {};
    bool in_slabs_;
    std::size_t made_ = 0;
    std::vector<void*> slabs_;
};

}  // namespace detail
}  // namespace reactor

#endif
