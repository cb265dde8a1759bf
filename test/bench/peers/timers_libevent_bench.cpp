// SPDX-License-Identifier: BSL-1.0
//
// Timers on libevent: events with a timeout, which are pushed back by adding them again.
#include <event2/event.h>
#include <event2/event_struct.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <sys/time.h>

#include <test/bench/peers/libevent_base.hpp>
#include <test/bench/peers/peer_timers.hpp>

namespace {

timeval time_until(std::int64_t deadline) {
    const std::int64_t microseconds = (deadline - bench::stepped_now() + 999) / 1000;
    timeval time;
    time.tv_sec = microseconds / 1000000;
    time.tv_usec = microseconds % 1000000;
    return time;
}

class Timers : public bench::PeerTimers<Timers> {
public:
    explicit Timers(std::size_t count) : PeerTimers<Timers>(count), timers_(count) {
        for (event& timer : timers_) evtimer_assign(&timer, base.get(), &Timers::expired, this);
        add();  // the heap is taken once and kept: it is not what is measured
        cancel();
    }

    void add() { push_back(0); }
    void cancel() {
        for (event& timer : timers_) evtimer_del(&timer);
    }
    void push_back(std::int64_t by) {
        for (std::size_t i = 0; i < timers_.size(); ++i) {
            const timeval time = time_until(deadlines[i] + by);
            evtimer_add(&timers_[i], &time);
        }
    }
    void turn() { event_base_loop(base.get(), EVLOOP_NONBLOCK); }

    const bench::LibeventBase base =
        bench::make_libevent_base(bench::libevent_on_one_thread | EVENT_BASE_FLAG_PRECISE_TIMER);

private:
    static void expired(int, short, void* timers) { ++static_cast<Timers*>(timers)->fired; }

    std::vector<event> timers_;
};

struct Periodic {
    Timers* owner;
    std::int64_t deadline;
    event timer;

    Periodic(Timers* timers, std::int64_t first) : owner(timers), deadline(first), timer() {}

    void arm() {
        evtimer_assign(&timer, owner->base.get(), &Periodic::expired, this);
        add();
    }
    void add() {
        const timeval time = time_until(deadline);
        evtimer_add(&timer, &time);
    }
    static void expired(int, short, void* data) {
        Periodic& self = *static_cast<Periodic*>(data);
        ++self.owner->fired;
        self.deadline += bench::spread;
        self.add();
    }
};

}  // namespace

int main(int argc, char** argv) {
    return bench::run_peer(bench::libevent_version(),
                           bench::timer_workloads<Timers, Periodic>("libevent"), {}, argc, argv);
}
