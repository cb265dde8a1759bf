// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_SPARE_STRINGS_HPP
#define REACTOR_NET_DETAIL_SPARE_STRINGS_HPP

#include <net/byte_view.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace reactor {
namespace net {
namespace detail {

/// The memory of strings that were written, for those that are read next: what passes messages on
/// needs no new memory for each. A loop's, on its thread; none under the tools that look for errors
/// in the use of memory.
class SpareStrings {
public:
    SpareStrings() noexcept;

    /// A string of these bytes.
    std::string take(ByteView bytes) {
        return spare_.empty() || bytes.size() < smallest ? bytes.str() : reuse(bytes);
    }
    /// The memory of a string that was written. It is empty afterwards, or as it was.
    void put(std::string& written) noexcept {
        const std::size_t room = written.capacity();
        if (room >= smallest && room <= room_) keep(written);
    }

    /// f(memory) for each block that is kept: to be told apart from what is lost.
    template <class F>
    void for_each_block(F f) const {
        for (const std::string& one : spare_) f(static_cast<const void*>(one.data()));
        if (spare_.capacity() != 0) f(static_cast<const void*>(spare_.data()));
    }

private:
    // What is shorter is in the string itself, whoever has made the C++ library.
    static constexpr std::size_t smallest = 32;

    std::string reuse(ByteView bytes);
    void keep(std::string& written) noexcept;

    std::vector<std::string> spare_;
    std::size_t room_;  // for more
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
