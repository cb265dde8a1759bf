// SPDX-License-Identifier: BSL-1.0
//
// Timers on Boost.Asio: steady_timer. What is cancelled is called with an error, which is part of
// cancelling and of pushing back.
#include <boost/asio/detail/config.hpp>
#undef BOOST_ASIO_HAS_TIMERFD  // it would wait for the system's time instead of the benchmark's
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/version.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <test/bench/peers/peer_timers.hpp>

namespace {

namespace asio = boost::asio;
using Error = boost::system::error_code;

std::chrono::steady_clock::time_point at(std::int64_t nanoseconds) {
    return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(nanoseconds));
}

class Timers : public bench::PeerTimers<Timers> {
public:
    explicit Timers(std::size_t count) : PeerTimers<Timers>(count) {
        timers_.reserve(count);
        for (std::size_t i = 0; i < count; ++i) timers_.emplace_back(context);
        add();  // memory is taken once and kept: it is not what is measured
        cancel();
    }

    void add() {
        for (std::size_t i = 0; i < timers_.size(); ++i) arm(i, deadlines[i]);
    }
    void cancel() {
        for (asio::steady_timer& timer : timers_) timer.cancel();
        turn();
    }
    void push_back(std::int64_t by) {
        for (std::size_t i = 0; i < timers_.size(); ++i) arm(i, deadlines[i] + by);
        turn();
    }
    /// One of those there are.
    asio::steady_timer* next_timer() { return &timers_[given_++]; }
    void turn() {
        context.restart();
        context.poll();
    }

    asio::io_context context{1};  // one thread

private:
    void arm(std::size_t i, std::int64_t deadline) {
        timers_[i].expires_at(at(deadline));
        timers_[i].async_wait([this](const Error& error) {
            if (!error) ++fired;
        });
    }

    std::vector<asio::steady_timer> timers_;
    std::size_t given_ = 0;
};

struct Periodic {
    Timers* owner;
    std::int64_t deadline;
    asio::steady_timer* timer;

    Periodic(Timers* timers, std::int64_t first)
        : owner(timers), deadline(first), timer(timers->next_timer()) {}

    void arm() {
        timer->expires_at(at(deadline));
        timer->async_wait([this](const Error& error) {
            if (error) return;
            ++owner->fired;
            deadline += bench::spread;
            arm();
        });
    }
};

}  // namespace

int main(int argc, char** argv) {
    return bench::run_peer(std::string("Boost.Asio ") + BOOST_LIB_VERSION,
                           bench::timer_workloads<Timers, Periodic>("asio"), {}, argc, argv);
}
