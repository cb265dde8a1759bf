// SPDX-License-Identifier: BSL-1.0
// the callable cannot be called with these arguments
#include <reactor/event_loop.hpp>

#include <memory>

// What is called many times is given lvalues: there is nothing to move out of.
void schedule(reactor::EventLoop& loop) {
    loop.call_every(
        std::chrono::seconds(1), [](std::unique_ptr<int>&&) {}, std::unique_ptr<int>(new int(1)));
}
