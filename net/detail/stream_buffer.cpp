// SPDX-License-Identifier: BSL-1.0
#include <net/detail/stream_buffer.hpp>

#include <utility>

namespace reactor {
namespace net {
namespace detail {

void StreamBuffer::keep(ByteView bytes) {
    // Only when at least as many were taken as are moved: so each byte is moved once, on average,
    // also for a reader that takes one byte for each that comes.
    if (begin_ != 0 && begin_ >= size()) {
        bytes_.erase(0, begin_);
        begin_ = 0;
    }
    bytes_.append(bytes.data(), bytes.size());
}

std::string StreamBuffer::take(std::size_t count) {
    std::string taken;
    // The string given out takes its room along: a short rest of much is copied out instead.
    if (count == size() && count >= bytes_.capacity() / 2) {
        bytes_.erase(0, begin_);
        begin_ = 0;
        taken.swap(bytes_);
    } else {
        taken.assign(bytes_, begin_, count);
        drop(count);
    }
    return taken;
}

void StreamBuffer::drop(std::size_t count) noexcept {
    begin_ += count;
    if (begin_ != bytes_.size()) return;
    begin_ = 0;
    std::string().swap(bytes_);
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
