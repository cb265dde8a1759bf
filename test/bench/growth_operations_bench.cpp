// SPDX-License-Identifier: BSL-1.0
//
// What it costs to give up one of so many operations that wait for the same, and to begin another
// one: a look-up of one name, which takes for ever; a file behind others in the output of one
// connection, whose peer does not read.
#include <net/protocol.hpp>
#include <net/resolver.hpp>
#include <net/transport.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <test/bench/growth.hpp>
#include <test/bench/peer_process.hpp>

namespace {

using bench::checked;
using bench::Measurement;
using reactor::Duration;
using reactor::Promise;

/// Cancels some of `size` operations, and begins as many by `begin`.
template <class Begin>
std::uint64_t replace(reactor::EventLoop& loop, std::size_t size, std::uint64_t operations,
                      Measurement& measured, Begin begin) {
    std::vector<decltype(begin())> all;
    for (std::size_t i = 0; i < size; ++i) all.push_back(begin());
    loop.run_once(Duration::zero());
    bench::Pick pick;
    constexpr std::size_t batch = bench::smallest_size;
    const auto round = [&] {
        bench::each_of_some(pick, size, batch, [&](std::size_t i) {
            all[i].cancel();
            all[i] = begin();
        });
        loop.run_once(Duration::zero());
    };
    bench::in_rounds(2 * size, batch, round);
    std::uint64_t done = 0;
    measured([&] { done = bench::in_rounds(operations, batch, round); });
    for (const auto& one : all) {
        if (!one.cancel()) throw std::logic_error("an operation did not wait");
    }
    loop.run_once(Duration::zero());
    return done;
}

std::uint64_t resolve(std::size_t size, std::uint64_t operations, Measurement& measured) {
    std::promise<void> end;
    const std::shared_future<void> ended = end.get_future().share();
    struct Release {
        ~Release() { end.set_value(); }
        std::promise<void>& end;
    } const release{end};
    reactor::EventLoop loop;
    reactor::net::Resolver& resolver = loop.service<reactor::net::Resolver>();
    resolver.set_lookup([ended](const std::string&) {
        ended.wait();
        return std::vector<reactor::net::Endpoint>();
    });
    return replace(loop, size, operations, measured,
                   [&resolver] { return resolver.resolve("slow.example", 80); });
}

class Nothing : public reactor::net::Protocol {
private:
    void data_received(reactor::net::ByteView) override {}
};

std::uint64_t send_file(std::size_t size, std::uint64_t operations, Measurement& measured) {
    int ends[2];
    checked(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), "socketpair");
    const int file = checked(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "open");
    std::uint64_t done = 0;
    {
        reactor::EventLoop loop;
        const reactor::net::Transport transport =
            loop.run_until_complete(reactor::net::make_transport(
                loop, ends[0], std::unique_ptr<reactor::net::Protocol>(new Nothing)));
        transport.write(std::string(8 * 1024 * 1024, 'x'));  // more than the system takes
        done = replace(loop, size, operations, measured,
                       [&] { return transport.send_file(file, 0, 1000); });
        transport.abort();
        loop.run_once(Duration::zero());
    }
    close(file);
    close(ends[1]);
    return done;
}

}  // namespace

int main(int argc, char** argv) {
    constexpr std::size_t many = 100000;
    return bench::run(
        std::vector<bench::Growth>{
            {"resolve-cancel", "flat", many, 200000, 20000, resolve},
            {"send_file-cancel", "flat", many, 200000, 20000, send_file},
        },
        argc, argv);
}
