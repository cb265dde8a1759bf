// SPDX-License-Identifier: BSL-1.0
// a promise holds a value of an unqualified object type, or void
#include <reactor/promise.hpp>

using Wrong = reactor::Promise<const int>;
const std::size_t size = sizeof(Wrong);
