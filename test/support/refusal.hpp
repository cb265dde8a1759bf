// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_REFUSAL_HPP
#define REACTOR_TEST_REFUSAL_HPP

#include <string>

namespace support {

/// The text of the E that f() throws.
template <class E, class F>
std::string refusal(F f) {
    try {
        f();
    } catch (const E& error) {
        return error.what();
    }
    return "not refused";
}

}  // namespace support

#endif
