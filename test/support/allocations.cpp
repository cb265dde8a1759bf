// SPDX-License-Identifier: BSL-1.0
#include <test/support/allocations.hpp>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> count{0};
std::atomic<long> freed{0};
thread_local bool no_memory = false;

void* counted(std::size_t size) {
    if (no_memory) throw std::bad_alloc();
    count.fetch_add(1, std::memory_order_relaxed);
    if (void* const memory = std::malloc(size != 0 ? size : 1)) return memory;
    throw std::bad_alloc();
}

void release(void* memory) noexcept {
    if (memory) freed.fetch_add(1, std::memory_order_relaxed);
    std::free(memory);
}

}  // namespace

namespace support {

long allocation_count() noexcept { return count.load(std::memory_order_relaxed); }
long allocations_left() noexcept {
    return allocation_count() - freed.load(std::memory_order_relaxed);
}

NoMemory::NoMemory() noexcept { no_memory = true; }
NoMemory::~NoMemory() { no_memory = false; }

}  // namespace support

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
