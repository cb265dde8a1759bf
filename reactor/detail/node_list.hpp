// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_NODE_LIST_HPP
#define REACTOR_DETAIL_NODE_LIST_HPP

#include <reactor/detail/node.hpp>

#include <cstddef>

namespace reactor {
namespace detail {

/// Nodes in a row, each linked by its `next`; the last one's is null. Owns nothing.
struct NodeList {
    Node* first = nullptr;
    Node* last = nullptr;
    std::size_t count = 0;

    void add(Node* node) noexcept {
        node->next = nullptr;
        (last ? last->next : first) = node;
        last = node;
        ++count;
    }
};

/// The same, sorted by the room behind them.
struct NodesByRoom {
    NodeList of[2];

    void add(Node* node) noexcept { of[index_of(node->room())].add(node); }
};

}  // namespace detail
}  // namespace reactor

#endif
