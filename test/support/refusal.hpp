// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_REFUSAL_HPP
#define REACTOR_TEST_REFUSAL_HPP

#include <string>
#include <system_error>

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

/// The code of the std::system_error that f() throws, 0 if it throws none.
template <class F>
int code_of(F f) {
    try {
        f();
    } catch (const std::system_error& error) {
        return error.code().value();
    }
    return 0;
}

}  // namespace support

#endif
