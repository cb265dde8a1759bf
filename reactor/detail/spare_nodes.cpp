// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/cache_line.hpp>
#include <reactor/detail/pool.hpp>
#include <reactor/detail/spare_nodes.hpp>

#include <cstdint>
#include <new>

namespace reactor {
namespace detail {

namespace {

// Two or three KiB: what a small loop can spare, and enough that slabs are rarely made.
constexpr std::size_t slab_size = 32;

/// Where the nodes begin in a slab's memory: on a cache line.
unsigned char* first_of(void* slab) noexcept {
    unsigned char* const memory = static_cast<unsigned char*>(slab);
    const std::size_t past = reinterpret_cast<std::uintptr_t>(memory) % cache_line;
    return memory + (cache_line - past) % cache_line;
}

}  // namespace

SpareNodes::SpareNodes() noexcept : in_slabs_(pooling_wanted()) {}

SpareNodes::~SpareNodes() {
    for (void* const slab : slabs_) ::operator delete(slab);  // a node's destructor is trivial
}

void SpareNodes::add(LoopCore& core, NodeRoom room) {
    Node*& first = first_[index_of(room)];
    if (room == NodeRoom::small) {
        add_slots<SmallSlot>(core, first);
    } else {
        add_slots<FullSlot>(core, first);
    }
}

template <class Slot>
void SpareNodes::add_slots(LoopCore& core, Node*& first) {
    if (!in_slabs_) {
        first = ::new (::operator new(sizeof(Slot))) Node;
        first->core = &core;
        ++made_;
        return;
    }
    // Room in the list first: the memory must not be lost for want of it.
    if (slabs_.size() == slabs_.capacity()) slabs_.reserve(2 * slabs_.size() + 1);
    slabs_.push_back(::operator new(slab_size * sizeof(Slot) + cache_line));
    unsigned char* const slots = first_of(slabs_.back());
    for (std::size_t i = slab_size; i-- > 0;) {
        Node* const node = ::new (static_cast<void*>(slots + i * sizeof(Slot))) Node;
        node->core = &core;
        put_in(first, node);
    }
    made_ += slab_size;
}

void SpareNodes::put_all(NodesByRoom& nodes) noexcept {
    for (std::size_t i = 0; i < 2; ++i) {
        NodeList& list = nodes.of[i];
        if (!list.first) continue;
        list.last->next = first_[i];
        first_[i] = list.first;
        list = NodeList();
    }
}

void SpareNodes::free_one(Node* node) noexcept {
    --made_;
    release_memory(node);
}

void SpareNodes::release_memory(Node* node) noexcept { ::operator delete(node); }

std::size_t SpareNodes::out() const noexcept {
    std::size_t spare = 0;
    for (const Node* first : first_) {
        for (const Node* node = first; node; node = node->next) ++spare;
    }
    return made_ - spare;
}

}  // namespace detail
}  // namespace reactor
