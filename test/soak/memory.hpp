// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_SOAK_MEMORY_HPP
#define REACTOR_TEST_SOAK_MEMORY_HPP

#include <reactor/event_loop.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace soak {

/// What the process holds while nothing happens, so that two moments can be compared. A value.
struct Holdings {
    std::size_t descriptors;
    std::size_t threads;
    std::size_t live;    // nodes, promises, tasks and connections of the loop, and timers
    std::size_t blocks;  // from operator new, without what waits in the loop's free lists
    std::size_t bytes;   // the same
    std::size_t malloc;  // all that malloc has handed out, the C library's own included
    std::size_t resident;

    std::string str() const;
};

/// A vector that happens to have no room at one look, and some at the other, is a block more or
/// less. What is lost by anything that happens again and again is many.
constexpr std::size_t room_of_blocks = 4;
/// How much the bytes may grow while the blocks do not: vectors that are as long as in their
/// busiest moment may have doubled once more. A loss in each of many connections is far beyond.
constexpr std::size_t room_of_bytes = 256 * 1024;
/// The same of malloc, which counts as handed out what each thread keeps at hand of freed blocks (7
/// of each of 64 sizes, up to 1,032 bytes), too.
constexpr std::size_t room_of_malloc = 768 * 1024;

Holdings holdings(const reactor::EventLoop& loop);

/// What of `after` is more than `before` allows, in words: nothing if all is well.
std::vector<std::string> growth(const Holdings& before, const Holdings& after);

}  // namespace soak

#endif
