// SPDX-License-Identifier: BSL-1.0
//
// A hundred thousand and a million timers: added, cancelled, pushed back, fired, armed again when
// they fire. The deadlines are random; the clock is the benchmark's own and goes in steps of a
// tenth of a millisecond, so that every run does the same. The limit is a hand-written heap.
#include <reactor/clock.hpp>
#include <reactor/event_loop.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <test/bench/measure.hpp>
#include <test/bench/raw_poll.hpp>
#include <test/bench/raw_timers.hpp>

namespace {

using bench::Measurement;
using bench::RawTimers;
using reactor::Duration;
using reactor::TimePoint;

constexpr std::int64_t start = 1000000000;  // of the clock, in nanoseconds
constexpr std::int64_t spread = 100000000;  // the deadlines' range
constexpr std::int64_t step = 100000;

TimePoint at(std::int64_t nanoseconds) { return TimePoint(Duration(nanoseconds)); }

class StepClock final : public reactor::Clock {
public:
    TimePoint now() const noexcept override { return at(nanoseconds); }

    std::int64_t nanoseconds = start;
};

std::vector<std::int64_t> random_deadlines(std::size_t count) {
    std::mt19937_64 random(count);  // the same ones in every run
    std::uniform_int_distribution<std::int64_t> range(0, spread - 1);
    std::vector<std::int64_t> deadlines(count);
    for (std::int64_t& deadline : deadlines) deadline = start + range(random);
    return deadlines;
}

std::uint64_t rounds_for(std::uint64_t operations, std::size_t count) {
    return (operations + count - 1) / count;
}

/// Our timers, with what all workloads do to them.
struct Ours {
    explicit Ours(std::size_t count) : deadlines(random_deadlines(count)) {
        handles.reserve(count);
        add();  // memory is taken once and kept: it is not what is measured
        cancel();
    }

    void add() {
        for (const std::int64_t deadline : deadlines) {
            handles.push_back(loop.call_at(at(deadline), [this] { ++fired; }));
        }
    }
    void cancel() {
        for (reactor::TimerHandle& handle : handles) {
            handle.cancel();
            handle = reactor::TimerHandle();
        }
        handles.clear();
    }
    void push_back(std::int64_t by) {
        for (std::size_t i = 0; i < handles.size(); ++i) {
            handles[i].reschedule(at(deadlines[i] + by));
        }
    }
    /// Runs the loop through `length` of the clock's time.
    void run(std::int64_t length) {
        for (std::int64_t passed = 0; passed < length; passed += step) {
            clock.nanoseconds += step;
            loop.run_once(Duration::zero());
        }
    }

    std::vector<std::int64_t> deadlines;
    StepClock clock;
    reactor::EventLoop loop{reactor::default_selector(), clock};
    std::vector<reactor::TimerHandle> handles;
    std::uint64_t fired = 0;
};

struct Limit {
    explicit Limit(std::size_t count) : deadlines(random_deadlines(count)) {
        handles.reserve(count);
        add();
        cancel();
    }

    void add() {
        for (const std::int64_t deadline : deadlines) {
            handles.push_back(timers.add(
                deadline, [](void* data) { ++static_cast<Limit*>(data)->fired; }, this));
        }
    }
    void cancel() {
        for (RawTimers::Node* node : handles) timers.cancel(node);
        handles.clear();
    }
    void push_back(std::int64_t by) {
        for (std::size_t i = 0; i < handles.size(); ++i) {
            RawTimers::push_back(handles[i], deadlines[i] + by);
        }
    }
    void run(std::int64_t length) {
        for (std::int64_t passed = 0; passed < length; passed += step) {
            now += step;
            poll.look();
            timers.run(now);
        }
    }

    std::vector<std::int64_t> deadlines;
    std::int64_t now = start;
    bench::RawPoll poll;
    RawTimers timers;
    std::vector<RawTimers::Node*> handles;
    std::uint64_t fired = 0;
};

template <class Timers, std::size_t count>
std::uint64_t add(std::uint64_t operations, Measurement& measured) {
    Timers timers(count);
    const std::uint64_t rounds = rounds_for(operations, count);
    for (std::uint64_t i = 0; i < rounds; ++i) {
        measured([&] { timers.add(); });
        timers.cancel();
    }
    return rounds * count;
}

template <class Timers, std::size_t count>
std::uint64_t cancel(std::uint64_t operations, Measurement& measured) {
    Timers timers(count);
    const std::uint64_t rounds = rounds_for(operations, count);
    for (std::uint64_t i = 0; i < rounds; ++i) {
        timers.add();
        measured([&] { timers.cancel(); });
    }
    return rounds * count;
}

template <class Timers, std::size_t count>
std::uint64_t push_back(std::uint64_t operations, Measurement& measured) {
    Timers timers(count);
    timers.add();
    const std::uint64_t rounds = rounds_for(operations, count);
    measured([&] {
        for (std::uint64_t i = 1; i <= rounds; ++i) {
            timers.push_back(spread * static_cast<std::int64_t>(i));
        }
    });
    timers.cancel();
    return rounds * count;
}

template <class Timers, std::size_t count>
std::uint64_t fire(std::uint64_t operations, Measurement& measured) {
    Timers timers(count);
    const std::uint64_t rounds = rounds_for(operations, count);
    for (std::uint64_t i = 0; i < rounds; ++i) {
        timers.add();
        timers.handles.clear();
        measured([&] { timers.run(spread); });
        for (std::int64_t& deadline : timers.deadlines) deadline += spread;
    }
    return timers.fired;
}

/// A timer that arms itself for the next period whenever it fires.
struct Periodic {
    Ours* owner;
    std::int64_t deadline;

    void arm() {
        owner->loop.call_at(at(deadline), [this] {
            ++owner->fired;
            deadline += spread;
            arm();
        });
    }
};

struct RawPeriodic {
    Limit* owner;
    std::int64_t deadline;

    void arm() { owner->timers.add(deadline, &RawPeriodic::fire, this); }
    static void fire(void* data) {
        RawPeriodic& self = *static_cast<RawPeriodic*>(data);
        ++self.owner->fired;
        self.deadline += spread;
        self.arm();
    }
};

template <class Timers, class Timer, std::size_t count>
std::uint64_t rearm(std::uint64_t operations, Measurement& measured) {
    Timers timers(count);
    std::vector<Timer> periodic;
    periodic.reserve(count);
    for (const std::int64_t deadline : timers.deadlines) {
        periodic.push_back(Timer{&timers, deadline});
        periodic.back().arm();
    }
    const std::uint64_t rounds = rounds_for(operations, count);
    measured([&] { timers.run(spread * static_cast<std::int64_t>(rounds)); });
    return timers.fired;
}

constexpr std::size_t many = 100000;
constexpr std::size_t million = 1000000;

}  // namespace

int main(int argc, char** argv) {
    return bench::run(
        {
            {"timer-add-100k",
             3000000,
             many,
             {{"ours", add<Ours, many>}, {"limit", add<Limit, many>}}},
            {"timer-add-1M",
             2000000,
             0,
             {{"ours", add<Ours, million>}, {"limit", add<Limit, million>}}},
            {"timer-cancel-100k",
             3000000,
             many,
             {{"ours", cancel<Ours, many>}, {"limit", cancel<Limit, many>}}},
            {"timer-cancel-1M",
             2000000,
             0,
             {{"ours", cancel<Ours, million>}, {"limit", cancel<Limit, million>}}},
            {"timer-push-back-100k",
             10000000,
             many,
             {{"ours", push_back<Ours, many>}, {"limit", push_back<Limit, many>}}},
            {"timer-push-back-1M",
             10000000,
             0,
             {{"ours", push_back<Ours, million>}, {"limit", push_back<Limit, million>}}},
            {"timer-fire-100k",
             1000000,
             many,
             {{"ours", fire<Ours, many>}, {"limit", fire<Limit, many>}}},
            {"timer-fire-1M",
             1000000,
             0,
             {{"ours", fire<Ours, million>}, {"limit", fire<Limit, million>}}},
            {"timer-rearm-100k",
             1000000,
             many,
             {{"ours", rearm<Ours, Periodic, many>}, {"limit", rearm<Limit, RawPeriodic, many>}}},
            {"timer-rearm-1M",
             1000000,
             0,
             {{"ours", rearm<Ours, Periodic, million>},
              {"limit", rearm<Limit, RawPeriodic, million>}}},
        },
        argc, argv);
}
