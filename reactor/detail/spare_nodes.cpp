// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/cache_line.hpp>
#include <reactor/detail/pool.hpp>
#include <reactor/detail/spare_nodes.hpp>

#include <cstdint>
#include <new>

namespace reactor {
namespace detail {

namespace {

// 3 KiB: what a small loop can spare, and enough that slabs are rarely made.
constexpr std::size_t slab_size = 32;

/// Where the nodes begin in a slab's memory: on a cache line.
Node* first_of(void* slab) noexcept {
    unsigned char* const memory = static_cast<unsigned char*>(slab);
    const std::size_t past = reinterpret_cast<std::uintptr_t>(memory) % cache_line;
    void* const begin = memory + (cache_line - past) % cache_line;
    return static_cast<Node*>(begin);
}

}  // namespace

SpareNodes::SpareNodes() noexcept : in_slabs_(pooling_wanted()) {}

SpareNodes::~SpareNodes() {
    for (void* const slab : slabs_) ::operator delete(slab);  // a node's destructor is trivial
}

void SpareNodes::add(LoopCore& core) {
    if (!in_slabs_) {
        first_ = new Node;
        first_->core = &core;
        ++made_;
        return;
    }
    // Room in the list first: the memory must not be lost for want of it.
    if (slabs_.size() == slabs_.capacity()) slabs_.reserve(2 * slabs_.size() + 1);
    slabs_.push_back(::operator new(slab_size * sizeof(Node) + cache_line));
    Node* const nodes = first_of(slabs_.back());
    for (std::size_t i = slab_size; i-- > 0;) {
        Node* const node = ::new (static_cast<void*>(nodes + i)) Node;
        node->core = &core;
        put(node);
    }
    made_ += slab_size;
}

void SpareNodes::free_one(Node* node) noexcept {
    --made_;
    delete node;
}

std::size_t SpareNodes::out() const noexcept {
    std::size_t spare = 0;
    for (const Node* node = first_; node; node = node->next) ++spare;
    return made_ - spare;
}

}  // namespace detail
}  // namespace reactor
