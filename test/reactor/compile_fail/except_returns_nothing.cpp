// SPDX-License-Identifier: BSL-1.0
// except: the callable must return what the promise holds, or a promise of it
#include <reactor/promise.hpp>

#include <exception>

void recover(const reactor::Promise<int>& promise) {
    promise.except([](std::exception_ptr) {});
}
