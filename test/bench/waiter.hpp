// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_WAITER_HPP
#define REACTOR_TEST_BENCH_WAITER_HPP

#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>
#include <reactor/task.hpp>

namespace bench {

/// Waits for one promise after the other, which it puts where the benchmark completes them, until
/// it is to stop.
class Waiter : public reactor::Task<void> {
public:
    Waiter(reactor::Promise<int>& slot, const bool& stop) : slot_(slot), stop_(stop) {}

private:
    reactor::Next start() override { return wait(); }
    reactor::Next wait() {
        slot_ = loop().create_promise<int>();
        return await(slot_, &Waiter::got);
    }
    reactor::Next got(int value) {
        sum_ += value;
        return stop_ ? finish() : wait();
    }

    reactor::Promise<int>& slot_;
    const bool& stop_;
    long sum_ = 0;
};

}  // namespace bench

#endif
