// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_POOL_HPP
#define REACTOR_DETAIL_POOL_HPP

#include <cstddef>
#include <new>
#include <vector>

namespace reactor {
namespace detail {

/// Free lists by size for a loop's promise states and connections: the steady state allocates
/// nothing. Small ones, of which there may be very many, lie side by side in slabs, which live as
/// long as the pool: malloc would add up to a quarter. Belongs to the loop's thread. What is bigger
/// than the largest class goes to the heap, and so does everything under AddressSanitizer and
/// valgrind's memcheck, which would see no use after free in memory that is never freed.
class Pool {
public:
    Pool() noexcept;
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    void* get(std::size_t size) {
        const std::size_t c = class_of(size);
        if (c < classes) {
            if (Block* block = free_[c]) {
                free_[c] = block->next;
                return block;
            }
            return make(c);
        }
        return ::operator new(size);
    }

    void put(void* memory, std::size_t size) noexcept {
        const std::size_t c = class_of(size);
        if (c < classes && pooling_) {
            Block* block = ::new (memory) Block{free_[c]};
            free_[c] = block;
        } else if (!in_slabs(c)) {
            ::operator delete(memory);
        }
    }

    bool pooling() const noexcept { return pooling_; }
    /// Gives the free lists back to the heap, and from now on everything that is put: from any
    /// thread. But the slabs.
    void retire() noexcept {
        pooling_ = false;
        trim();
    }

    /// f(memory) for each block of the heap that waits in the free lists, and each slab: to be told
    /// apart from what is lost.
    template <class F>
    void for_each_spare(F f) const {
        for (std::size_t c = 0; c < classes; ++c) {
            if (in_slabs(c)) continue;
            for (const Block* block = free_[c]; block; block = block->next) {
                f(static_cast<const void*>(block));
            }
        }
        for (const void* const slab : slabs_) f(slab);
    }

private:
    struct Block {
        Block* next;
    };
    static constexpr std::size_t step = 32;
    static constexpr std::size_t classes = 33;  // up to 1 KiB
    static constexpr std::size_t class_of(std::size_t size) { return (size + step - 1) / step; }
    static constexpr std::size_t slab_classes = 5;  // up to 128 bytes
    bool in_slabs(std::size_t c) const noexcept { return c < slab_classes && slabbing_; }

    void* make(std::size_t c);
    void trim() noexcept;

    bool pooling_;
    const bool slabbing_;
    unsigned short next_slab_[slab_classes] = {};  // how many blocks it will have, if not the least
    Block* free_[classes] = {};
    std::vector<void*> slabs_;
};

/// Whether memory is kept in free lists: not under the tools that look for errors in its use.
bool pooling_wanted() noexcept;

}  // namespace detail
}  // namespace reactor

#endif
