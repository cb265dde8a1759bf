// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_POOL_HPP
#define REACTOR_DETAIL_POOL_HPP

#include <cstddef>
#include <new>

namespace reactor {
namespace detail {

/// Free lists by size for a loop's nodes and promise states: the steady state allocates nothing.
/// Belongs to the loop's thread. What is bigger than the largest class goes to the heap, and so
/// does everything under AddressSanitizer and valgrind's memcheck, which would see no use after
/// free in memory that is never freed.
class Pool {
public:
    Pool() noexcept;
    ~Pool() { trim(); }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    void* get(std::size_t size) {
        const std::size_t c = class_of(size);
        if (c < classes) {
            if (Block* block = free_[c]) {
                free_[c] = block->next;
                return block;
            }
            return ::operator new(c* step);
        }
        return ::operator new(size);
    }

    void put(void* memory, std::size_t size) noexcept {
        const std::size_t c = class_of(size);
        if (c < classes && pooling_) {
            Block* block = ::new (memory) Block{free_[c]};
            free_[c] = block;
        } else {
            ::operator delete(memory);
        }
    }

    bool pooling() const noexcept { return pooling_; }
    /// Gives the free lists back to the heap, and from now on everything that is put.
    void retire() noexcept {
        pooling_ = false;
        trim();
    }

    /// f(memory) for each block that waits in the free lists: to be told apart from what is lost.
    template <class F>
    void for_each_spare(F f) const {
        for (const Block* block : free_) {
            for (; block; block = block->next) f(static_cast<const void*>(block));
        }
    }

private:
    struct Block {
        Block* next;
    };
    static constexpr std::size_t step = 32;
    static constexpr std::size_t classes = 33;  // up to 1 KiB
    static constexpr std::size_t class_of(std::size_t size) { return (size + step - 1) / step; }

    void trim() noexcept;

    bool pooling_;
    Block* free_[classes] = {};
};

/// Whether memory is kept in free lists: not under the tools that look for errors in its use.
bool pooling_wanted() noexcept;

}  // namespace detail
}  // namespace reactor

#endif
