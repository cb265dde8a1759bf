// SPDX-License-Identifier: BSL-1.0
#include <test/soak/sites.hpp>

#include <net/stream_handler.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <system_error>
#include <utility>

#include <unistd.h>

#include <test/soak/protocol_party.hpp>
#include <test/soak/stream_party.hpp>

namespace soak {

using reactor::Promise;
using reactor::net::Endpoint;
using reactor::net::Protocol;
using reactor::net::ShutdownSummary;
using std::chrono::milliseconds;

Sites::Sites(reactor::EventLoop& loop, Ledger& ledger, const std::string& directory, int file,
             std::uint64_t seed)
    : loop_(loop), ledger_(ledger), file_(file), random_(seed + 2) {
    // Clients come from other addresses of the loopback: a port of this one that is free for a
    // moment is not taken by them.
    sites_[0].at = sites_[1].at = Endpoint("127.0.0.1", 0);
    sites_[2].at = Endpoint::local_path(directory + "/soak");
    sites_[3].at = Endpoint::local_abstract("reactor-soak-" + std::to_string(::getpid()));
    for (std::size_t i = 0; i < site_count; ++i) {
        open(i);
        sites_[i].at = sites_[i].server.endpoints().front();
    }
}

Sites::~Sites() { close(); }

void Sites::close() {
    for (Site& site : sites_) {
        site.timer.cancel();
        site.server = reactor::net::Server();
    }
}

void Sites::open(std::size_t index) {
    Site& site = sites_[index];
    if (index % 2 == 0) {
        site.server = create_server(
            loop_, [this] { return std::unique_ptr<Protocol>(new ProtocolParty(ledger_, file_)); },
            site.at);
    } else {
        site.server = start_server(
            loop_, reactor::net::serve_with<StreamServer>(std::ref(ledger_), file_), site.at);
    }
    site.up = true;
    ledger_.site_up(index);
}

/// Descriptors may be wanting, and another process may have taken the port for a moment.
void Sites::try_open(std::size_t index) {
    sites_[index].timer = reactor::TimerHandle();
    try {
        open(index);
    } catch (const std::system_error& error) {
        if (error.code() != std::errc::too_many_files_open &&
            error.code() != std::errc::address_in_use) {
            ledger_.fault(std::string("a server cannot be made anew: ") + error.what());
        }
        sites_[index].timer = loop_.call_later(milliseconds(20), &Sites::try_open, this, index);
    }
}

void Sites::restart(std::size_t index) {
    Site& site = sites_[index];
    if (!site.up) return;
    site.up = false;
    ++ledger_.totals.restarts;
    ledger_.site_down(index);
    const auto grace = random_.one_in(3) ? milliseconds(0) : milliseconds(random_.below(300));
    const auto flush = milliseconds(random_.below(200));
    // Armed before the server's own limit, and so told before.
    site.timer = loop_.call_later(grace, &Ledger::site_cuts, &ledger_, index);
    site.clients = site.server.counters().open;
    site.server.shutdown(grace, flush)
        .add_done_callback(
            [this, index](const Promise<ShutdownSummary>& summary) { shut_down(index, summary); });
}

void Sites::shut_down(std::size_t index, const Promise<ShutdownSummary>& done) {
    Site& site = sites_[index];
    site.timer.cancel();
    site.timer = reactor::TimerHandle();  // a handle keeps what it stands for
    if (done.error()) {
        ledger_.fault("shutdown: " + text(done.error()));
    } else {
        const ShutdownSummary& sum = done.result();
        if (sum.finished + sum.closed + sum.aborted < site.clients) {
            ledger_.fault("shutdown: of " + std::to_string(site.clients) + " clients " +
                          std::to_string(sum.finished) + " finished, " +
                          std::to_string(sum.closed) + " were closed and " +
                          std::to_string(sum.aborted) + " aborted");
        }
    }
    rests_ += site.server.counters().rests;
    if (site.server.counters().open != 0) ledger_.fault("shutdown: connections are left");
    try_open(index);
}

bool Sites::all_up() const noexcept {
    for (const Site& site : sites_) {
        if (!site.up) return false;
    }
    return true;
}

std::size_t Sites::open() const {
    std::size_t sum = 0;
    for (const Site& site : sites_) {
        if (site.server) sum += site.server.counters().open;
    }
    return sum;
}

std::uint64_t Sites::rests() const {
    std::uint64_t sum = rests_;
    for (const Site& site : sites_) {
        if (site.up) sum += site.server.counters().rests;
    }
    return sum;
}

}  // namespace soak
