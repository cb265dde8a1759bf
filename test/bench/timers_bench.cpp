// SPDX-License-Identifier: BSL-1.0
//
// A hundred thousand and a million timers: added, cancelled, pushed back, fired, armed again when
// they fire. The deadlines are random; the clock is the benchmark's own and goes in steps of a
// tenth of a millisecond, so that every run does the same. The limit is a hand-written heap. It
// pushes a timer back as ours does, by a note that is looked at when its time has come;
// "limit-moved" is a heap that moves the entry.
#include <reactor/clock.hpp>
#include <reactor/event_loop.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <test/bench/measure.hpp>
#include <test/bench/raw_moving_timers.hpp>
#include <test/bench/raw_poll.hpp>
#include <test/bench/raw_timers.hpp>
#include <test/bench/timer_workloads.hpp>

namespace {

using bench::many;
using bench::million;
using bench::random_deadlines;
using bench::RawTimers;
using bench::spread;
using bench::step;
using reactor::Duration;
using reactor::TimePoint;

TimePoint at(std::int64_t nanoseconds) { return TimePoint(Duration(nanoseconds)); }

class StepClock final : public reactor::Clock {
public:
    TimePoint now() const noexcept override { return at(nanoseconds); }

    std::int64_t nanoseconds = bench::start;
};

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
    void forget() { handles.clear(); }
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
    void forget() { handles.clear(); }
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
    std::int64_t now = bench::start;
    bench::RawPoll poll;
    RawTimers timers;
    std::vector<RawTimers::Node*> handles;
    std::uint64_t fired = 0;
};

struct MovingLimit {
    explicit MovingLimit(std::size_t count) : deadlines(random_deadlines(count)), timers(count) {}

    void add() {
        for (std::size_t i = 0; i < deadlines.size(); ++i) timers.add(i, deadlines[i]);
    }
    void cancel() {}
    void push_back(std::int64_t by) {
        for (std::size_t i = 0; i < deadlines.size(); ++i) timers.push_back(i, deadlines[i] + by);
    }

    std::vector<std::int64_t> deadlines;
    bench::RawMovingTimers timers;
};

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

}  // namespace

int main(int argc, char** argv) {
    return bench::run(
        {
            {"timer-add-100k",
             3000000,
             many,
             {{"ours", bench::add<Ours, many>}, {"limit", bench::add<Limit, many>}}},
            {"timer-add-1M",
             2000000,
             0,
             {{"ours", bench::add<Ours, million>}, {"limit", bench::add<Limit, million>}}},
            {"timer-cancel-100k",
             3000000,
             many,
             {{"ours", bench::cancel<Ours, many>}, {"limit", bench::cancel<Limit, many>}}},
            {"timer-cancel-1M",
             2000000,
             0,
             {{"ours", bench::cancel<Ours, million>}, {"limit", bench::cancel<Limit, million>}}},
            {"timer-push-back-100k",
             10000000,
             many,
             {{"ours", bench::push_back<Ours, many>},
              {"limit", bench::push_back<Limit, many>},
              {"limit-moved", bench::push_back<MovingLimit, many>}}},
            {"timer-push-back-1M",
             10000000,
             0,
             {{"ours", bench::push_back<Ours, million>},
              {"limit", bench::push_back<Limit, million>},
              {"limit-moved", bench::push_back<MovingLimit, million>}}},
            {"timer-fire-100k",
             1000000,
             many,
             {{"ours", bench::fire<Ours, many>}, {"limit", bench::fire<Limit, many>}}},
            {"timer-fire-1M",
             1000000,
             0,
             {{"ours", bench::fire<Ours, million>}, {"limit", bench::fire<Limit, million>}}},
            {"timer-rearm-100k",
             1000000,
             many,
             {{"ours", bench::rearm<Ours, Periodic, many>},
              {"limit", bench::rearm<Limit, RawPeriodic, many>}}},
            {"timer-rearm-1M",
             1000000,
             0,
             {{"ours", bench::rearm<Ours, Periodic, million>},
              {"limit", bench::rearm<Limit, RawPeriodic, million>}}},
        },
        argc, argv);
}
