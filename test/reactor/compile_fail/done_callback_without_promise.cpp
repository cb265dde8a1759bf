// SPDX-License-Identifier: BSL-1.0
// add_done_callback: the callable must take its bound arguments and then the promise
#include <reactor/promise.hpp>

void tell(const reactor::Promise<int>& promise) {
    promise.add_done_callback([](const char*) {});
}
