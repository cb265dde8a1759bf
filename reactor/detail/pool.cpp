// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/cache_line.hpp>
#include <reactor/detail/pool.hpp>
#include <reactor/detail/thread_mark.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace reactor {
namespace detail {

namespace {

constexpr bool address_sanitizer =
#if defined(__SANITIZE_ADDRESS__)
    true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
    true;
#else
    false;
#endif
#else
    false;
#endif

// A loop that needs few of a size has not many spare ones, and one that needs many rarely makes a
// slab.
constexpr unsigned short least_in_slab = 4;
constexpr unsigned short most_in_slab = 64;

}  // namespace

bool pooling_wanted() noexcept {
    if (address_sanitizer) return false;
    // valgrind preloads a library per tool; callgrind, which counts what a program really does,
    // has none, and keeps the free lists.
    const char* preload = std::getenv("LD_PRELOAD");
    return !preload || !std::strstr(preload, "vgpreload_memcheck");
}

Pool::Pool() noexcept : pooling_(pooling_wanted()), slabbing_(pooling_) {}

Pool::~Pool() {
    trim();
    for (void* const slab : slabs_) ::operator delete(slab);
}

void* Pool::make(std::size_t c) {
    const std::size_t size = c * step;
    if (!in_slabs(c)) return ::operator new(size);
    const unsigned short count = std::max(next_slab_[c], least_in_slab);
    // Room in the list first: the memory must not be lost for want of it.
    if (slabs_.size() == slabs_.capacity()) slabs_.reserve(2 * slabs_.size() + 4);
    unsigned char* const slab =
        static_cast<unsigned char*>(::operator new(count* size + cache_line));
    slabs_.push_back(slab);
    next_slab_[c] = std::min<unsigned short>(static_cast<unsigned short>(2 * count), most_in_slab);
    // On a cache line: a block of one does not straddle two.
    const std::size_t past = reinterpret_cast<std::uintptr_t>(slab) % cache_line;
    unsigned char* const first = slab + (cache_line - past) % cache_line;
    for (std::size_t i = count; i-- > 1;) free_[c] = ::new (first + i * size) Block{free_[c]};
    return first;
}

void Pool::trim() noexcept {
    for (std::size_t c = 0; c < classes; ++c) {
        Block*& head = free_[c];
        if (in_slabs(c)) {
            head = nullptr;
            continue;
        }
        while (Block* block = head) {
            head = block->next;
            ::operator delete(block);
        }
    }
}

const void* thread_local_address() noexcept {
    static thread_local char mark;
    return &mark;
}

}  // namespace detail
}  // namespace reactor
