// SPDX-License-Identifier: BSL-1.0
#include <test/soak/memory.hpp>

#include <net/detail/transport_service.hpp>
#include <reactor/detail/loop_core.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>
#include <stdexcept>
#include <system_error>

#include <dirent.h>
#include <malloc.h>
#include <unistd.h>

namespace {

std::atomic<std::size_t> live_blocks{0};
std::atomic<std::size_t> live_bytes{0};

void* counted(void* memory) {
    if (!memory) throw std::bad_alloc();
    live_blocks.fetch_add(1, std::memory_order_relaxed);
    live_bytes.fetch_add(::malloc_usable_size(memory), std::memory_order_relaxed);
    return memory;
}

void uncounted(void* memory) noexcept {
    if (!memory) return;
    live_blocks.fetch_sub(1, std::memory_order_relaxed);
    live_bytes.fetch_sub(::malloc_usable_size(memory), std::memory_order_relaxed);
    std::free(memory);
}

std::size_t entries_of(const char* directory) {
    const std::unique_ptr<::DIR, int (*)(::DIR*)> open(::opendir(directory), &::closedir);
    if (!open) throw std::system_error(errno, std::system_category(), directory);
    std::size_t count = 0;
    while (const ::dirent* const entry = ::readdir(open.get())) {
        if (entry->d_name[0] != '.') ++count;
    }
    return count;
}

std::size_t resident_now() {
    std::ifstream statm("/proc/self/statm");
    std::size_t size = 0, resident = 0;
    if (!(statm >> size >> resident)) throw std::runtime_error("cannot read /proc/self/statm");
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

void* operator new(std::size_t size) { return counted(std::malloc(size != 0 ? size : 1)); }
void* operator new[](std::size_t size) { return counted(std::malloc(size != 0 ? size : 1)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    void* const memory = std::malloc(size != 0 ? size : 1);
    return memory ? counted(memory) : nullptr;
}
void operator delete(void* memory) noexcept { uncounted(memory); }
void operator delete[](void* memory) noexcept { uncounted(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { uncounted(memory); }
void operator delete(void* memory, std::size_t) noexcept { uncounted(memory); }
void operator delete[](void* memory, std::size_t) noexcept { uncounted(memory); }

namespace soak {

Holdings holdings(const reactor::EventLoop& loop) {
    Holdings now;
    // Without the descriptor of the directory that is being read.
    now.descriptors = entries_of("/proc/self/fd") - 1;
    now.threads = entries_of("/proc/self/task");
    now.live = loop.core().live() + loop.core().timers.nodes_out();
    now.resident = resident_now();
    const struct ::mallinfo2 info = ::mallinfo2();
    std::size_t spare_blocks = 0, spare_bytes = 0;
    const auto spare = [&](const void* block) {
        ++spare_blocks;
        spare_bytes += ::malloc_usable_size(const_cast<void*>(block));
    };
    loop.core().for_each_spare(spare);
    const auto* const net = loop.service_if_made<reactor::net::detail::TransportService>();
    if (net) net->strings.for_each_block(spare);
    now.blocks = live_blocks.load(std::memory_order_relaxed) - spare_blocks;
    now.bytes = live_bytes.load(std::memory_order_relaxed) - spare_bytes;
    now.malloc = info.uordblks + info.hblkhd;
    // The C library takes 8 bytes more to know a block by; a sanitizer tells nothing.
    now.malloc -= std::min(now.malloc, spare_bytes + 8 * spare_blocks);
    return now;
}

std::string Holdings::str() const {
    return std::to_string(descriptors) + " descriptors, " + std::to_string(threads) + " threads, " +
           std::to_string(live) + " objects of the loop, " + std::to_string(blocks) +
           " blocks of memory with " + std::to_string(bytes) + " bytes; malloc " +
           std::to_string(malloc) + ", resident " + std::to_string(resident / 1024) + " KiB";
}

std::vector<std::string> growth(const Holdings& before, const Holdings& after) {
    std::vector<std::string> words;
    const auto compare = [&words](const char* what, std::size_t was, std::size_t is,
                                  std::size_t room) {
        if (is >= was ? is - was <= room : room != 0) return;
        words.push_back(std::string(what) + ": " + std::to_string(was) + " before, " +
                        std::to_string(is) + " at the end");
    };
    compare("open descriptors", before.descriptors, after.descriptors, 0);
    compare("threads", before.threads, after.threads, 0);
    compare("objects of the loop", before.live, after.live, 0);
    compare("blocks of memory", before.blocks, after.blocks, room_of_blocks);
    compare("bytes of memory", before.bytes, after.bytes, room_of_bytes);
    compare("bytes of malloc", before.malloc, after.malloc, room_of_malloc);
    return words;
}

}  // namespace soak
