// SPDX-License-Identifier: BSL-1.0
//
// What a promise costs while so many others are pending, what each of so many costs that are
// combined, and what one of so many waits on one common promise costs to end. Not in here:
// remove_done_callback(), which looks at all callbacks of its promise, as asyncio's does.
#include <reactor/as_completed.hpp>
#include <reactor/combinators.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>
#include <reactor/scope.hpp>
#include <reactor/shield.hpp>
#include <reactor/wait.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <test/bench/growth.hpp>

namespace {

using bench::Measurement;
using reactor::Duration;
using reactor::Promise;

constexpr std::size_t batch = bench::smallest_size;

void run_once(reactor::EventLoop& loop) { loop.run_once(Duration::zero()); }

std::vector<Promise<int>> make(reactor::EventLoop& loop, std::size_t count) {
    std::vector<Promise<int>> promises;
    promises.reserve(count);
    for (std::size_t i = 0; i < count; ++i) promises.push_back(loop.create_promise<int>());
    return promises;
}

// ---- among others ---------------------------------------------------------------------------

std::uint64_t life(std::size_t size, std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    int sum = 0;
    const auto add = [&sum](const Promise<int>& done) { sum += done.result(); };
    std::vector<Promise<int>> others = make(loop, size);
    for (const Promise<int>& other : others) other.add_done_callback(add);
    std::uint64_t done = 0;
    measured([&] {
        done = bench::in_rounds(operations, batch, [&] {
            for (std::size_t i = 0; i < batch; ++i) {
                const Promise<int> promise = loop.create_promise<int>();
                promise.add_done_callback(add);
                promise.set_result(1);
            }
            run_once(loop);
        });
    });
    return done;
}

/// One of those that are pending is completed, and replaced.
std::uint64_t complete(std::size_t size, std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    int sum = 0;
    const auto add = [&sum](const Promise<int>& done) { sum += done.result(); };
    std::vector<Promise<int>> all = make(loop, size);
    for (const Promise<int>& one : all) one.add_done_callback(add);
    bench::Pick pick;
    std::uint64_t done = 0;
    measured([&] {
        done = bench::in_rounds(operations, batch, [&] {
            bench::each_of_some(pick, size, batch, [&](std::size_t i) {
                all[i].set_result(1);
                all[i] = loop.create_promise<int>();
                all[i].add_done_callback(add);
            });
            run_once(loop);
        });
    });
    return done;
}

// ---- put together: for each of them ---------------------------------------------------------

/// Makes so many promises and hands them to `together`, then completes them and runs the loop.
template <class F>
std::uint64_t each(std::size_t size, std::uint64_t operations, Measurement& measured, F together) {
    reactor::EventLoop loop;
    const auto round = [&] {
        const std::vector<Promise<int>> all = make(loop, size);
        const auto result = together(all);
        for (const Promise<int>& one : all) one.set_result(1);
        run_once(loop);
        run_once(loop);
    };
    round();
    std::uint64_t done = 0;
    measured([&] { done = bench::in_rounds(operations, size, round); });
    return done;
}

std::uint64_t gather(std::size_t size, std::uint64_t operations, Measurement& measured) {
    return each(size, operations, measured,
                [](const std::vector<Promise<int>>& all) { return reactor::gather(all); });
}

std::uint64_t wait(std::size_t size, std::uint64_t operations, Measurement& measured) {
    return each(size, operations, measured,
                [](const std::vector<Promise<int>>& all) { return reactor::wait(all); });
}

std::uint64_t as_completed(std::size_t size, std::uint64_t operations, Measurement& measured) {
    return each(size, operations, measured,
                [](const std::vector<Promise<int>>& all) { return reactor::as_completed(all); });
}

std::uint64_t gather_cancel(std::size_t size, std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    return bench::in_rounds(operations, size, [&] {
        const std::vector<Promise<int>> all = make(loop, size);
        const auto gathered = reactor::gather(all);
        measured([&] {
            gathered.cancel();
            run_once(loop);
        });
        gathered.error();  // read, or it is reported
    });
}

/// A chain of continuations, each of the one before; for each link.
std::uint64_t chain(std::size_t size, std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    const auto round = [&] {
        const Promise<int> first = loop.create_promise<int>();
        Promise<int> last = first;
        for (std::size_t i = 0; i < size; ++i) last = last.then([](int value) { return value; });
        first.set_result(1);
        while (!last.done()) run_once(loop);
    };
    round();
    std::uint64_t done = 0;
    measured([&] { done = bench::in_rounds(operations, size, round); });
    return done;
}

/// The chain's end is cancelled: the request goes all the way to its beginning.
std::uint64_t chain_cancel(std::size_t size, std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    return bench::in_rounds(operations, size, [&] {
        const Promise<int> first = loop.create_promise<int>();
        Promise<int> last = first;
        for (std::size_t i = 0; i < size; ++i) last = last.then([](int value) { return value; });
        measured([&] {
            last.cancel();
            while (!last.done()) run_once(loop);
        });
    });
}

// ---- one common promise ---------------------------------------------------------------------

/// So many callbacks, queued and run.
std::uint64_t common_done(std::size_t size, std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    int sum = 0;
    const auto round = [&] {
        const Promise<int> common = loop.create_promise<int>();
        for (std::size_t i = 0; i < size; ++i) {
            common.add_done_callback([&sum](const Promise<int>& done) { sum += done.result(); });
        }
        common.set_result(1);
        run_once(loop);
    };
    round();
    std::uint64_t done = 0;
    measured([&] { done = bench::in_rounds(operations, size, round); });
    return done;
}

/// Any one of so many waits is ended by `end(wait)` and another one begins, by `begin(common)`.
template <class Wait, class Begin, class End>
std::uint64_t replace(std::size_t size, std::uint64_t operations, Measurement& measured,
                      Begin begin, End end) {
    reactor::EventLoop loop;
    const Promise<int> common = loop.create_promise<int>();
    std::vector<Wait> waits;
    for (std::size_t i = 0; i < size; ++i) waits.push_back(begin(loop, common));
    bench::Pick pick;
    const auto round = [&] {
        for (std::size_t i = 0; i < batch; ++i) {
            Wait& one = waits[pick(size)];
            end(common, one);
            one = begin(loop, common);
        }
        run_once(loop);
    };
    bench::in_rounds(2 * size, batch, round);
    std::uint64_t done = 0;
    measured([&] { done = bench::in_rounds(operations, batch, round); });
    return done;
}

void cancel(const Promise<int>&, const reactor::AnyPromise& wait) { wait.cancel(); }

std::uint64_t common_shield(std::size_t size, std::uint64_t operations, Measurement& measured) {
    return replace<Promise<int>>(
        size, operations, measured,
        [](reactor::EventLoop&, const Promise<int>& common) { return reactor::shield(common); },
        &cancel);
}

std::uint64_t common_wait(std::size_t size, std::uint64_t operations, Measurement& measured) {
    using Wait = Promise<reactor::WaitResult<Promise<int>>>;
    return replace<Wait>(
        size, operations, measured,
        [](reactor::EventLoop&, const Promise<int>& common) {
            return reactor::wait(std::vector<Promise<int>>{common});
        },
        &cancel);
}

std::uint64_t common_scope(std::size_t size, std::uint64_t operations, Measurement& measured) {
    using Owner = std::unique_ptr<reactor::Scope>;
    return replace<Owner>(
        size, operations, measured,
        [](reactor::EventLoop& loop, const Promise<int>& common) {
            Owner scope(new reactor::Scope(loop));
            common.add_done_callback(*scope, [](const Promise<int>&) {});
            return scope;
        },
        [](const Promise<int>&, Owner& scope) { scope.reset(); });
}

/// All of so many waits end, in no order, and the promise stays.
std::uint64_t common_end(std::size_t size, std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    const Promise<int> common = loop.create_promise<int>();
    bench::Pick pick;
    return bench::in_rounds(operations, size, [&] {
        std::vector<Promise<int>> waits;
        for (std::size_t i = 0; i < size; ++i) waits.push_back(reactor::shield(common));
        for (std::size_t i = size; i > 1; --i) std::swap(waits[i - 1], waits[pick(i)]);
        measured([&] {
            for (const Promise<int>& wait : waits) wait.cancel();
            run_once(loop);
        });
    });
}

}  // namespace

int main(int argc, char** argv) {
    constexpr std::size_t many = 100000;
    constexpr std::size_t million = 1000000;
    return bench::run(
        std::vector<bench::Growth>{
            {"promise", "flat", million, 2000000, 100000, life},
            {"promise-complete", "flat", million, 1000000, 100000, complete},
            {"gather", "flat", million, 1000000, 100000, gather},
            {"gather-cancel", "flat", million, 1000000, 100000, gather_cancel},
            {"wait", "flat", million, 1000000, 100000, wait},
            {"as_completed", "flat", million, 1000000, 100000, as_completed},
            {"chain", "flat", many, 300000, 100000, chain},
            {"chain-cancel", "flat", many, 300000, 100000, chain_cancel},
            {"common-done", "flat", million, 2000000, 100000, common_done},
            {"common-shield-cancel", "flat", million, 1000000, 100000, common_shield},
            {"common-wait-cancel", "flat", million, 1000000, 100000, common_wait},
            {"common-scope-end", "flat", million, 1000000, 100000, common_scope},
            {"common-end", "flat", million, 1000000, 100000, common_end},
        },
        argc, argv);
}
