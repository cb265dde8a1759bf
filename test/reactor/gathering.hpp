// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_REACTOR_GATHERING_HPP
#define REACTOR_TEST_REACTOR_GATHERING_HPP

#include <reactor/promise.hpp>

#include <string>

#include <test/support/loop_test.hpp>

/// A loop with promises to gather.
struct Gathering : support::LoopTest {
    explicit Gathering(const std::string& selector) : LoopTest(selector) {}
    reactor::Promise<int> pending() { return loop.create_promise<int>(); }
    void turn(std::size_t count = 1) { loop.run_iterations(count); }
};

#endif
