// SPDX-License-Identifier: BSL-1.0
// the callable cannot be called with these arguments
#include <reactor/event_loop.hpp>

void watch(reactor::EventLoop& loop) {
    loop.add_reader(0, [](int) {});
}
