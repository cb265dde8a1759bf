// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_PEERS_PEER_PROGRAM_HPP
#define REACTOR_TEST_BENCH_PEERS_PEER_PROGRAM_HPP

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include <test/bench/measure.hpp>
#include <test/bench/peer_process.hpp>

/// What the programs of other libraries have in common: each does what ours is measured by, under
/// the same workload's name, and says which library and version it is.
namespace bench {

struct PeerWorkload {
    std::string name;
    const char* implementation;
    std::uint64_t operations;  // for a quarter of a second or so
    std::uint64_t counted;     // for a run under valgrind or strace; 0: not to be counted
    Run run;
    std::uint64_t descriptors;  // that it needs
};

/// The descriptors of what needs few.
constexpr std::uint64_t few = 128;

/// The name that this program was called by, to run itself with once more.
inline const char*& program_name() {
    static const char* name = nullptr;
    return name;
}

/// What a child of this program does with the numbers that PeerProcess gave it.
struct PeerRole {
    const char* name;
    int numbers;
    void (*play)(char** numbers);
};

/// `program list` prints "workload implementation operations counted" for each that the system
/// allows; `program version` prints "implementation library and version"; `program WORKLOAD
/// IMPLEMENTATION [OPERATIONS]` runs one and prints "workload implementation operations
/// cpu_ns_per_op".
inline int run_peer(const std::string& version, const std::vector<PeerWorkload>& workloads,
                    const std::vector<PeerRole>& roles, int argc, char** argv) {
    program_name() = argv[0];
    const std::string command = argc > 1 ? argv[1] : "";
    try {
        const std::uint64_t descriptors = raise_descriptor_limit();
        for (const PeerRole& role : roles) {
            if (command != role.name || argc != 2 + role.numbers) continue;
            role.play(argv + 2);
            return 0;
        }
        if (argc == 2 && command == "version") {
            const char* before = "";
            for (const PeerWorkload& workload : workloads) {
                if (std::strcmp(before, workload.implementation) == 0) continue;
                before = workload.implementation;
                std::printf("%s %s\n", workload.implementation, version.c_str());
            }
            return 0;
        }
        for (const PeerWorkload& workload : workloads) {
            if (argc == 2 && command == "list") {
                if (workload.descriptors <= descriptors) {
                    std::printf("%s %s %llu %llu\n", workload.name.c_str(), workload.implementation,
                                static_cast<unsigned long long>(workload.operations),
                                static_cast<unsigned long long>(workload.counted));
                } else {
                    std::fprintf(stderr,
                                 "%s %s: left out, %llu descriptors are too few (ulimit -n)\n",
                                 workload.name.c_str(), workload.implementation,
                                 static_cast<unsigned long long>(descriptors));
                }
                continue;
            }
            if (argc < 3 || workload.name != command ||
                std::strcmp(argv[2], workload.implementation) != 0) {
                continue;
            }
            const std::uint64_t wanted =
                argc > 3 ? std::strtoull(argv[3], nullptr, 10) : workload.operations;
            const IdleThread idle;
            Measurement measured;
            const std::uint64_t done = workload.run(std::max<std::uint64_t>(wanted, 1), measured);
            std::printf("%s %s %llu %.2f\n", command.c_str(), argv[2],
                        static_cast<unsigned long long>(done),
                        static_cast<double>(measured.nanoseconds()) / static_cast<double>(done));
            return 0;
        }
        if (argc == 2 && command == "list") return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s %s: %s\n", argv[0], command.c_str(), error.what());
        return 1;
    }
    std::fprintf(stderr, "usage: %s list | version | WORKLOAD IMPLEMENTATION [OPERATIONS]\n",
                 argv[0]);
    return 2;
}

}  // namespace bench

#endif
