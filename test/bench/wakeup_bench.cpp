// SPDX-License-Identifier: BSL-1.0
//
// How long a thread's post takes to run on a loop that sleeps. Two loops, each on a thread of its
// own, post to each other in turn: no other work is there, and each post wakes the other thread up.
// The figures are for one such wake-up: the median time, half of a round trip, and the CPU time of
// both threads. The limit is the same with an eventfd and epoll_wait(). Where the threads share a
// CPU, the time is that of a change of threads; else, as a rule, that of waking an idle CPU. In
// "ours-busy_poll" a loop looks for 50 microseconds before it sleeps, by epoll_wait() or
// ("…-io_uring") in the memory that the kernel writes to.
#include <reactor/event_loop.hpp>
#include <reactor/selector.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <thread>
#include <vector>

#include <time.h>

#include <test/bench/raw_poll.hpp>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t first_ones = 100;  // until both threads and their memory are warm

double cpu_nanoseconds() {
    ::timespec time;
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// What the thread that begins notes of each round trip.
class Trips {
public:
    explicit Trips(std::uint64_t count) : left_(count + first_ones) { nanoseconds_.reserve(left_); }

    void begins() {
        if (nanoseconds_.size() == first_ones) cpu_ = cpu_nanoseconds();
        begin_ = Clock::now();
    }
    std::uint64_t left() const { return left_; }
    /// Whether there is to be another one.
    bool ends() {
        nanoseconds_.push_back(
            std::chrono::duration<double, std::nano>(Clock::now() - begin_).count());
        return --left_ != 0;
    }

    void print(const char* implementation) {
        const double cpu = cpu_nanoseconds() - cpu_;
        const std::uint64_t count = nanoseconds_.size() - first_ones;
        const auto first = nanoseconds_.begin() + first_ones;
        const auto middle = first + static_cast<std::ptrdiff_t>(count / 2);
        std::nth_element(first, middle, nanoseconds_.end());
        std::printf("wake-up %s %llu median_ns=%.0f cpu_ns=%.0f\n", implementation,
                    static_cast<unsigned long long>(2 * count), *middle / 2,
                    cpu / static_cast<double>(2 * count));
    }

private:
    std::uint64_t left_;
    std::vector<double> nanoseconds_;
    Clock::time_point begin_;
    double cpu_ = 0;
};

// ---- two loops ------------------------------------------------------------------------------

struct Players {
    void serve() {
        trips.begins();
        there.call_soon_threadsafe([this] { here.call_soon_threadsafe([this] { back(); }); });
    }
    void back() {
        if (trips.ends()) {
            serve();
            return;
        }
        there.stop_threadsafe();
        here.stop();
    }

    Trips& trips;
    reactor::EventLoop& here;
    reactor::EventLoop& there;
};

void play(Trips& trips, const char* selector, reactor::Duration busy_poll) {
    reactor::EventLoop here(reactor::make_selector(selector));
    reactor::EventLoop there(reactor::make_selector(selector));
    here.set_busy_poll(busy_poll);
    there.set_busy_poll(busy_poll);
    Players players{trips, here, there};
    std::thread other([&there] { there.run_forever(); });
    here.call_soon(&Players::serve, &players);
    here.run_forever();
    other.join();
}

constexpr std::chrono::microseconds a_while(50);

void ours(Trips& trips) { play(trips, "epoll", reactor::Duration::zero()); }
void busy(Trips& trips) { play(trips, "epoll", a_while); }
void busy_on_io_uring(Trips& trips) { play(trips, "io_uring", a_while); }

// ---- the limit ------------------------------------------------------------------------------

void limit(Trips& trips) {
    bench::RawPoll here;
    bench::RawPoll there;
    const std::uint64_t wanted = trips.left();
    std::thread other([&here, &there, wanted] {
        for (std::uint64_t i = 0; i < wanted; ++i) {
            there.sleep();
            here.wake();
        }
    });
    do {
        trips.begins();
        there.wake();
        here.sleep();
    } while (trips.ends());
    other.join();
}

const struct {
    const char* name;
    void (*run)(Trips& trips);
} implementations[] = {{"ours", ours},
                       {"ours-busy_poll", busy},
                       {"ours-busy_poll-io_uring", busy_on_io_uring},
                       {"limit", limit}};

}  // namespace

int main(int argc, char** argv) {
    constexpr std::uint64_t usual = 20000;
    if (argc == 2 && std::strcmp(argv[1], "list") == 0) {
        for (const auto& implementation : implementations) {
            std::printf("wake-up %s %llu 0 figures\n", implementation.name,
                        static_cast<unsigned long long>(usual));
        }
        return 0;
    }
    if (argc == 2 && std::strcmp(argv[1], "version") == 0) return 0;
    for (const auto& implementation : implementations) {
        if (argc < 3 || std::strcmp(argv[1], "wake-up") != 0) continue;
        if (std::strcmp(argv[2], implementation.name) != 0) continue;
        const std::uint64_t operations = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : usual;
        try {
            Trips trips(std::max<std::uint64_t>(operations / 2, 1));
            implementation.run(trips);
            trips.print(implementation.name);
            return 0;
        } catch (const std::exception& error) {
            std::fprintf(stderr, "wake-up %s: %s\n", argv[2], error.what());
            // Without io_uring there is nothing to measure here, and nothing is wrong.
            return implementation.run == busy_on_io_uring ? 3 : 1;
        }
    }
    std::fprintf(stderr, "usage: %s list | version | wake-up IMPLEMENTATION [OPERATIONS]\n",
                 argv[0]);
    return 2;
}
