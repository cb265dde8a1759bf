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
#include <string>
#include <thread>
#include <utility>
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

/// What the benchmark's programs have in common: a table of workloads, each with the
/// implementations of it that are in this program, and a main() that runs one of them.
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

struct Implementation {
    const char* name;  // "ours", "limit" or a peer's; a variant: "ours-tasks"
    Run run;
};

/// What its implementations, in this program and others, do all alike. Of growth-THING@SIZE it is
/// also said how the cost of an operation may grow with the size: "flat" or "logarithmic".
struct Workload {
    Workload(std::string name_, std::uint64_t operations_, std::uint64_t counted_,
             std::vector<Implementation> implementations_, const char* growth_ = "")
        : name(std::move(name_)),
          operations(operations_),
          counted(counted_),
          implementations(std::move(implementations_)),
          growth(growth_) {}

    std::string name;
    std::uint64_t operations;  // for a quarter of a second of ours or so; never more are run
    std::uint64_t counted;     // for a run under valgrind or strace; 0: not to be counted
    std::vector<Implementation> implementations;
    const char* growth;
};

/// The library in which an implementation is one call away, and its version.
struct Version {
    const char* implementation;
    std::string library;
};

inline void print_list(const std::vector<Workload>& workloads) {
    for (const Workload& workload : workloads) {
        for (const Implementation& implementation : workload.implementations) {
            std::printf("%s %s %llu %llu%s%s\n", workload.name.c_str(), implementation.name,
                        static_cast<unsigned long long>(workload.operations),
                        static_cast<unsigned long long>(workload.counted),
                        *workload.growth ? " " : "", workload.growth);
        }
    }
}

/// Runs it and prints its line; the status to end with.
inline int run_one(const Workload& workload, const Implementation& implementation,
                   std::uint64_t operations) {
    try {
        const IdleThread idle;
        Measurement measured;
        const std::uint64_t done =
            implementation.run(std::max<std::uint64_t>(operations, 1), measured);
        std::printf("%s %s %llu %.2f\n", workload.name.c_str(), implementation.name,
                    static_cast<unsigned long long>(done),
                    static_cast<double>(measured.nanoseconds()) / static_cast<double>(done));
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s %s: %s\n", workload.name.c_str(), implementation.name,
                     error.what());
        return 1;
    }
}

/// `program list` prints a line "workload implementation operations counted [growth]" for each that
/// is in here; `program version` a line "implementation library and version" for each of
/// `versions`; `program WORKLOAD IMPLEMENTATION [OPERATIONS]` runs one and prints a line "workload
/// implementation operations cpu_ns_per_operation".
inline int run(const std::vector<Workload>& workloads, int argc, char** argv,
               const std::vector<Version>& versions = std::vector<Version>()) {
    if (argc == 2 && std::strcmp(argv[1], "list") == 0) {
        print_list(workloads);
        return 0;
    }
    if (argc == 2 && std::strcmp(argv[1], "version") == 0) {
        for (const Version& version : versions) {
            std::printf("%s %s\n", version.implementation, version.library.c_str());
        }
        return 0;
    }
    for (const Workload& workload : workloads) {
        if (argc < 3 || argv[1] != workload.name) continue;
        for (const Implementation& implementation : workload.implementations) {
            if (std::strcmp(argv[2], implementation.name) != 0) continue;
            return run_one(workload, implementation,
                           argc > 3 ? std::strtoull(argv[3], nullptr, 10) : workload.operations);
        }
    }
    std::fprintf(stderr, "usage: %s list | version | WORKLOAD IMPLEMENTATION [OPERATIONS]\n",
                 argv[0]);
    return 2;
}

}  // namespace bench

#endif
