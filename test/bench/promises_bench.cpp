// SPDX-License-Identifier: BSL-1.0
//
// What promises and tasks add to the bare call_soon(), which is what they are compared with here:
// the whole life of a promise with a done callback, with a continuation, and one step of a task
// that waits for a pending promise. And, beside nothing, a gather of a thousand promises (an
// operation is the whole of it: they are made, put together, completed, the values read), and a
// task of a thousand steps, ten of which run side by side (again the whole of one).
#include <reactor/combinators.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>
#include <reactor/task.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include <test/bench/call_soon_batches.hpp>
#include <test/bench/measure.hpp>
#include <test/bench/waiter.hpp>

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

std::uint64_t task_step(std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    std::vector<Promise<int>> slots(bench::batch_size);
    bool stop = false;
    for (Promise<int>& slot : slots) loop.create_task<bench::Waiter>(slot, stop);
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

std::uint64_t gather(std::uint64_t operations, Measurement& measured) {
    constexpr std::size_t many = 1000;
    reactor::EventLoop loop;
    long sum = 0;
    const auto one = [&loop, &sum] {
        std::vector<Promise<int>> parts;
        parts.reserve(many);
        for (std::size_t i = 0; i < many; ++i) parts.push_back(loop.create_promise<int>());
        const auto whole = reactor::gather(parts);
        for (const Promise<int>& part : parts) part.set_result(1);
        while (!whole.done()) loop.run_once(reactor::Duration::zero());
        for (const int value : whole.result()) sum += value;
    };
    one();
    measured([&] {
        for (std::uint64_t i = 0; i < operations; ++i) one();
    });
    if (sum != static_cast<long>(many * (operations + 1)))
        throw std::logic_error("values are lost");
    return operations;
}

class Steps : public reactor::Task<int> {
private:
    Next start() override { return step(); }
    Next step() {
        if (done_ == 1000) return finish(done_);
        ++done_;
        return yield(&Steps::step);
    }

    int done_ = 0;
};

std::uint64_t task_of_steps(std::uint64_t operations, Measurement& measured) {
    constexpr std::uint64_t side_by_side = 10;
    reactor::EventLoop loop;
    const auto round = [&loop] {
        std::vector<reactor::TaskHandle<int>> tasks;
        for (std::uint64_t i = 0; i < side_by_side; ++i) tasks.push_back(loop.create_task<Steps>());
        while (!tasks.back().done()) loop.run_once(reactor::Duration::zero());
    };
    round();
    const std::uint64_t rounds = (operations + side_by_side - 1) / side_by_side;
    measured([&] {
        for (std::uint64_t i = 0; i < rounds; ++i) round();
    });
    return rounds * side_by_side;
}

}  // namespace

int main(int argc, char** argv) {
    const bench::Implementation bare = {"limit-call_soon", bench::call_soon_batches};
    return bench::run(
        {
            {"promise-done-callback", 5000000, 100000, {{"ours", done_callback}, bare}},
            {"promise-then", 5000000, 100000, {{"ours", then}, bare}},
            {"task-step", 5000000, 100000, {{"ours", task_step}, bare}},
            {"gather-1000", 2000, 20, {{"ours", gather}}},
            {"task-1000-steps", 10000, 100, {{"ours", task_of_steps}}},
        },
        argc, argv);
}
