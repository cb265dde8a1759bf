// SPDX-License-Identifier: BSL-1.0
// except: the callable's one parameter is the catch clause
#include <reactor/promise.hpp>

void recover(const reactor::Promise<int>& promise) {
    promise.except([] { return 1; });
}
