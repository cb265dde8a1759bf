// SPDX-License-Identifier: BSL-1.0
#include <net/detail/spare_strings.hpp>
#include <reactor/detail/pool.hpp>

#include <cstring>
#include <utility>

namespace reactor {
namespace net {
namespace detail {

namespace {

// As much as the buffer that all is read into: of long strings few, of short ones as many as the
// connections that are ready at once.
constexpr std::size_t most = 64 * 1024;

}  // namespace

constexpr std::size_t SpareStrings::smallest;

SpareStrings::SpareStrings() noexcept : room_(reactor::detail::pooling_wanted() ? most : 0) {}

/// The last one that was written, if it is neither too short nor twice too long, else it goes: so
/// they become as long as what is read now.
std::string SpareStrings::reuse(ByteView bytes) {
    std::string taken = std::move(spare_.back());
    spare_.pop_back();
    const std::size_t room = taken.capacity();
    room_ += room;
    if (taken.size() < bytes.size() || room / 2 > bytes.size()) return bytes.str();
    std::memcpy(&taken[0], bytes.data(), bytes.size());
    taken.resize(bytes.size());
    return taken;
}

void SpareStrings::keep(std::string& written) noexcept {
    const std::size_t room = written.capacity();
    try {
        spare_.push_back(std::move(written));
        room_ -= room;
    } catch (...) {  // there is no memory to note it
    }
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
