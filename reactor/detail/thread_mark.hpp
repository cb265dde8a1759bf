// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_THREAD_MARK_HPP
#define REACTOR_DETAIL_THREAD_MARK_HPP

namespace reactor {
namespace detail {

/// The address of a variable of the calling thread, one per process.
const void* thread_local_address() noexcept;

/// What tells threads apart, the same in every shared library of the process. Asked for at every
/// call into a loop and every copy of a promise, so on x86-64 it is the thread pointer itself,
/// which the ABI keeps at offset 0 of its segment: one instruction instead of a call.
inline const void* thread_mark() noexcept {
#if defined(__x86_64__) && defined(__linux__) && defined(__LP64__) && defined(__GNUC__)
    const void* self;
    __asm__("movq %%fs:0, %0" : "=r"(self));
    return self;
#else
    return thread_local_address();
#endif
}

}  // namespace detail
}  // namespace reactor

#endif
