// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_PEERS_RING_WORKLOADS_HPP
#define REACTOR_TEST_BENCH_PEERS_RING_WORKLOADS_HPP

#include <cstddef>
#include <string>
#include <vector>

#include <test/bench/peers/peer_program.hpp>
#include <test/bench/ring.hpp>

namespace bench {

template <class Watcher, std::size_t places, std::size_t active>
PeerWorkload ring_workload(const char* implementation) {
    return {"ring-" + std::to_string(places) + "-" + std::to_string(active),
            implementation,
            200000,
            20000,
            pass_around<Watcher, places, active>,
            ring_descriptors(places)};
}

/// The rings with a peer's `Watcher`, which is what pass_around() asks for.
template <class Watcher>
std::vector<PeerWorkload> ring_workloads(const char* implementation) {
    return {ring_workload<Watcher, 100, 1>(implementation),
            ring_workload<Watcher, 100, 100>(implementation),
            ring_workload<Watcher, 1000, 1>(implementation),
            ring_workload<Watcher, 1000, 100>(implementation),
            ring_workload<Watcher, 1000, 1000>(implementation),
            ring_workload<Watcher, 10000, 1>(implementation),
            ring_workload<Watcher, 10000, 100>(implementation),
            ring_workload<Watcher, 10000, 1000>(implementation)};
}

}  // namespace bench

#endif
