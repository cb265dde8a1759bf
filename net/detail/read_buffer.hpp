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

/// What several read into, one after the other: a buffer for each would cost memory for the idle
/// ones, and cache lines for the busy ones.
///
/// Under AddressSanitizer all of it is poisoned but what was read, while it is looked at: a view
/// that is kept too long is found.
template <std::size_t Size>
class SharedBuffer {
public:
    static constexpr std::size_t size = Size;

    SharedBuffer() : bytes_(new char[size]) { poison(0); }
    ~SharedBuffer() { unpoison(); }
    SharedBuffer(const SharedBuffer&) = delete;
    SharedBuffer& operator=(const SharedBuffer&) = delete;

    /// To be read into.
    char* open() noexcept {
        unpoison();
        return bytes_.get();
    }
    /// So much was read; again with 0 when it is not looked at any more.
    void keep(std::size_t count) noexcept { poison(count); }
    /// Only that part is looked at.
    const char* keep(std::size_t from, std::size_t count) noexcept {
        poison(0);
        unpoison(from, count);
        return bytes_.get() + from;
    }

private:
#ifdef REACTOR_NET_POISONS
    void poison(std::size_t from) noexcept {
        ASAN_POISON_MEMORY_REGION(bytes_.get() + from, size - from);
    }
    void unpoison() noexcept { unpoison(0, size); }
    void unpoison(std::size_t from, std::size_t count) noexcept {
        ASAN_UNPOISON_MEMORY_REGION(bytes_.get() + from, count);
    }
#else
    void poison(std::size_t) noexcept {}
    void unpoison() noexcept {}
    void unpoison(std::size_t, std::size_t) noexcept {}
#endif

    std::unique_ptr<char[]> bytes_;
};

template <std::size_t Size>
constexpr std::size_t SharedBuffer<Size>::size;

/// What the stream transports of a loop read into. Not shared with Socket, whose read() a protocol
/// may call while it looks at the bytes here.
using ReadBuffer = SharedBuffer<64 * 1024>;

}  // namespace detail
}  // namespace net
}  // namespace reactor

#undef REACTOR_NET_POISONS

#endif
