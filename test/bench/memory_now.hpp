// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_MEMORY_NOW_HPP
#define REACTOR_TEST_BENCH_MEMORY_NOW_HPP

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include <malloc.h>
#include <unistd.h>

namespace bench {

/// What the process has, in bytes: handed out by malloc, and resident.
struct Memory {
    std::size_t allocated;
    std::size_t resident;
};

inline Memory memory_now() {
    const struct ::mallinfo2 info = ::mallinfo2();
    std::ifstream statm("/proc/self/statm");
    std::size_t size = 0, resident = 0;
    if (!(statm >> size >> resident)) throw std::runtime_error("cannot read /proc/self/statm");
    return {info.uordblks + info.hblkhd,
            resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))};
}

/// Prints what is there now beyond what was there before, for one of `count`: the figures of a run.
inline void print(const char* workload, const char* implementation, std::size_t count,
                  const Memory& before) {
    const Memory after = memory_now();
    const auto each = [count](std::size_t more, std::size_t less) {
        return (static_cast<double>(more) - static_cast<double>(less)) / static_cast<double>(count);
    };
    std::printf("%s %s %zu allocated_bytes=%.1f resident_bytes=%.1f\n", workload, implementation,
                count, each(after.allocated, before.allocated),
                each(after.resident, before.resident));
}

}  // namespace bench

#endif
