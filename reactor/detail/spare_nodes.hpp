// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_SPARE_NODES_HPP
#define REACTOR_DETAIL_SPARE_NODES_HPP

#include <reactor/detail/node.hpp>

#include <cstddef>
#include <vector>

namespace reactor {
namespace detail {

/// The nodes of a loop, but for its timers: those that are not in use wait in a list, empty, and
/// are taken as they are. They lie side by side in slabs, which live as long as the loop's core.
/// Under the tools that look for errors in the use of memory each is a block of its own instead.
/// Belongs to the loop's thread.
class SpareNodes {
public:
    SpareNodes() noexcept;
    ~SpareNodes();
    SpareNodes(const SpareNodes&) = delete;
    SpareNodes& operator=(const SpareNodes&) = delete;

    /// A node of `core` without callable and context; whatever else is in it is of its last use.
    Node* take(LoopCore& core) {
        if (!first_) add(core);
        Node* const node = first_;
        first_ = node->next;
        return node;
    }
    /// Takes back a node without callable and context.
    void put(Node* node) noexcept {
        if (in_slabs_) {
            node->next = first_;
            first_ = node;
        } else {
            free_one(node);
        }
    }

    /// How many are in use.
    std::size_t out() const noexcept;
    /// No more are taken; from now on any thread may drop() those that are in use.
    void retire() noexcept { first_ = nullptr; }
    void drop(Node* node) noexcept {
        if (!in_slabs_) delete node;
    }

    /// f(memory) for each block of the heap with nodes that are not in use, and perhaps others.
    template <class F>
    void for_each_block(F f) const {
        for (void* const slab : slabs_) f(static_cast<const void*>(slab));
    }

private:
    void add(LoopCore& core);
    void free_one(Node* node) noexcept;

    Node* first_ = nullptr;
    bool in_slabs_;
    std::size_t made_ = 0;
    std::vector<void*> slabs_;
};

}  // namespace detail
}  // namespace reactor

#endif
