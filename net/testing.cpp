// SPDX-License-Identifier: BSL-1.0
#include <net/detail/memory_names.hpp>
#include <net/detail/memory_random.hpp>
#include <net/detail/memory_sockets.hpp>
#include <net/detail/memory_world.hpp>
#include <net/detail/transport_service.hpp>
#include <net/resolver.hpp>
#include <net/testing.hpp>

#include <exception>
#include <stdexcept>

namespace reactor {
namespace net {
namespace testing {

using detail::MemoryLink;
using detail::MemoryNames;
using detail::MemorySockets;

MemoryNetworkOptions MemoryNetworkOptions::rough(std::uint64_t seed) {
    detail::MemoryRandom random(seed);
    const auto some_bytes = [&random](std::size_t least, unsigned doublings) {
        return least << random.below(doublings);
    };
    const auto sometimes = [&random](double most) {
        const double strengths[] = {0, most / 16, most / 4, most};
        return strengths[random.below(4)];
    };
    // Where nothing fails, everything has to succeed: that is worth half of the seeds.
    const double failing = random.below(2) == 0 ? 0 : 1;
    MemoryNetworkOptions options;
    options.shortest_latency = Duration(static_cast<Duration::rep>(random.below(1000000)));
    options.longest_latency =
        options.shortest_latency +
        Duration(static_cast<Duration::rep>(random.below(std::size_t(1) << random.below(28))));
    options.bandwidth = random.below(3) == 0 ? some_bytes(100000, 8) : 0;
    options.largest_segment = some_bytes(64, 11);
    options.send_buffer = some_bytes(512, 9);
    options.receive_buffer = some_bytes(512, 9);
    options.short_reads = sometimes(0.8);
    options.short_writes = sometimes(0.8);
    options.spurious_events = sometimes(0.2);
    options.shuffled_events = random.below(2) == 0;
    options.resets = failing * sometimes(0.02);
    options.reset_takes_unread = random.below(2) == 0;
    options.refused_connects = failing * sometimes(0.2);
    options.failing_accepts = failing * sometimes(0.2);
    options.refuse_when_full = failing > 0 && random.below(4) == 0;
    options.longest_lookup = std::chrono::milliseconds(1 + random.below(5000));
    options.failing_lookups = failing * sometimes(0.2);
    return options;
}

MemoryNetwork::MemoryNetwork(reactor::testing::TestLoop& loop, std::uint64_t seed,
                             const MemoryNetworkOptions& options, Fail fail)
    : loop_(loop),
      fail_(fail),
      world_(std::make_shared<detail::MemoryWorld>(loop.clock(), seed, options)),
      sockets_(std::make_shared<MemorySockets>(world_)),
      names_(std::make_shared<MemoryNames>(loop, world_)) {
    auto& calls = loop.service<detail::TransportService>().calls;
    Resolver& resolver = loop.service<Resolver>();
    loop.selector().set_virtual_descriptors(sockets_.get());
    calls.simulate(sockets_);
    const auto names = names_;
    resolver.set_loop_lookup([names](const std::string& host) { return names->look_up(host); });
}

MemoryNetwork::~MemoryNetwork() {
#if defined(__cpp_lib_uncaught_exceptions)
    const bool failing = std::uncaught_exceptions() > 0;
#else
    const bool failing = std::uncaught_exception();
#endif
    const std::size_t open = counters().open_sockets;
    const std::string list = open_sockets();
    if (!loop_.is_closed()) {  // else the selector is gone, and so are the services
        loop_.selector().set_virtual_descriptors(nullptr);
        loop_.service<detail::TransportService>().calls.end_simulation();
        loop_.service<Resolver>().set_loop_lookup(Resolver::LoopLookup());
    }
    sockets_->end();
    if (open != 0 && !failing) {
        fail_("the network in memory ends with " + std::to_string(open) + " open sockets:\n" +
              list);
    }
}

std::pair<int, int> MemoryNetwork::pair() { return sockets_->pair(MemoryLink::Kind::tcp); }

std::pair<int, int> MemoryNetwork::local_pair() { return sockets_->pair(MemoryLink::Kind::local); }

void MemoryNetwork::close(int descriptor) noexcept { sockets_->close(descriptor); }

void MemoryNetwork::add_host(const std::string& host, const std::vector<Endpoint>& addresses) {
    names_->add(host, {addresses, std::error_code(), Duration(-1)});
}

void MemoryNetwork::add_host(const std::string& host, const std::vector<Endpoint>& addresses,
                             Duration delay) {
    if (delay < Duration::zero()) {
        throw std::invalid_argument("MemoryNetwork::add_host: the delay is negative");
    }
    names_->add(host, {addresses, std::error_code(), delay});
}

void MemoryNetwork::add_failing_host(const std::string& host, std::error_code code,
                                     Duration delay) {
    if (delay < Duration::zero() || !code) {
        throw std::invalid_argument(
            "MemoryNetwork::add_failing_host: the delay is negative, or the code is no error");
    }
    names_->add(host, {std::vector<Endpoint>(), code, delay});
}

void MemoryNetwork::drop_connects(const Endpoint& to) {
    if (!to.is_ip()) {
        throw std::invalid_argument(
            "MemoryNetwork::drop_connects: only an IP address may fail to answer, not \"" +
            to.str() + "\": a Unix socket is connected to at once, or fail_connects() refuses");
    }
    sockets_->obstruct(to, 0);
}

void MemoryNetwork::fail_connects(const Endpoint& to, int code) {
    if (code <= 0) throw std::invalid_argument("MemoryNetwork::fail_connects: give an errno");
    sockets_->obstruct(to, code);
}

void MemoryNetwork::allow_connects(const Endpoint& to) { sockets_->clear(to); }

void MemoryNetwork::fail_accepts(int code, std::size_t times) {
    if (code <= 0) throw std::invalid_argument("MemoryNetwork::fail_accepts: give an errno");
    sockets_->fail_accepts(code, times);
}

void MemoryNetwork::reset(int descriptor) { sockets_->reset(descriptor); }

void MemoryNetwork::silence(int descriptor) { sockets_->silence(descriptor); }

MemoryNetworkCounters MemoryNetwork::counters() const { return world_->counters; }

std::string MemoryNetwork::open_sockets() const { return sockets_->list(); }

std::string MemoryNetwork::log() const { return world_->diary(); }

}  // namespace testing
}  // namespace net
}  // namespace reactor
