// SPDX-License-Identifier: BSL-1.0
// the callable cannot be called with these arguments
#include <reactor/event_loop.hpp>

void schedule(reactor::EventLoop& loop) {
    loop.call_soon([](int) {});
}
