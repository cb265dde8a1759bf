// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_MEASURE_HPP
#define REACTOR_TEST_BENCH_MEASURE_HPP

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <future>
#include <thread>
#include <vector>

#include <time.h>

/// Calls f(data). A function of its own with a plain name, so that callgrind can be told to count
/// what happens inside and nothing else: --toggle-collect='reactor_bench_measured*'. On every
/// thread whose work counts.
extern "C" __attribute__((noinline)) inline void reactor_bench_measured(void (*f)(void*),
                                                                        void* data) {
    f(data);
    asm volatile("" ::: "memory");  // no tail call: it would end the function too early
}

/// What the benchmark's programs have in common: a table of workloads, each with our implementation
/// and the one it is compared with, and a main() that runs one of them.
namespace bench {

/// Adds up the CPU time of what a run has to measure, all threads of the process together. Owned
/// by main(), used on its thread.
class Measurement {
public:
    template <class F>
    void operator()(F f) {
        const std::uint64_t before = now();
        reactor_bench_measured([](void* data) { (*static_cast<F*>(data))(); }, &f);
        nanoseconds_ += now() - before;
    }

    std::uint64_t nanoseconds() const noexcept { return nanoseconds_; }

private:
    static std::uint64_t now() noexcept {
        timespec time;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return static_cast<std::uint64_t>(time.tv_sec) * 1000000000u +
               static_cast<std::uint64_t>(time.tv_nsec);
    }

    std::uint64_t nanoseconds_ = 0;
};

/// A second thread that sleeps. With one thread libstdc++ counts its shared pointers, and glibc
/// locks its mutexes, without atomics: figures that no program with a thread pool would reach.
class IdleThread {
public:
    IdleThread() : thread_([this] { end_.get_future().wait(); }) {}
    IdleThread(const IdleThread&) = delete;
    IdleThread& operator=(const IdleThread&) = delete;
    ~IdleThread() {
        end_.set_value();
        thread_.join();
    }

private:
    std::promise<void> end_;
    std::thread thread_;
};

/// Runs at least `operations` operations and returns how many they were.
using Run = std::uint64_t (*)(std::uint64_t operations, Measurement& measured);

struct Workload {
    const char* name;
    const char* rival;         // what ours is compared with
    std::uint64_t operations;  // for a quarter of a second or so
    std::uint64_t counted;     // for a run under valgrind or strace; 0: not to be counted
    Run run_ours;
    Run run_rival;
};

/// `program list` prints a line "workload rival operations counted" for each workload; `program
/// WORKLOAD IMPLEMENTATION [OPERATIONS]` runs one and prints a line "workload implementation
/// operations cpu_ns_per_op".
inline int run(const std::vector<Workload>& workloads, int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "list") == 0) {
        for (const Workload& workload : workloads) {
            std::printf("%s %s %llu %llu\n", workload.name, workload.rival,
                        static_cast<unsigned long long>(workload.operations),
                        static_cast<unsigned long long>(workload.counted));
        }
        return 0;
    }
    for (const Workload& workload : workloads) {
        if (argc < 3 || std::strcmp(argv[1], workload.name) != 0) continue;
        const bool ours = std::strcmp(argv[2], "ours") == 0;
        if (!ours && std::strcmp(argv[2], workload.rival) != 0) continue;
        const std::uint64_t wanted =
            argc > 3 ? std::strtoull(argv[3], nullptr, 10) : workload.operations;
        try {
            const IdleThread idle;
            Measurement measured;
            const std::uint64_t done = (ours ? workload.run_ours : workload.run_rival)(
                std::max<std::uint64_t>(wanted, 1), measured);
            std::printf("%s %s %llu %.2f\n", workload.name, argv[2],
                        static_cast<unsigned long long>(done),
                        static_cast<double>(measured.nanoseconds()) / static_cast<double>(done));
            return 0;
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s %s: %s\n", argv[1], argv[2], error.what());
            return 1;
        }
    }
    std::fprintf(stderr, "usage: %s list | WORKLOAD IMPLEMENTATION [OPERATIONS]\n", argv[0]);
    return 2;
}

}  // namespace bench

#endif
