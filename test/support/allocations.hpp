// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_SUPPORT_ALLOCATIONS_HPP
#define REACTOR_TEST_SUPPORT_ALLOCATIONS_HPP

namespace support {

/// How often the program has asked operator new for memory. A test that calls this is linked with
/// an operator new that counts; any thread.
long allocation_count() noexcept;
/// How many of those it has not given back.
long allocations_left() noexcept;

/// While it lives operator new throws std::bad_alloc on this thread. One at a time.
class NoMemory {
public:
    NoMemory() noexcept;
    ~NoMemory();
    NoMemory(const NoMemory&) = delete;
    NoMemory& operator=(const NoMemory&) = delete;
};

}  // namespace support

#endif
