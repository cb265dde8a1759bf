// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_COUNTED_HPP
#define REACTOR_TEST_COUNTED_HPP

#include <atomic>

namespace support {

/// Counts objects, of which each must be destroyed exactly once, wherever that is.
struct Counted {
    explicit Counted(std::atomic<int>& count) : alive(&count) { ++*alive; }
    Counted(const Counted& other) : alive(other.alive) { ++*alive; }
    ~Counted() { --*alive; }
    std::atomic<int>* alive;
};

}  // namespace support

#endif
