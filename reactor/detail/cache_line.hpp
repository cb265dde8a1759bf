// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_CACHE_LINE_HPP
#define REACTOR_DETAIL_CACHE_LINE_HPP

#include <cstddef>
#include <cstdint>
#include <new>

namespace reactor {
namespace detail {

constexpr std::size_t cache_line = 64;

/// Memory of `size` bytes that begins `offset` bytes after the begin of a cache line: C++11's new
/// knows no alignment beyond that of max_align_t. `offset` is a multiple of a pointer's size.
inline void* get_aligned(std::size_t size, std::size_t offset) {
    // The block's own address is kept right before what is handed out.
    constexpr std::size_t before = sizeof(void*);
    if (size > SIZE_MAX - 2 * cache_line) throw std::bad_alloc();
    void* const block = ::operator new(size + before + cache_line);
    unsigned char* memory = static_cast<unsigned char*>(block) + before;
    memory += (offset - reinterpret_cast<std::uintptr_t>(memory)) % cache_line;
    ::new (memory - before) void*(block);
    return memory;
}
inline void put_aligned(void* memory) noexcept {
    void** const block = static_cast<void**>(memory) - 1;
    ::operator delete(*block);
}

/// Lets a vector's elements begin `offset` bytes after the begin of a cache line.
template <class T, std::size_t offset>
struct AlignedAllocator {
    using value_type = T;
    template <class U>
    struct rebind {
        using other = AlignedAllocator<U, offset>;
    };

    AlignedAllocator() noexcept = default;
    template <class U>
    AlignedAllocator(const AlignedAllocator<U, offset>&) noexcept {}

    T* allocate(std::size_t count) {
        if (count > SIZE_MAX / sizeof(T)) throw std::bad_alloc();
        return static_cast<T*>(get_aligned(count * sizeof(T), offset));
    }
    void deallocate(T* memory, std::size_t) noexcept { put_aligned(memory); }

    friend bool operator==(AlignedAllocator, AlignedAllocator) noexcept { return true; }
    friend bool operator!=(AlignedAllocator, AlignedAllocator) noexcept { return false; }
};

}  // namespace detail
}  // namespace reactor

#endif
