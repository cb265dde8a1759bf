// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_DATAGRAM_PEER_HPP
#define REACTOR_TEST_BENCH_DATAGRAM_PEER_HPP

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <test/bench/peer_process.hpp>

namespace bench {

/// A datagram of the load: the next one with its place is sent when its echo has come.
struct Datagram {
    std::uint64_t place;
    std::uint64_t number;  // from 1 on, over all places
    char rest[48];
};
static_assert(sizeof(Datagram) == 64, "the benchmark is of 64 bytes");

/// Keeps one datagram for each place under way, by as few system calls as can be: what has come
/// back by one call is sent again by one. Nothing is lost for good: what has not come back in time
/// is repeated, and what comes twice counts once. Owned by the peer's main(), used there.
class DatagramLoad {
public:
    DatagramLoad(int fd, std::size_t depth, std::uint64_t messages)
        : fd_(fd),
          messages_(messages),
          under_way_(depth),
          sent_(depth),
          received_(depth),
          out_(depth),
          in_(depth) {
        for (std::size_t i = 0; i < depth; ++i) {
            sent_[i].second = iovec{&sent_[i].first, sizeof(Datagram)};
            received_[i].second = iovec{&received_[i].first, sizeof(Datagram)};
            in_[i].msg_hdr.msg_iov = &received_[i].second;
            in_[i].msg_hdr.msg_iovlen = 1;
        }
    }

    void run() {
        for (std::size_t place = 0; place < under_way_.size(); ++place) next(place);
        flush();
        for (int silent = 0; answered_ != messages_;) {
            if (receive()) {
                silent = 0;
            } else if (++silent == patience) {
                throw std::runtime_error("the server does not answer");
            } else {
                repeat();
            }
            flush();
        }
        if (repeated_ == 0) return;
        std::fprintf(stderr, "%llu of %llu datagrams were late or lost, and repeated\n",
                     static_cast<unsigned long long>(repeated_),
                     static_cast<unsigned long long>(messages_));
    }

private:
    using Stored = std::pair<Datagram, iovec>;
    static constexpr int patience = 30;  // of the socket's receive time limits

    /// Waits for one echo, and takes those that have come with it: false if it took too long.
    bool receive() {
        const int got = recvmmsg(fd_, in_.data(), unsigned(in_.size()), MSG_WAITFORONE, nullptr);
        if (got < 0 && errno == EAGAIN) return false;
        checked(got, "recvmmsg");
        for (std::size_t i = 0; i < std::size_t(got); ++i) {
            const Datagram& echo = received_[i].first;
            if (in_[i].msg_len != sizeof echo || echo.place >= under_way_.size()) {
                throw std::runtime_error("an echo is not what was sent");
            }
            if (echo.number != under_way_[echo.place]) continue;  // of a repeated one
            ++answered_;
            next(echo.place);
        }
        return true;
    }

    void next(std::size_t place) {
        under_way_[place] = begun_ != messages_ ? ++begun_ : 0;
        if (under_way_[place] != 0) put(place);
    }
    void repeat() {
        for (std::size_t place = 0; place < under_way_.size(); ++place) {
            if (under_way_[place] == 0) continue;
            put(place);
            ++repeated_;
        }
    }
    void put(std::size_t place) {
        sent_[place].first.place = place;
        sent_[place].first.number = under_way_[place];
        msghdr& header = out_[waiting_++].msg_hdr;
        header.msg_iov = &sent_[place].second;
        header.msg_iovlen = 1;
    }
    void flush() {
        for (std::size_t at = 0; at < waiting_;) {
            at += std::size_t(
                checked(sendmmsg(fd_, &out_[at], unsigned(waiting_ - at), 0), "sendmmsg"));
        }
        waiting_ = 0;
    }

    const int fd_;
    const std::uint64_t messages_;
    std::uint64_t begun_ = 0;
    std::uint64_t answered_ = 0;
    std::uint64_t repeated_ = 0;
    std::vector<std::uint64_t> under_way_;  // by place; 0: none
    std::vector<Stored> sent_;              // by place
    std::vector<Stored> received_;
    std::vector<mmsghdr> out_;
    std::vector<mmsghdr> in_;
    std::size_t waiting_ = 0;  // of out_
};

/// What the echo servers of datagrams talk to. `numbers`: the port, messages altogether, how many
/// of them under way.
inline void exchange_datagrams(char** numbers) {
    const sockaddr_in server = loopback(static_cast<std::uint16_t>(std::atoi(numbers[0])));
    const int fd = checked(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket");
    checked(connect(fd, reinterpret_cast<const sockaddr*>(&server), sizeof server), "connect");
    const timeval limit = {1, 0};
    checked(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), "setsockopt");
    DatagramLoad(fd, std::strtoul(numbers[2], nullptr, 10), std::strtoull(numbers[1], nullptr, 10))
        .run();
    close(fd);
}

/// That peer as a process. As a datagram that tells of its end might be lost, its end is told by a
/// pipe, which is closed with it.
class DatagramPeer {
public:
    DatagramPeer(const char* program, std::uint16_t port, std::uint64_t messages,
                 std::size_t depth) {
        int ends[2];
        checked(pipe(ends), "pipe");
        ended_ = ends[0];
        checked(fcntl(ended_, F_SETFD, FD_CLOEXEC), "fcntl");
        process_.reset(new PeerProcess(program, {port, messages, depth}));
        close(ends[1]);
    }
    DatagramPeer(const DatagramPeer&) = delete;
    DatagramPeer& operator=(const DatagramPeer&) = delete;
    ~DatagramPeer() { close(ended_); }

    /// A descriptor that is readable when the peer has ended.
    int ended() const { return ended_; }
    void join() { process_->join(); }

private:
    int ended_;
    std::unique_ptr<PeerProcess> process_;
};

}  // namespace bench

#endif
