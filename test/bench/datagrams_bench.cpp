// SPDX-License-Identifier: BSL-1.0
//
// An echo server of datagrams on the loopback (UDP): the CPU time of the server for one of 64
// bytes, with so many under way. Ours is a DatagramProtocol on a DatagramTransport, which receives
// and sends up to sixteen by one call each. The limit is a loop around epoll_wait(), written by
// hand: with one recvmmsg() and one sendmmsg() for all that have come, or, in "limit-plain", with
// recvfrom() and sendto() for each.
#include <net/create_datagram_endpoint.hpp>
#include <net/datagram_protocol.hpp>
#include <net/datagram_transport.hpp>
#include <reactor/event_loop.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <vector>

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <test/bench/datagram_peer.hpp>
#include <test/bench/measure.hpp>
#include <test/bench/peer_process.hpp>
#include <test/bench/raw_datagrams.hpp>

namespace {

using bench::checked;
using bench::DatagramPeer;
using bench::Measurement;
using bench::OneByOne;
using reactor::net::DatagramEndpointOptions;
using reactor::net::DatagramProtocol;
using reactor::net::DatagramTransport;
using reactor::net::Endpoint;

const char* program;  // this one, to run the peer with

// ---- on net::DatagramTransport --------------------------------------------------------------

class Echo : public DatagramProtocol {
    void connection_made(const DatagramTransport& transport) override { transport_ = transport; }
    void datagram_received(reactor::net::ByteView bytes, const Endpoint& from) override {
        transport_.send_to(bytes, from);
    }

    DatagramTransport transport_;
};

template <std::size_t depth>
std::uint64_t by_protocol(std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    const DatagramTransport transport =
        loop.run_until_complete(reactor::net::create_datagram_endpoint(
            loop, [] { return std::unique_ptr<DatagramProtocol>(new Echo); },
            DatagramEndpointOptions().local(Endpoint("127.0.0.1", 0))));
    DatagramPeer peer(program, transport.local_endpoint().port(), operations, depth);
    loop.add_reader(peer.ended(), [&loop] { loop.stop(); });
    measured([&loop] { loop.run_forever(); });
    loop.remove_reader(peer.ended());
    peer.join();
    return operations;
}

// ---- the limits -----------------------------------------------------------------------------

/// Sends back all that has come, by two calls.
class InBatches {
public:
    InBatches() {
        for (std::size_t i = 0; i < most; ++i) {
            parts_[i].iov_base = &bytes_[i * room];
            msghdr& header = messages_[i].msg_hdr;
            header = msghdr();
            header.msg_iov = &parts_[i];
            header.msg_iovlen = 1;
            header.msg_name = &senders_[i];
            reset(i);
        }
    }

    void operator()(int fd) {
        const int got = recvmmsg(fd, messages_, most, 0, nullptr);
        if (got < 0 && errno == EAGAIN) return;
        checked(got, "recvmmsg");
        for (std::size_t i = 0; i < std::size_t(got); ++i) {
            parts_[i].iov_len = messages_[i].msg_len;
        }
        bench::sent(sendmmsg(fd, messages_, unsigned(got), 0), "sendmmsg");
        for (std::size_t i = 0; i < std::size_t(got); ++i) reset(i);
    }

private:
    static constexpr unsigned most = 64;
    static constexpr std::size_t room = 2048;

    void reset(std::size_t i) {
        parts_[i].iov_len = room;
        messages_[i].msg_hdr.msg_namelen = sizeof senders_[i];
    }

    mmsghdr messages_[most];
    iovec parts_[most];
    sockaddr_in senders_[most];
    std::vector<char> bytes_ = std::vector<char>(most * room);
};

template <class ByHand, std::size_t depth>
std::uint64_t limit(std::uint64_t operations, Measurement& measured) {
    ByHand echo;
    std::uint16_t port = 0;
    const int fd = bench::bind_on_loopback(port);
    DatagramPeer peer(program, port, operations, depth);
    const int epoll = checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    for (const int watched : {fd, peer.ended()}) {
        epoll_event event = {};
        event.events = EPOLLIN;
        event.data.fd = watched;
        checked(epoll_ctl(epoll, EPOLL_CTL_ADD, watched, &event), "epoll_ctl");
    }
    measured([&] {
        for (bool ended = false; !ended;) {
            epoll_event events[2];
            const int count = checked(epoll_wait(epoll, events, 2, -1), "epoll_wait");
            for (int i = 0; i < count; ++i) {
                if (events[i].data.fd == fd) {
                    echo(fd);
                } else {
                    ended = true;
                }
            }
        }
    });
    peer.join();
    close(epoll);
    close(fd);
    return operations;
}

template <std::size_t depth>
std::vector<bench::Implementation> implementations() {
    return {{"ours", by_protocol<depth>},
            {"limit", limit<InBatches, depth>},
            {"limit-plain", limit<OneByOne, depth>}};
}

}  // namespace

int main(int argc, char** argv) {
    program = argv[0];
    if (argc == 5 && std::strcmp(argv[1], "peer") == 0) {
        try {
            bench::exchange_datagrams(argv + 2);
            return 0;
        } catch (const std::exception& error) {
            std::fprintf(stderr, "datagrams_bench, peer: %s\n", error.what());
            return 1;
        }
    }
    return bench::run(
        {
            {"echo-udp-1", 50000, 3000, implementations<1>()},
            {"echo-udp-16", 100000, 10000, implementations<16>()},
            {"echo-udp-64", 100000, 10000, implementations<64>()},
        },
        argc, argv);
}
