// SPDX-License-Identifier: BSL-1.0
// then: the continuation takes the promise's value (T or const T&), the Promise<T> itself, or
// nothing
#include <reactor/promise.hpp>

#include <string>

void follow(const reactor::Promise<std::string>& promise) {
    promise.then([](int) {});
}
