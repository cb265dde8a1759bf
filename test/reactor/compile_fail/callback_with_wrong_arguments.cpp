// SPDX-License-Identifier: BSL-1.0
// the callable cannot be called with these arguments
#include <reactor/callback.hpp>

reactor::Callback make() {
    return reactor::Callback([](int*) {}, 7);
}
