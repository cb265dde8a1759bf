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

// The two that run once and come back to the loop's spare nodes first: one mask tells them.
enum class NodeKind : std::uint8_t { soon, done, timer, reader, writer, urgent };

/// How large a callable there is room for behind a node.
enum class NodeRoom : std::uint32_t { small = 0, full = 1u << 9 };

constexpr NodeRoom room_for(std::size_t size) noexcept {
    return size <= small_callable ? NodeRoom::small : NodeRoom::full;
}

/// 0 or 1, for tables by room.
constexpr std::size_t index_of(NodeRoom room) noexcept {
    return static_cast<std::uint32_t>(room) / static_cast<std::uint32_t>(NodeRoom::full);
}

enum class NodeFlag : std::uint32_t {
    explicit_context = 1u << 3,
    repeating = 1u << 4,
    posted = 1u << 5,  // by another thread: from the inbox, where it goes back to
    cancelled = 1u << 6,
    queued = 1u << 7,  // watches and timers: in the ready queue, where they must not be twice
    armed = 1u << 8    // timers: a valid entry of the heap stands for it, and owns a reference
};

constexpr std::uint32_t bit_of(NodeFlag flag) noexcept { return static_cast<std::uint32_t>(flag); }

/// What a Handle refers to: a callable in place, with the context it runs in. Owned by counted
/// references: one of the queue, heap, table or promise that will run it, one of each Handle. A
/// node is never moved; a done callback is a node that waits in its promise's list. The callable
/// lies behind the node, where there is as much room as its NodeRoom says, see NodeSlot.
///
///     made ──> queued ──> running ──> empty (one-shot) or waiting for the next event (repeating)
///       └────────┴── cancel() ──> empty, cancelled
struct alignas(std::max_align_t) Node {
    // What is looked at first comes first. A node with a small callable is one cache line. The
    // first four with what a timer has before them are one line as well, which is all that moving
    // or cancelling a timer touches.
    const CallableOps* ops = nullptr;  // null: empty, it ran or was cancelled
    LoopCore* core = nullptr;          // outlives the loop as long as a node is out
    void* context = nullptr;      // a ContextMap, or a ContextCell if `explicit_context`; counted
    std::uint32_t key = 0;        // done: its DoneKey; watches: the descriptor; timer: its index
    std::uint32_t word = 0;       // kind, flags and count of references, see below
    Node* next = nullptr;         // in the one list it is in: ready queue, promise, spare nodes
    const char* label = nullptr;  // a string literal

    Node() noexcept = default;
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    // The word is always read and written whole: bit-fields are written as bytes and read as words,
    // and a processor cannot forward such a store to the load that follows it (5 of the 17 ns of a
    // call_soon). The kind is in bits 0 to 2, the flags in bits 3 to 8, the room in bit 9, the
    // count above.

    /// Where the callable lies.
    void* storage() noexcept { return this + 1; }
    static Node* of_storage(void* storage) noexcept { return static_cast<Node*>(storage) - 1; }

    NodeKind kind() const noexcept { return static_cast<NodeKind>(word & kind_mask); }
    bool is(NodeFlag flag) const noexcept { return (word & bit_of(flag)) != 0; }
    void set(NodeFlag flag) noexcept { word |= bit_of(flag); }
    void clear(NodeFlag flag) noexcept { word &= ~bit_of(flag); }

    NodeRoom room() const noexcept { return static_cast<NodeRoom>(word & room_bit); }

    /// Of that kind, without flags, with one reference.
    void renew(NodeKind kind, NodeRoom room) noexcept {
        word = static_cast<std::uint32_t>(kind) | static_cast<std::uint32_t>(room) | one_reference;
    }
    void add_reference() noexcept { word += one_reference; }
    /// True: that was the last one.
    bool drop_reference() noexcept { return (word -= one_reference) < one_reference; }

    /// Runs once and is no timer, without flags, and whoever asks has the only reference.
    bool is_simple_and_last() const noexcept {
        return (word & ~(done_bit | room_bit)) == one_reference;
    }
    /// Runs once, now, in no context but a snapshot; all that is left to see is `ops`.
    bool runs_plainly() const noexcept { return (word & not_plain) == 0; }
    /// A watch, in no context but a snapshot; the same is left to see.
    bool watches_plainly() const noexcept {
        return (word & kind_mask) >= static_cast<std::uint32_t>(NodeKind::reader) &&
               (word & (not_plain & ~bit_of(NodeFlag::repeating))) == 0;
    }

    /// Destroys the callable and lets go of the context. What the destructor of a capture does to
    /// this node meets an empty one.
    void drop_callable() noexcept {
        if (const CallableOps* was = ops) {
            ops = nullptr;
            if (was->destroy) was->destroy(storage());
        }
        if (context) drop_context();
    }
    void drop_context() noexcept;
    /// Label, else the type of the callable as the compiler prints it, which are never destroyed;
    /// null for an empty node without label.
    const char* raw_name() const noexcept { return label ? label : ops ? ops->name : nullptr; }
    /// The same for messages.
    std::string name() const { return callable_text(raw_name()); }

protected:
    enum : std::uint32_t {
        kind_mask = 7,
        done_bit = static_cast<std::uint32_t>(NodeKind::done),
        room_bit = static_cast<std::uint32_t>(NodeRoom::full),
        one_reference = 1u << 10,
        // Watches, and call_every() timers, repeat.
        not_plain = static_cast<std::uint32_t>(NodeFlag::explicit_context) |
                    static_cast<std::uint32_t>(NodeFlag::repeating) |
                    static_cast<std::uint32_t>(NodeFlag::cancelled) |
                    static_cast<std::uint32_t>(NodeFlag::armed)
    };
};

static_assert(static_cast<int>(NodeKind::soon) == 0 && static_cast<int>(NodeKind::done) == 1,
              "one bit between them");

/// A node with the room behind it.
template <class N, std::size_t room>
struct NodeSlot {
    N node;
    alignas(std::max_align_t) unsigned char storage[room];
};

using SmallSlot = NodeSlot<Node, small_callable>;
using FullSlot = NodeSlot<Node, callable_capacity>;

static_assert(sizeof(SmallSlot) == sizeof(Node) + small_callable &&
                  sizeof(FullSlot) == sizeof(Node) + callable_capacity,
              "the room begins where the node ends");
static_assert(sizeof(void*) != 8 || sizeof(SmallSlot) == 64, "one cache line");

/// What a timer has beside a node.
struct TimerTimes {
    TimePoint when;              // the deadline, which may be later than `entry_when`,
    std::uint32_t sequence = 0;  // and its place among equal deadlines
    std::uint32_t missed = 0;    // ticks of a call_every that were coalesced
    TimePoint entry_when;        // the deadline of its valid heap entry, if it has one
    Duration period{0};          // of call_every
};

/// A timer's node; lives in the slabs of its TimerQueue, `key` is its index there.
struct TimerNode : TimerTimes, Node {
    /// Whether it has a valid heap entry; that owns a reference.
    bool armed() const noexcept { return is(NodeFlag::armed); }
    void arm() noexcept { word += bit_of(NodeFlag::armed) + one_reference; }
    /// The entry's reference passes to the caller.
    void disarm() noexcept { clear(NodeFlag::armed); }
};

using TimerSlot = NodeSlot<TimerNode, callable_capacity>;

static_assert(sizeof(TimerSlot) == sizeof(TimerNode) + callable_capacity &&
                  sizeof(TimerNode) == sizeof(TimerTimes) + sizeof(Node),
              "the room begins where the node ends, which comes last");
static_assert(sizeof(void*) != 8 || sizeof(TimerSlot) == 128, "two cache lines");

}  // namespace detail
}  // namespace reactor

#endif
