// SPDX-License-Identifier: BSL-1.0
//
// What a watch costs while so many other descriptors are watched and silent: an event, and to add
// and remove one. epoll finds the place of a new one in a tree; the events' own way is flat.
#include <reactor/event_loop.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <vector>

#include <sys/eventfd.h>
#include <unistd.h>

#include <test/bench/growth.hpp>
#include <test/bench/growth_descriptors.hpp>
#include <test/bench/peer_process.hpp>

namespace {

using bench::Measurement;
using reactor::Duration;

/// So many descriptors, of nothing but a counter.
class Counters {
public:
    explicit Counters(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            all.push_back(bench::checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd"));
        }
    }
    Counters(const Counters&) = delete;
    Counters& operator=(const Counters&) = delete;
    ~Counters() {
        for (const int fd : all) close(fd);
    }

    std::vector<int> all;
};

struct Watched {
    explicit Watched(std::size_t count) : counters(count) {
        for (const int fd : counters.all) loop.add_reader(fd, &Watched::ready, this, fd);
    }
    ~Watched() { loop.close(); }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

    void ready(int fd) {
        std::uint64_t value = 0;
        if (read(fd, &value, sizeof value) == sizeof value) came += value;
    }

    Counters counters;
    reactor::EventLoop loop;
    std::uint64_t came = 0;
};

std::uint64_t event(std::size_t size, std::uint64_t operations, Measurement& measured) {
    Watched watched(size);
    bench::Pick pick;
    measured([&] {
        bench::in_rounds(operations, 1, [&] {
            const std::uint64_t one = 1;
            const int fd = watched.counters.all[pick(size)];
            if (write(fd, &one, sizeof one) != sizeof one) throw std::runtime_error("write failed");
            watched.loop.run_once(Duration::zero());
        });
    });
    if (watched.came != operations) throw std::logic_error("an event was lost");
    return operations;
}

std::uint64_t remove_and_add(std::size_t size, std::uint64_t operations, Measurement& measured) {
    Watched watched(size);
    bench::Pick pick;
    measured([&] {
        bench::in_rounds(operations, 1, [&] {
            const int fd = watched.counters.all[pick(size)];
            watched.loop.remove_reader(fd);
            watched.loop.add_reader(fd, &Watched::ready, &watched, fd);
        });
        watched.loop.run_once(Duration::zero());
    });
    return operations;
}

/// Of descriptors that are watched for input: is there room for more?
std::uint64_t write_interest(std::size_t size, std::uint64_t operations, Measurement& measured) {
    Watched watched(size);
    bench::Pick pick;
    std::uint64_t ran = 0;
    measured([&] {
        bench::in_rounds(operations, 1, [&] {
            const int fd = watched.counters.all[pick(size)];
            watched.loop.add_writer(fd, [&ran, &watched, fd] {
                ++ran;
                watched.loop.remove_writer(fd);
            });
            watched.loop.run_once(Duration::zero());
        });
    });
    if (ran != operations) throw std::logic_error("an event was lost");
    return operations;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::size_t most = bench::raise_descriptor_limit();
        return bench::run(
            bench::within_descriptors(
                most, 1,
                {
                    {"watch-event", "flat", 100000, 200000, 10000, event},
                    {"watch-remove-add", "logarithmic", 100000, 200000, 10000, remove_and_add},
                    {"watch-write", "logarithmic", 100000, 200000, 10000, write_interest},
                }),
            argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "growth_watches_bench: %s\n", error.what());
        return 1;
    }
}
