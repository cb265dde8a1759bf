// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_RING_HPP
#define REACTOR_TEST_BENCH_RING_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

#include <test/bench/measure.hpp>
#include <test/bench/peer_process.hpp>

/// A ring of sockets, as libevent's own benchmark has it: a byte that comes to one is sent on to
/// the next one, and so many bytes are on their way at a time. What it measures is how an event
/// loop finds the few that are ready among the many that it watches.
namespace bench {

/// The sockets, and what is done when one is readable. Owned by the workload.
class Ring {
public:
    /// An even number of sockets, as both ends of each pair are places of the ring: that takes half
    /// the descriptors.
    Ring(std::size_t places, std::uint64_t events) : left_(events) {
        while (sockets_.size() < places) {
            int ends[2];
            checked(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends),
                    "socketpair");
            sockets_.insert(sockets_.end(), ends, ends + 2);
        }
    }
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;
    ~Ring() {
        for (const int fd : sockets_) close(fd);
    }

    /// To be watched: the i-th becomes readable, and then pass(i) is to be called.
    const std::vector<int>& sockets() const noexcept { return sockets_; }

    /// Sets so many bytes on their way, evenly spread.
    void start(std::size_t active) {
        const std::uint64_t bytes = std::min<std::uint64_t>(active, left_);
        to_send_ = left_ - bytes;
        const std::size_t distance = std::max<std::size_t>(sockets_.size() / active, 1);
        for (std::size_t i = 0; i < bytes; ++i) put(i * distance % sockets_.size());
    }

    /// One event. Whether it was the last.
    bool pass(std::size_t place) {
        char byte;
        checked(int(recv(sockets_[place], &byte, 1, 0)), "recv");
        if (to_send_ != 0) {
            --to_send_;
            put(place + 1 == sockets_.size() ? 0 : place + 1);
        }
        return --left_ == 0;
    }

private:
    /// By the other end.
    void put(std::size_t place) {
        checked(int(send(sockets_[place ^ 1], "x", 1, MSG_NOSIGNAL)), "send");
    }

    std::vector<int> sockets_;
    std::uint64_t left_;
    std::uint64_t to_send_ = 0;
};

/// What is measured of any implementation's `Watcher`: constructed with a Ring, it watches the
/// sockets until it is destroyed; turn() runs its loop once without waiting, for what it registers
/// lazily; run() runs it until the ring's last event.
template <class Watcher, std::size_t places, std::size_t active>
std::uint64_t pass_around(std::uint64_t operations, Measurement& measured) {
    Ring ring(places, operations);
    Watcher watcher(ring);
    watcher.turn();
    ring.start(active);
    measured([&watcher] { watcher.run(); });
    return operations;
}

/// The descriptors that a ring needs.
constexpr std::uint64_t ring_descriptors(std::uint64_t places) { return places + 32; }

}  // namespace bench

#endif
