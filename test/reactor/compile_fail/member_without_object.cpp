// SPDX-License-Identifier: BSL-1.0
// the callable cannot be called with these arguments
#include <reactor/event_loop.hpp>

struct Page {
    void load();
};
void schedule(reactor::EventLoop& loop) { loop.call_later(std::chrono::seconds(1), &Page::load); }
