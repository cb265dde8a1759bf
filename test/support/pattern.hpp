// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_PATTERN_HPP
#define REACTOR_TEST_PATTERN_HPP

#include <cstddef>
#include <cstdint>
#include <string>

namespace support {

/// Bytes in which a lost, doubled or swapped one shows.
inline std::string pattern(std::size_t size) {
    std::string bytes(size, '\0');
    std::uint32_t state = 12345;
    for (char& byte : bytes) {
        state = state * 1664525u + 1013904223u;
        byte = static_cast<char>(state >> 24);
    }
    return bytes;
}

}  // namespace support

#endif
