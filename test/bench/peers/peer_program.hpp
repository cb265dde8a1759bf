// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_PEERS_PEER_PROGRAM_HPP
#define REACTOR_TEST_BENCH_PEERS_PEER_PROGRAM_HPP

#include <cstdint>
#include <cstdio>
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

/// Plays the role that the arguments say, or does what run() does with those workloads for which
/// the system allows enough descriptors.
inline int run_peer(const std::string& version, const std::vector<PeerWorkload>& workloads,
                    const std::vector<PeerRole>& roles, int argc, char** argv) {
    program_name() = argv[0];
    try {
        const std::uint64_t descriptors = raise_descriptor_limit();
        for (const PeerRole& role : roles) {
            if (argc != 2 + role.numbers || std::strcmp(argv[1], role.name) != 0) continue;
            role.play(argv + 2);
            return 0;
        }
        std::vector<Workload> possible;
        std::vector<Version> versions;
        for (const PeerWorkload& workload : workloads) {
            const char* const implementation = workload.implementation;
            if (versions.empty() ||
                std::strcmp(versions.back().implementation, implementation) != 0) {
                versions.push_back({implementation, version});
            }
            if (workload.descriptors <= descriptors) {
                possible.emplace_back(workload.name, workload.operations, workload.counted,
                                      std::vector<Implementation>{{implementation, workload.run}});
            } else {
                std::fprintf(stderr, "%s %s: left out, %llu descriptors are too few (ulimit -n)\n",
                             workload.name.c_str(), implementation,
                             static_cast<unsigned long long>(descriptors));
            }
        }
        return run(possible, argc, argv, versions);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
}

}  // namespace bench

#endif
