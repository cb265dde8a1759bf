// SPDX-License-Identifier: BSL-1.0
//
// What an operation on a timer costs while so many others are armed. The deadlines are random; the
// clock is the benchmark's own, so that every run does the same. A timer that is added, fires or is
// moved to an earlier time goes through a heap: logarithmic. Moved to a later one it is only noted.
#include <reactor/clock.hpp>
#include <reactor/combinators.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <test/bench/growth.hpp>

namespace {

using bench::Measurement;
using reactor::Duration;
using reactor::TimePoint;

constexpr std::int64_t start = 1000000000;  // of the clock, in nanoseconds
constexpr std::int64_t spread = 100000000;  // the deadlines' range

TimePoint at(std::int64_t nanoseconds) { return TimePoint(Duration(nanoseconds)); }

class StepClock final : public reactor::Clock {
public:
    TimePoint now() const noexcept override { return at(nanoseconds); }

    std::int64_t nanoseconds = start;
};

struct Timers {
    std::int64_t deadline() noexcept {
        return start + static_cast<std::int64_t>(pick(static_cast<std::size_t>(spread)));
    }

    bench::Pick pick;
    StepClock clock;
    reactor::EventLoop loop{reactor::default_selector(), clock};
};

struct Armed : Timers {
    explicit Armed(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            deadlines.push_back(deadline());
            handles.push_back(loop.call_at(at(deadlines.back()), [] {}));
        }
    }

    std::vector<std::int64_t> deadlines;
    std::vector<reactor::TimerHandle> handles;
};

std::uint64_t add_and_cancel(std::size_t size, std::uint64_t operations, Measurement& measured) {
    Armed timers(size);
    const auto one = [&timers] { timers.loop.call_at(at(timers.deadline()), [] {}).cancel(); };
    bench::in_rounds(2 * size, 1, one);  // until the heap has room for those that are cancelled
    measured([&] { bench::in_rounds(operations, 1, one); });
    return operations;
}

std::uint64_t push_back(std::size_t size, std::uint64_t operations, Measurement& measured) {
    Armed timers(size);
    measured([&] {
        bench::in_rounds(operations, 1, [&timers, size] {
            const std::size_t one = timers.pick(size);
            timers.handles[one].reschedule(at(timers.deadlines[one] += spread));
        });
    });
    return operations;
}

/// Moved to a random earlier time, as far from the others as it was.
std::uint64_t pull_forward(std::size_t size, std::uint64_t operations, Measurement& measured) {
    Armed timers(size);
    const auto one = [&timers, size] {
        const std::size_t which = timers.pick(size);
        timers.handles[which].reschedule(at(timers.deadlines[which] -= spread / 1000));
    };
    bench::in_rounds(2 * size, 1, one);
    measured([&] { bench::in_rounds(operations, 1, one); });
    return operations;
}

/// A timer that arms itself for the next period whenever it fires.
struct Periodic {
    Timers* owner;
    std::int64_t deadline;

    void arm() {
        owner->loop.call_at(at(deadline), [this] {
            deadline += spread;
            arm();
        });
    }
};

std::uint64_t fire(std::size_t size, std::uint64_t operations, Measurement& measured) {
    Timers timers;
    std::vector<Periodic> periodic;
    periodic.reserve(size);
    for (std::size_t i = 0; i < size; ++i) {
        periodic.push_back(Periodic{&timers, timers.deadline()});
        periodic.back().arm();
    }
    // A hundred in each iteration, however many there are.
    constexpr std::size_t batch = bench::smallest_size;
    const std::int64_t step = spread / static_cast<std::int64_t>(size / batch);
    const auto iteration = [&] {
        timers.clock.nanoseconds += step;
        timers.loop.run_once(Duration::zero());
    };
    bench::in_rounds(size, batch, iteration);
    std::uint64_t done = 0;
    measured([&] { done = bench::in_rounds(operations, batch, iteration); });
    return done;
}

/// A wait_for() that ends in time: its timer is armed and cancelled.
std::uint64_t wait_for(std::size_t size, std::uint64_t operations, Measurement& measured) {
    Timers timers;
    struct Waiting {
        reactor::Promise<void> source, result;
    };
    std::vector<Waiting> all(size);
    const auto begin = [&timers](Waiting& one) {
        one.source = timers.loop.create_promise<void>();
        one.result = reactor::wait_for(one.source, Duration(timers.deadline()));
    };
    for (Waiting& one : all) begin(one);
    constexpr std::size_t batch = bench::smallest_size;
    const auto round = [&] {
        for (std::size_t i = 0; i < batch; ++i) {
            Waiting& one = all[timers.pick(size)];
            one.source.set_result();
            begin(one);
        }
        timers.loop.run_once(Duration::zero());
    };
    bench::in_rounds(2 * size, batch, round);
    std::uint64_t done = 0;
    measured([&] { done = bench::in_rounds(operations, batch, round); });
    return done;
}

}  // namespace

int main(int argc, char** argv) {
    constexpr std::size_t million = 1000000;
    return bench::run(
        std::vector<bench::Growth>{
            {"timer-add-cancel", "logarithmic", million, 2000000, 100000, add_and_cancel},
            {"timer-fire", "logarithmic", million, 1000000, 100000, fire},
            {"timer-push-back", "flat", million, 5000000, 100000, push_back},
            {"timer-pull-forward", "logarithmic", million, 2000000, 100000, pull_forward},
            {"wait-for", "logarithmic", million, 1000000, 100000, wait_for},
        },
        argc, argv);
}
