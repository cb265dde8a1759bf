// SPDX-License-Identifier: BSL-1.0
// a promise holds a value: use Promise<T*> or std::reference_wrapper<T>
#include <reactor/promise.hpp>

using Wrong = reactor::Promise<int&>;
const std::size_t size = sizeof(Wrong);
