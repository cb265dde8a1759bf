// SPDX-License-Identifier: BSL-1.0
//
// What a task costs while so many others are suspended: a step, a life, a cancellation.
#include <reactor/combinators.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>
#include <reactor/shield.hpp>
#include <reactor/task.hpp>
#include <reactor/timeout.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <test/bench/growth.hpp>
#include <test/bench/waiter.hpp>

namespace {

using bench::Measurement;
using reactor::Duration;
using reactor::Next;
using reactor::Promise;
using reactor::TaskHandle;

constexpr std::size_t batch = bench::smallest_size;

/// So many tasks, each at its wait. They end with the loop.
struct Suspended {
    explicit Suspended(std::size_t count) : slots(count) {
        for (Promise<int>& slot : slots) loop.create_task<bench::Waiter>(slot, stop);
        run_once();
    }
    void run_once() { loop.run_once(Duration::zero()); }

    const bool stop = false;
    std::vector<Promise<int>> slots;
    reactor::EventLoop loop;  // ends first, and with it the tasks
};

std::uint64_t step(std::size_t size, std::uint64_t operations, Measurement& measured) {
    Suspended tasks(size);
    bench::Pick pick;
    std::uint64_t done = 0;
    measured([&] {
        done = bench::in_rounds(operations, batch, [&] {
            bench::each_of_some(pick, size, batch, [&tasks](std::size_t i) {
                Promise<int>(std::move(tasks.slots[i])).set_result(1);
            });
            tasks.run_once();
        });
    });
    return done;
}

class Once : public reactor::Task<int> {
private:
    Next start() override { return yield(&Once::last); }
    Next last() { return finish(1); }
};

std::uint64_t life(std::size_t size, std::uint64_t operations, Measurement& measured) {
    Suspended tasks(size);
    std::uint64_t done = 0;
    measured([&] {
        done = bench::in_rounds(operations, batch, [&] {
            for (std::size_t i = 0; i < batch; ++i) tasks.loop.create_task<Once>();
            tasks.run_once();
            tasks.run_once();
        });
    });
    return done;
}

/// Any of so many tasks is cancelled, and another one made, by `make`.
template <class Make>
std::uint64_t replace(reactor::EventLoop& loop, std::size_t size, std::uint64_t operations,
                      Measurement& measured, Make make) {
    std::vector<TaskHandle<void>> all;
    for (std::size_t i = 0; i < size; ++i) all.push_back(make());
    loop.run_once(Duration::zero());
    bench::Pick pick;
    const auto round = [&] {
        bench::each_of_some(pick, size, batch, [&](std::size_t i) {
            all[i].cancel();
            all[i] = make();
        });
        loop.run_once(Duration::zero());
    };
    bench::in_rounds(2 * size, batch, round);
    std::uint64_t done = 0;
    measured([&] { done = bench::in_rounds(operations, batch, round); });
    return done;
}

class ForNothing : public reactor::Task<void> {
private:
    Next start() override { return await(promise_, &ForNothing::never); }
    Next never() { return finish(); }

    Promise<void> promise_ = loop().create_promise<void>();
};

/// Waits for what others wait for as well, and leaves that alone when it is cancelled.
class ForCommon : public reactor::Task<void> {
public:
    explicit ForCommon(const Promise<void>& common) : common_(common) {}

private:
    Next start() override { return await(reactor::shield(common_), &ForCommon::never); }
    Next never() { return finish(); }

    const Promise<void>& common_;
};

class WithLimit : public reactor::Task<void> {
public:
    explicit WithLimit(const Promise<void>& common) : common_(common) {}

private:
    Next start() override {
        limit_.enter(std::chrono::hours(1));
        return await(reactor::shield(common_), &WithLimit::never);
    }
    Next never() { return finish(); }

    const Promise<void>& common_;
    reactor::Timeout limit_;
};

class Sleeper : public reactor::Task<void> {
private:
    Next start() override { return await(reactor::sleep(std::chrono::hours(1)), &Sleeper::never); }
    Next never() { return finish(); }
};

template <class T>
std::uint64_t cancel(std::size_t size, std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    return replace(loop, size, operations, measured, [&loop] { return loop.create_task<T>(); });
}

template <class T>
std::uint64_t cancel_on_common(std::size_t size, std::uint64_t operations, Measurement& measured) {
    Promise<void> common;
    reactor::EventLoop loop;  // ends first, and with it the tasks
    common = loop.create_promise<void>();
    return replace(loop, size, operations, measured, [&] { return loop.create_task<T>(common); });
}

}  // namespace

int main(int argc, char** argv) {
    constexpr std::size_t million = 1000000;
    return bench::run(
        std::vector<bench::Growth>{
            {"task-step", "flat", million, 1000000, 50000, step},
            {"task-life", "flat", million, 1000000, 50000, life},
            {"task-cancel", "flat", million, 500000, 50000, cancel<ForNothing>},
            {"task-cancel-common", "flat", million, 500000, 50000, cancel_on_common<ForCommon>},
            {"task-cancel-timeout", "logarithmic", million, 500000, 50000,
             cancel_on_common<WithLimit>},
            {"task-cancel-sleep", "logarithmic", million, 500000, 50000, cancel<Sleeper>},
        },
        argc, argv);
}
