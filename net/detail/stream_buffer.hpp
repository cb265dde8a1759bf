// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_STREAM_BUFFER_HPP
#define REACTOR_NET_DETAIL_STREAM_BUFFER_HPP

#include <net/byte_view.hpp>

#include <cstddef>
#include <string>

namespace reactor {
namespace net {
namespace detail {

/// The bytes that have come and that nobody has asked for yet. A value; without any it owns no
/// memory, so that an idle stream is small.
///
///     bytes_:  | taken | kept ........ |
///              0       begin_          size()
class StreamBuffer {
public:
    std::size_t size() const noexcept { return bytes_.size() - begin_; }
    bool empty() const noexcept { return bytes_.empty(); }
    /// Good until something is kept or taken.
    ByteView view() const noexcept { return ByteView(bytes_).from(begin_); }

    /// Appends. If it throws nothing was kept.
    void keep(ByteView bytes);
    /// The first `count` bytes, at most size(): all of them without a copy where that wastes no
    /// memory. If it throws nothing was taken.
    std::string take(std::size_t count);
    void drop(std::size_t count) noexcept;
    void clear() noexcept { drop(size()); }

private:
    std::string bytes_;
    std::size_t begin_ = 0;  // below bytes_.size(), but for nothing at all
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
