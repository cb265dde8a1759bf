// SPDX-License-Identifier: BSL-1.0
//
// How long a thread's post takes to run on a loop that sleeps. Two loops, each on a thread of its
// own, post to each other in turn: no other work is there, and each post wakes the other thread up.
// The figures are for one such wake-up: the median time, half of a round trip, and the CPU time of
// both threads. The limit is the same with an eventfd and epoll_wait(). Where the threads share a
// CPU, the time is that of a change of threads; else, as a rule, that of waking an idle CPU.
#include <reactor/event_loop.hpp>

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

void ours(Trips& trips) {
    reactor::EventLoop here;
    reactor::EventLoop there;
    Players players{trips, here, there};
    std::thread other([&there] { there.run_forever(); });
    here.call_soon(&Players::serve, &players);
    here.run_forever();
    other.join();
}

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

}  // namespace

int main(int argc, char** argv) {
    constexpr std::uint64_t usual = 20000;
    if (argc == 2 && std::strcmp(argv[1], "list") == 0) {
        for (const char* implementation : {"ours", "limit"}) {
            std::printf("wake-up %s %llu 0 figures\n", implementation,
                        static_cast<unsigned long long>(usual));
        }
        return 0;
    }
    if (argc == 2 && std::strcmp(argv[1], "version") == 0) return 0;
    const bool known = argc >= 3 && std::strcmp(argv[1], "wake-up") == 0 &&
                       (std::strcmp(argv[2], "ours") == 0 || std::strcmp(argv[2], "limit") == 0);
    if (!known) {
        std::fprintf(stderr, "usage: %s list | version | wake-up ours|limit [OPERATIONS]\n",
                     argv[0]);
        return 2;
    }
    const std::uint64_t operations = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : usual;
    try {
        Trips trips(std::max<std::uint64_t>(operations / 2, 1));
        (std::strcmp(argv[2], "ours") == 0 ? ours : limit)(trips);
        trips.print(argv[2]);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "wake-up %s: %s\n", argv[2], error.what());
        return 1;
    }
}
