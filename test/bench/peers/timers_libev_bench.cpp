// SPDX-License-Identifier: BSL-1.0
//
// Timers on libev: ev_timer, pushed back by ev_timer_again().
#include <ev.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <test/bench/peers/libev_loop.hpp>
#include <test/bench/peers/peer_timers.hpp>

namespace {

ev_tstamp seconds_until(std::int64_t deadline) {
    return static_cast<ev_tstamp>(deadline - bench::stepped_now()) * 1e-9;
}

class Timers : public bench::PeerTimers<Timers> {
public:
    explicit Timers(std::size_t count) : PeerTimers<Timers>(count), timers_(count) {
        ev_now_update(loop.get());
        for (ev_timer& timer : timers_) {
            ev_init(&timer, &Timers::expired);
            timer.data = this;
        }
        add();  // the heap is taken once and kept: it is not what is measured
        cancel();
    }

    void add() {
        for (std::size_t i = 0; i < timers_.size(); ++i) {
            ev_timer_set(&timers_[i], seconds_until(deadlines[i]), 0.);
            ev_timer_start(loop.get(), &timers_[i]);
        }
    }
    void cancel() {
        for (ev_timer& timer : timers_) ev_timer_stop(loop.get(), &timer);
    }
    void push_back(std::int64_t by) {
        for (std::size_t i = 0; i < timers_.size(); ++i) {
            timers_[i].repeat = seconds_until(deadlines[i] + by);
            ev_timer_again(loop.get(), &timers_[i]);
        }
    }
    void turn() { ev_run(loop.get(), EVRUN_NOWAIT); }

    const bench::LibevLoop loop = bench::make_libev_loop();

private:
    static void expired(struct ev_loop*, ev_timer* timer, int) {
        ++static_cast<Timers*>(timer->data)->fired;
    }

    std::vector<ev_timer> timers_;
};

struct Periodic {
    Timers* owner;
    std::int64_t deadline;
    ev_timer timer;

    Periodic(Timers* timers, std::int64_t first) : owner(timers), deadline(first), timer() {}

    void arm() {
        ev_timer_init(&timer, &Periodic::expired, seconds_until(deadline), 0.);
        timer.data = this;
        ev_timer_start(owner->loop.get(), &timer);
    }
    static void expired(struct ev_loop* loop, ev_timer* timer, int) {
        Periodic& self = *static_cast<Periodic*>(timer->data);
        ++self.owner->fired;
        self.deadline += bench::spread;
        ev_timer_set(timer, seconds_until(self.deadline), 0.);
        ev_timer_start(loop, timer);
    }
};

}  // namespace

int main(int argc, char** argv) {
    return bench::run_peer(bench::libev_version(),
                           bench::timer_workloads<Timers, Periodic>("libev"), {}, argc, argv);
}
