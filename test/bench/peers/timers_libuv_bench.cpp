// SPDX-License-Identifier: BSL-1.0
//
// Timers on libuv: uv_timer_t, whose time is in whole milliseconds. Started again they are pushed
// back.
#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <test/bench/peers/libuv_loop.hpp>
#include <test/bench/peers/peer_timers.hpp>

namespace {

/// Rounded up.
std::uint64_t milliseconds_until(std::int64_t deadline) {
    return static_cast<std::uint64_t>((deadline - bench::stepped_now() + 999999) / 1000000);
}

class Timers : public bench::PeerTimers<Timers> {
public:
    explicit Timers(std::size_t count) : PeerTimers<Timers>(count), timers_(count) {
        uv_update_time(loop.get());
        for (uv_timer_t& timer : timers_) {
            uv_timer_init(loop.get(), &timer);
            timer.data = this;
        }
    }
    ~Timers() { cancel(); }

    void add() { push_back(0); }
    void cancel() {
        for (uv_timer_t& timer : timers_) uv_timer_stop(&timer);
    }
    void push_back(std::int64_t by) {
        for (std::size_t i = 0; i < timers_.size(); ++i) {
            uv_timer_start(&timers_[i], &Timers::expired, milliseconds_until(deadlines[i] + by), 0);
        }
    }
    void turn() { uv_run(loop.get(), UV_RUN_NOWAIT); }

private:
    static void expired(uv_timer_t* timer) { ++static_cast<Timers*>(timer->data)->fired; }

    std::vector<uv_timer_t> timers_;

public:
    bench::LibuvLoop loop;  // closes the timers
};

struct Periodic {
    Timers* owner;
    std::int64_t deadline;
    uv_timer_t timer;

    Periodic(Timers* timers, std::int64_t first) : owner(timers), deadline(first), timer() {}

    void arm() {
        uv_timer_init(owner->loop.get(), &timer);
        timer.data = this;
        uv_timer_start(&timer, &Periodic::expired, milliseconds_until(deadline), 0);
    }
    static void expired(uv_timer_t* timer) {
        Periodic& self = *static_cast<Periodic*>(timer->data);
        ++self.owner->fired;
        self.deadline += bench::spread;
        uv_timer_start(timer, &Periodic::expired, milliseconds_until(self.deadline), 0);
    }
};

}  // namespace

int main(int argc, char** argv) {
    return bench::run_peer(bench::libuv_version(),
                           bench::timer_workloads<Timers, Periodic>("libuv"), {}, argc, argv);
}
