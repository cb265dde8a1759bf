// SPDX-License-Identifier: BSL-1.0
//
// What promises and tasks add to the bare call_soon(), which is what they are compared with here:
// the whole life of a promise with a done callback, with a continuation, and one step of a task
// that waits for a pending promise.
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>
#include <reactor/task.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <test/bench/call_soon_batches.hpp>
#include <test/bench/measure.hpp>

namespace {

using bench::Measurement;
using reactor::Next;
using reactor::Promise;

std::uint64_t done_callback(std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    std::uint64_t sum = 0;
    return bench::in_batches(loop, operations, measured, [&] {
        Promise<int> promise = loop.create_promise<int>();
        promise.add_done_callback(
            [&sum](const Promise<int>& done) { sum += static_cast<std::uint64_t>(done.result()); });
        promise.set_result(1);
    });
}

std::uint64_t then(std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    return bench::in_batches(loop, operations, measured, [&] {
        Promise<int> promise = loop.create_promise<int>();
        promise.then([](int value) { return value + 1; });
        promise.set_result(1);
    });
}

/// Waits for one promise after the other, which it puts where the benchmark completes them.
class Waiter : public reactor::Task<void> {
public:
    Waiter(Promise<int>& slot, const bool& stop) : slot_(slot), stop_(stop) {}

private:
    Next start() override { return wait(); }
    Next wait() {
        slot_ = loop().create_promise<int>();
        return await(slot_, &Waiter::got);
    }
    Next got(int value) {
        sum_ += value;
        return stop_ ? finish() : wait();
    }

    Promise<int>& slot_;
    const bool& stop_;
    long sum_ = 0;
};

std::uint64_t task_step(std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    std::vector<Promise<int>> slots(bench::batch_size);
    bool stop = false;
    for (Promise<int>& slot : slots) loop.create_task<Waiter>(slot, stop);
    loop.run_once(reactor::Duration::zero());
    std::size_t next = 0;
    const std::uint64_t done = bench::in_batches(loop, operations, measured, [&] {
        Promise<int>(std::move(slots[next])).set_result(1);
        next = (next + 1) % slots.size();
    });
    stop = true;
    for (Promise<int>& slot : slots) slot.set_result(1);
    loop.run_once(reactor::Duration::zero());
    return done;
}

}  // namespace

int main(int argc, char** argv) {
    const bench::Implementation bare = {"limit-call_soon", bench::call_soon_batches};
    return bench::run(
        {
            {"promise-done-callback", 5000000, 100000, {{"ours", done_callback}, bare}},
            {"promise-then", 5000000, 100000, {{"ours", then}, bare}},
            {"task-step", 5000000, 100000, {{"ours", task_step}, bare}},
        },
        argc, argv);
}
