// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_REACTOR_WAKEUP_WRITES_HPP
#define REACTOR_TEST_REACTOR_WAKEUP_WRITES_HPP

#include <atomic>
#include <cstddef>

#include <sys/syscall.h>
#include <unistd.h>

// For one source of a program: counts the writes to eventfds, of all threads.

namespace {

std::atomic<long> wakeup_writes{0};

}  // namespace

// Stands before the C library's: the writes of eight bytes are those to an eventfd.
extern "C" ::ssize_t write(int fd, const void* data, std::size_t size) {
    if (size == 8) wakeup_writes.fetch_add(1, std::memory_order_relaxed);
    return ::syscall(SYS_write, fd, data, size);
}

#endif
