// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_NODE_HPP
#define REACTOR_DETAIL_NODE_HPP

#include <reactor/clock.hpp>
#include <reactor/detail/context_map.hpp>
#include <reactor/detail/stored.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace reactor {
namespace detail {

class LoopCore;

enum class NodeKind : std::uint8_t { soon, timer, reader, writer, urgent, done };

/// What a Handle refers to: a callable in place, with the context it runs in. Owned by counted
/// references: one of the queue, heap, table or promise that will run it, one of each Handle. A
/// node is never moved; a done callback is a node that waits in its promise's list.
///
///     made ──> queued ──> running ──> empty (one-shot) or waiting for the next event (repeating)
///       └────────┴── cancel() ──> empty, cancelled
struct Node {
    Node* next = nullptr;              // in the one list it is in: ready queue, promise, free list
    const CallableOps* ops = nullptr;  // null: empty, it ran or was cancelled
    LoopCore* core = nullptr;          // outlives the loop as long as a node is out
    void* context = nullptr;      // a ContextMap, or a ContextCell if `explicit_context`; counted
    const char* label = nullptr;  // a string literal
    std::uint32_t key = 0;        // done: its DoneKey; watches: the descriptor; timer: its index
    // One word, so that a node is 96 bytes. Bit-fields have no default values in C++11.
    std::uint32_t references : 24;
    NodeKind kind : 3;
    bool explicit_context : 1;
    bool repeating : 1;
    bool running : 1;
    bool cancelled : 1;
    bool queued : 1;  // watches and timers: in the ready queue, where they must not be twice
    alignas(std::max_align_t) unsigned char storage[callable_capacity];

    Node() noexcept
        : references(0),
          kind(NodeKind::soon),
          explicit_context(false),
          repeating(false),
          running(false),
          cancelled(false),
          queued(false) {}
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    /// Destroys the callable and lets go of the context. What the destructor of a capture does to
    /// this node meets an empty one.
    void drop_callable() noexcept {
        if (const CallableOps* was = ops) {
            ops = nullptr;
            if (was->destroy) was->destroy(storage);
        }
        if (context) drop_context();
    }
    void drop_context() noexcept;
    /// Label, else the type of the callable, for messages. Empty for an empty node without label.
    std::string name() const;
};

static_assert(sizeof(void*) != 8 || sizeof(Node) == 96, "a node is 96 bytes on 64-bit machines");

/// A timer's node; lives in the slabs of its TimerQueue, `key` is its index there.
struct TimerNode : Node {
    TimePoint when;              // the deadline, which may be later than `armed`,
    std::uint32_t sequence = 0;  // and its place among equal deadlines
    // The deadline and sequence of its valid heap entry, if `in_heap`; other entries are stale.
    std::uint32_t armed_sequence = 0;
    TimePoint armed;
    Duration period{0};        // of call_every
    std::uint32_t missed = 0;  // its ticks that were coalesced
    bool in_heap = false;
};

}  // namespace detail
}  // namespace reactor

#endif
