// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_PEERS_DATAGRAM_WORKLOADS_HPP
#define REACTOR_TEST_BENCH_PEERS_DATAGRAM_WORKLOADS_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <unistd.h>

#include <test/bench/datagram_peer.hpp>
#include <test/bench/peers/peer_program.hpp>
#include <test/bench/raw_datagrams.hpp>

namespace bench {

/// A peer's `Server` is constructed with a socket, whose datagrams it echoes, and a descriptor that
/// is readable when that is over; run() runs its loop until then. It closes neither, or a
/// duplicate.
template <class Server, std::size_t depth>
std::uint64_t peer_datagrams(std::uint64_t operations, Measurement& measured) {
    std::uint16_t port = 0;
    const int fd = bind_on_loopback(port);
    DatagramPeer peer(program_name(), port, operations, depth);
    {
        Server server(fd, peer.ended());
        measured([&server] { server.run(); });
    }
    peer.join();
    close(fd);
    return operations;
}

/// The main() of a program with these.
template <class Server>
int run_datagram_peer(const char* implementation, const std::string& version, int argc,
                      char** argv) {
    return run_peer(
        version,
        {{"echo-udp-1", implementation, 50000, 3000, peer_datagrams<Server, 1>, few},
         {"echo-udp-16", implementation, 100000, 10000, peer_datagrams<Server, 16>, few},
         {"echo-udp-64", implementation, 100000, 10000, peer_datagrams<Server, 64>, few}},
        {{"peer", 3, exchange_datagrams}}, argc, argv);
}

}  // namespace bench

#endif
