// SPDX-License-Identifier: BSL-1.0
#include <reactor/callback.hpp>

#include <stdexcept>
#include <string>

namespace reactor {
namespace detail {

bool is_null(const Callback& f) noexcept { return !f; }

void throw_null_callable(const char* call) {
    throw std::invalid_argument(std::string(call) +
                                ": the callable is null or empty: give it something to call");
}

}  // namespace detail
}  // namespace reactor
