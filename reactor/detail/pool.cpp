// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/pool.hpp>
#include <reactor/detail/thread_mark.hpp>

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

}  // namespace

bool pooling_wanted() noexcept {
    if (address_sanitizer) return false;
    // valgrind preloads a library per tool; callgrind, which counts what a program really does,
    // has none, and keeps the free lists.
    const char* preload = std::getenv("LD_PRELOAD");
    return !preload || !std::strstr(preload, "vgpreload_memcheck");
}

Pool::Pool() noexcept : pooling_(pooling_wanted()) {}

void Pool::trim() noexcept {
    for (Block*& head : free_) {
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
