// SPDX-License-Identifier: BSL-1.0
// set_result: the promise's value cannot be made from these arguments
#include <reactor/promise.hpp>

void complete(const reactor::Promise<int>& promise) { promise.set_result("one"); }
