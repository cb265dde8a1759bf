// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_GROWTH_DESCRIPTORS_HPP
#define REACTOR_TEST_BENCH_GROWTH_DESCRIPTORS_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <test/bench/growth.hpp>

namespace bench {

/// Leaves out the sizes for which a process may not have enough descriptors; if `tell`, it says so
/// on standard error. The loop and the program need a few as well.
inline std::vector<Growth> within_descriptors(std::uint64_t most, bool tell,
                                              std::vector<Growth> growths) {
    for (Growth& growth : growths) {
        while (growth.largest >= smallest_size && growth.largest + 64 > most) {
            if (tell) {
                std::fprintf(stderr,
                             "growth-%s@%zu: left out, %llu descriptors are too few (ulimit -n)\n",
                             growth.thing, growth.largest, static_cast<unsigned long long>(most));
            }
            growth.largest /= 10;
        }
    }
    return growths;
}

}  // namespace bench

#endif
