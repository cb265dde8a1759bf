// SPDX-License-Identifier: BSL-1.0
// run_in_executor: the callable cannot be called with these arguments
#include <reactor/executor.hpp>

void work(reactor::EventLoop& loop) {
    loop.run_in_executor([](const char*) {}, 7);
}
