// SPDX-License-Identifier: BSL-1.0
// Scope::bind: the callable returns void
#include <reactor/scope.hpp>

int bind(reactor::Scope& scope) {
    auto bound = scope.bind([](int n) { return n; });
    bound(1);
    return 0;
}
