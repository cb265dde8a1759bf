// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_READ_BUFFER_HPP
#define REACTOR_NET_DETAIL_READ_BUFFER_HPP

#include <cstddef>
#include <memory>

#if defined(__SANITIZE_ADDRESS__)
#define REACTOR_NET_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define REACTOR_NET_POISONS 1
#endif
#endif
#ifdef REACTOR_NET_POISONS
#include <sanitizer/asan_interface.h>
#endif

namespace reactor {
namespace net {
namespace detail {

/// What the transports of a loop read into, one after the other: a buffer per connection would cost
/// memory for each idle one, and its cache lines for each busy one. Not shared with Socket, whose
/// read() a protocol may call while it looks at the bytes here.
///
/// Under AddressSanitizer all of it is poisoned but what was read, while it is looked at: a view
/// that is kept too long is found.
class ReadBuffer {
public:
    static constexpr std::size_t size = 64 * 1024;

    ReadBuffer() : bytes_(new char[size]) { poison(0); }
    ~ReadBuffer() { unpoison(); }
    ReadBuffer(const ReadBuffer&) = delete;
    ReadBuffer& operator=(const ReadBuffer&) = delete;

    /// To be read into.
    char* open() noexcept {
        unpoison();
        return bytes_.get();
    }
    /// So much was read; again with 0 when it is not looked at any more.
    void keep(std::size_t count) noexcept { poison(count); }

private:
#ifdef REACTOR_NET_POISONS
    void poison(std::size_t from) noexcept {
        ASAN_POISON_MEMORY_REGION(bytes_.get() + from, size - from);
    }
    void unpoison() noexcept { ASAN_UNPOISON_MEMORY_REGION(bytes_.get(), size); }
#else
    void poison(std::size_t) noexcept {}
    void unpoison() noexcept {}
#endif

    std::unique_ptr<char[]> bytes_;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#undef REACTOR_NET_POISONS

#endif
