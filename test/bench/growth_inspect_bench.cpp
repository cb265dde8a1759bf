// SPDX-License-Identifier: BSL-1.0
//
// What why_alive() and all_tasks() cost for each of so many that they tell of. The former sorts its
// entries: logarithmic.
#include <reactor/any_task.hpp>
#include <reactor/as_completed.hpp>
#include <reactor/combinators.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/inspect.hpp>
#include <reactor/promise.hpp>
#include <reactor/shield.hpp>
#include <reactor/task.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include <test/bench/growth.hpp>

namespace {

using bench::Measurement;
using reactor::Next;
using reactor::Promise;

/// For each of the `size` that were made of something in `loop`.
std::uint64_t ask(reactor::EventLoop& loop, std::size_t size, std::uint64_t operations,
                  Measurement& measured) {
    std::uint64_t done = 0;
    measured([&] {
        done = bench::in_rounds(operations, size, [&] {
            if (why_alive(loop).entries.empty()) throw std::logic_error("nothing waits");
        });
    });
    return done;
}

std::vector<Promise<int>> make(reactor::EventLoop& loop, std::size_t count) {
    std::vector<Promise<int>> promises;
    for (std::size_t i = 0; i < count; ++i) promises.push_back(loop.create_promise<int>());
    return promises;
}

std::uint64_t timers(std::size_t size, std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    for (std::size_t i = 0; i < size; ++i) loop.call_later(std::chrono::hours(1), [] {});
    return ask(loop, size, operations, measured);
}

std::uint64_t promises(std::size_t size, std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    const std::vector<Promise<int>> all = make(loop, size);
    return ask(loop, size, operations, measured);
}

/// Each followed by another one.
std::uint64_t chain(std::size_t size, std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    const Promise<int> first = loop.create_promise<int>();
    Promise<int> last = first;
    for (std::size_t i = 1; i < size; ++i) last = last.then([](int value) { return value; });
    return ask(loop, size, operations, measured);
}

std::uint64_t gathered(std::size_t size, std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    const std::vector<Promise<int>> all = make(loop, size);
    const auto result = reactor::gather(all);
    return ask(loop, size, operations, measured);
}

std::uint64_t completed(std::size_t size, std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    const std::vector<Promise<int>> all = make(loop, size);
    const std::vector<Promise<int>> in_order = reactor::as_completed(all);
    return ask(loop, size, operations, measured);
}

template <class T>
class Waiter : public reactor::Task<void> {
public:
    explicit Waiter(const Promise<T>& common) : common_(common) {}

private:
    Next start() override { return this->await(reactor::shield(common_), &Waiter::never); }
    Next never() { return this->finish(); }

    const Promise<T>& common_;
};

/// Tasks that wait for one promise, which is all that is left of a chain of so many.
std::uint64_t tasks(std::size_t size, std::uint64_t operations, Measurement& measured) {
    Promise<int> common;
    reactor::EventLoop loop;
    common = loop.create_promise<int>();
    for (std::size_t i = 0; i < size; ++i) loop.create_task<Waiter<int>>(common);
    loop.run_once(reactor::Duration::zero());
    return ask(loop, size, operations, measured);
}

std::uint64_t tasks_on_chain(std::size_t size, std::uint64_t operations, Measurement& measured) {
    Promise<int> first;
    Promise<int> common;
    reactor::EventLoop loop;
    first = common = loop.create_promise<int>();
    for (std::size_t i = 0; i < size; ++i) common = common.then([](int value) { return value; });
    for (std::size_t i = 0; i < size; ++i) loop.create_task<Waiter<int>>(common);
    loop.run_once(reactor::Duration::zero());
    return ask(loop, size, operations, measured);
}

/// Tasks that wait for what puts as many promises together.
std::uint64_t tasks_on_gather(std::size_t size, std::uint64_t operations, Measurement& measured) {
    std::vector<Promise<int>> all;
    Promise<std::vector<int>> common;
    reactor::EventLoop loop;
    all = make(loop, size);
    common = reactor::gather(all);
    for (std::size_t i = 0; i < size; ++i) loop.create_task<Waiter<std::vector<int>>>(common);
    loop.run_once(reactor::Duration::zero());
    return ask(loop, size, operations, measured);
}

std::uint64_t all_tasks(std::size_t size, std::uint64_t operations, Measurement& measured) {
    Promise<int> common;
    reactor::EventLoop loop;
    common = loop.create_promise<int>();
    for (std::size_t i = 0; i < size; ++i) loop.create_task<Waiter<int>>(common);
    loop.run_once(reactor::Duration::zero());
    std::uint64_t done = 0;
    measured([&] {
        done = bench::in_rounds(operations, size, [&] {
            if (reactor::all_tasks(loop).size() != size)
                throw std::logic_error("tasks are missing");
        });
    });
    return done;
}

}  // namespace

int main(int argc, char** argv) {
    constexpr std::size_t many = 100000;
    return bench::run(
        std::vector<bench::Growth>{
            {"why_alive-timers", "logarithmic", many, 200000, 1000, timers},
            {"why_alive-promises", "logarithmic", many, 200000, 1000, promises},
            {"why_alive-chain", "logarithmic", many, 200000, 1000, chain},
            {"why_alive-gather", "logarithmic", many, 200000, 1000, gathered},
            {"why_alive-as_completed", "logarithmic", many, 200000, 1000, completed},
            {"why_alive-tasks", "logarithmic", many, 200000, 1000, tasks},
            {"why_alive-tasks-chain", "logarithmic", many, 200000, 1000, tasks_on_chain},
            {"why_alive-tasks-gather", "logarithmic", many, 200000, 1000, tasks_on_gather},
            {"all_tasks", "flat", many, 200000, 1000, all_tasks},
        },
        argc, argv);
}
