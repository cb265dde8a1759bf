// SPDX-License-Identifier: BSL-1.0
// the callable cannot be called with these arguments
#include <reactor/event_loop.hpp>

#include <cstddef>

void answer(void* context);
void schedule(reactor::EventLoop& loop) { loop.call_soon(&answer, NULL); }
