// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_BYTE_VIEW_HPP
#define REACTOR_NET_BYTE_VIEW_HPP

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

namespace reactor {
namespace net {

/// Bytes that somebody else owns, good for as long as he says: what C++17 has std::string_view for.
/// A value; converts from what owns bytes, and never takes a copy unless str() asks for one.
class ByteView {
public:
    constexpr ByteView() noexcept = default;
    constexpr ByteView(const char* data, std::size_t size) noexcept : data_(data), size_(size) {}
    ByteView(const std::string& bytes) noexcept : data_(bytes.data()), size_(bytes.size()) {}
    /// A text that ends with a zero byte, which does not count.
    ByteView(const char* text) noexcept : data_(text), size_(std::strlen(text)) {}

    constexpr const char* data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr char operator[](std::size_t index) const noexcept { return data_[index]; }
    constexpr const char* begin() const noexcept { return data_; }
    constexpr const char* end() const noexcept { return data_ + size_; }

    /// The bytes from `offset` on, at most `count`; nothing beyond the end.
    ByteView from(std::size_t offset,
                  std::size_t count = static_cast<std::size_t>(-1)) const noexcept {
        const std::size_t start = (std::min)(offset, size_);
        return ByteView(data_ + start, (std::min)(count, size_ - start));
    }

    std::string str() const { return std::string(data_, size_); }

    friend bool operator==(ByteView a, ByteView b) noexcept {
        return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
    }
    friend bool operator!=(ByteView a, ByteView b) noexcept { return !(a == b); }

private:
    const char* data_ = "";
    std::size_t size_ = 0;
};

}  // namespace net
}  // namespace reactor

#endif
