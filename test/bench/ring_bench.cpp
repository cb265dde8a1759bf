// SPDX-License-Identifier: BSL-1.0
//
// A ring of sockets in which a few bytes go round: "ring-1000-100" are 1,000 sockets and 100 bytes
// under way, and the CPU time is that of passing one byte on. Ours is add_reader(); the limit
// is a loop around epoll_wait(), written by hand.
#include <reactor/event_loop.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <vector>

#include <sys/epoll.h>
#include <unistd.h>

#include <test/bench/measure.hpp>
#include <test/bench/peer_process.hpp>
#include <test/bench/ring.hpp>

namespace {

using bench::checked;
using bench::pass_around;
using bench::Ring;

class Ours {
public:
    explicit Ours(Ring& ring) : ring_(ring) {
        for (std::size_t i = 0; i < ring.sockets().size(); ++i) {
            loop_.add_reader(ring.sockets()[i], [this, i] {
                if (ring_.pass(i)) loop_.stop();
            });
        }
    }
    Ours(const Ours&) = delete;
    Ours& operator=(const Ours&) = delete;
    ~Ours() {
        for (const int fd : ring_.sockets()) loop_.remove_reader(fd);
    }

    void turn() { loop_.run_once(reactor::Duration::zero()); }
    void run() { loop_.run_forever(); }

private:
    Ring& ring_;
    reactor::EventLoop loop_;
};

class Limit {
public:
    explicit Limit(Ring& ring)
        : ring_(ring), epoll_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {
        for (std::size_t i = 0; i < ring.sockets().size(); ++i) {
            epoll_event event = {};
            event.events = EPOLLIN;
            event.data.u64 = i;
            checked(epoll_ctl(epoll_, EPOLL_CTL_ADD, ring.sockets()[i], &event), "epoll_ctl");
        }
    }
    Limit(const Limit&) = delete;
    Limit& operator=(const Limit&) = delete;
    ~Limit() { close(epoll_); }

    void turn() {}
    void run() {
        for (;;) {
            epoll_event events[64];
            const int count = checked(epoll_wait(epoll_, events, 64, -1), "epoll_wait");
            for (int i = 0; i < count; ++i) {
                if (ring_.pass(events[i].data.u64)) return;
            }
        }
    }

private:
    Ring& ring_;
    int epoll_;
};

struct Row {
    std::uint64_t places;
    bench::Workload workload;
};

template <std::size_t places, std::size_t active>
Row row(const char* name) {
    return {places,
            {name,
             200000,
             20000,
             {{"ours", pass_around<Ours, places, active>},
              {"limit", pass_around<Limit, places, active>}}}};
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::uint64_t descriptors = bench::raise_descriptor_limit();
        std::vector<bench::Workload> possible;
        for (const Row& each :
             {row<100, 1>("ring-100-1"), row<100, 100>("ring-100-100"), row<1000, 1>("ring-1000-1"),
              row<1000, 100>("ring-1000-100"), row<1000, 1000>("ring-1000-1000"),
              row<10000, 1>("ring-10000-1"), row<10000, 100>("ring-10000-100"),
              row<10000, 1000>("ring-10000-1000")}) {
            if (bench::ring_descriptors(each.places) <= descriptors) {
                possible.push_back(each.workload);
            } else {
                std::fprintf(stderr, "%s: left out, %llu descriptors are too few (ulimit -n)\n",
                             each.workload.name.c_str(),
                             static_cast<unsigned long long>(descriptors));
            }
        }
        return bench::run(possible, argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "ring_bench: %s\n", error.what());
        return 1;
    }
}
