// SPDX-License-Identifier: BSL-1.0
// bind_weak: the callable returns void
#include <reactor/bind_weak.hpp>

void bind(const std::shared_ptr<int>& object) {
    auto bound = reactor::bind_weak(object, [](int& n) { return n; });
    bound();
}
