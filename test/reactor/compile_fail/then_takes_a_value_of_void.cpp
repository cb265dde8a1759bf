// SPDX-License-Identifier: BSL-1.0
// then: the continuation takes the promise's value (T or const T&), the Promise<T> itself, or
// nothing
#include <reactor/promise.hpp>

void follow(const reactor::Promise<void>& promise) {
    promise.then([](int) {});
}
