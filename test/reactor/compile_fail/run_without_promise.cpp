// SPDX-License-Identifier: BSL-1.0
// run: the function takes an EventLoop& and returns a promise
#include <reactor/runner.hpp>

void run(reactor::Runner& runner) {
    runner.run([](reactor::EventLoop&) { return 1; });
}
