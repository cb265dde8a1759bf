// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_POSTER_HPP
#define REACTOR_TEST_BENCH_POSTER_HPP

#include <cstdint>
#include <thread>

#include <test/bench/measure.hpp>

namespace bench {

/// Calls `post()` so many times on a thread of its own, counted by callgrind there too.
template <class F>
std::thread poster(std::uint64_t operations, F post) {
    struct Work {
        std::uint64_t operations;
        F post;
    };
    return std::thread(
        [](Work work) {
            reactor_bench_measured(
                [](void* data) {
                    Work& todo = *static_cast<Work*>(data);
                    for (; todo.operations != 0; --todo.operations) todo.post();
                },
                &work);
        },
        Work{operations, post});
}

}  // namespace bench

#endif
