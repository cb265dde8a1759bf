// SPDX-License-Identifier: BSL-1.0
//
// Forwards TCP and Unix connections to one of several targets. See options.cpp for the usage,
// forwarder.hpp for how it forwards; here is how it begins and ends.
#include "forwarder.hpp"
#include "options.hpp"

#include <apps/command_line/arguments.hpp>
#include <apps/command_line/descriptors.hpp>

#include <net/listening_sockets.hpp>
#include <net/server.hpp>
#include <reactor/combinators.hpp>
#include <reactor/error.hpp>
#include <reactor/runner.hpp>
#include <reactor/signals.hpp>
#include <reactor/task.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

namespace {

namespace net = reactor::net;
using reactor::Next;

/// What is written to somebody who does not read gets so long to be sent.
constexpr std::chrono::seconds flush_time{5};

/// The whole run. A second signal resets all there is, in whichever state:
///
///     start ──(signal)──> drain ──(grace over)──> close ──(flush over)──> abort
///                           └──────────(nothing is open any more)──────────┴─────> ended
class Proxy final : public reactor::Task<void> {
public:
    explicit Proxy(const proxy::Options& options)
        : options_(options), forwarder_(loop(), options.forwarding) {}
    ~Proxy() override {
        for (const int signal : {SIGINT, SIGTERM}) loop().remove_signal_handler(signal);
    }

private:
    Next start() override {
        server_ = listen();
        for (const int signal : {SIGINT, SIGTERM}) {
            loop().add_signal_handler(signal, &Proxy::signalled, this);
        }
        // Who reads this may send clients and signals.
        for (const net::Endpoint& at : server_.endpoints()) std::printf("%s\n", at.str().c_str());
        std::fflush(stdout);
        if (options_.stats) {
            stats_ = loop().call_every(std::chrono::seconds(1), &Proxy::print_stats, this);
        }
        return await(stop_, &Proxy::drain);
    }

    net::Server listen() {
        const net::ProtocolFactory factory = [this] { return forwarder_.serve_client(); };
        net::ServerOptions options;
        options.backlog(4096);  // clients of a proxy come in crowds
        if (options_.max_connections > 0) options.max_connections(options_.max_connections);
        if (options_.per_address > 0) options.max_per_address(options_.per_address);
        if (!options_.listen.empty()) {
            return net::create_server(loop(), factory, options_.listen, options);
        }
        net::ListeningSockets inherited = net::inherited_sockets();
        if (inherited.empty()) {
            throw command_line::UsageError("nowhere to listen: --listen is needed");
        }
        return net::create_server(loop(), factory, std::move(inherited), options);
    }

    void signalled() {
        if (!stop_.done()) {
            server_.close();
            left_ = forwarder_.traffic().open;
            stop_.set_result();
        } else {
            begin(aborted_);
            forwarder_.abort();
        }
    }

    Next drain() {
        std::printf("Ending: %zu connections are open\n", left_);
        std::fflush(stdout);
        return await(reactor::wait_for(forwarder_.wait_idle(), options_.grace), &Proxy::ended,
                     &Proxy::close);
    }
    Next close(const reactor::TimeoutError&) {
        begin(closed_);
        forwarder_.close();
        return await(reactor::wait_for(forwarder_.wait_idle(), flush_time), &Proxy::ended,
                     &Proxy::abort);
    }
    Next abort(const reactor::TimeoutError&) {
        begin(aborted_);
        forwarder_.abort();
        return await(forwarder_.wait_idle(), &Proxy::ended);
    }
    Next ended() {
        begin(finished_);
        stats_.cancel();
        std::printf("Ended: %zu finished, %zu closed, %zu aborted\n%s\n", finished_, closed_,
                    aborted_, traffic_text().c_str());
        std::fflush(stdout);  // a signal that comes from now on ends the process as it is
        return finish();
    }

    /// Another state begins: what has gone so far was of the kind that the last call named.
    void begin(std::size_t& kind) {
        *kind_ += left_ - forwarder_.traffic().open;
        left_ = forwarder_.traffic().open;
        kind_ = &kind;
    }

    void print_stats() {
        std::string now = traffic_text();
        if (now == printed_) return;
        printed_ = std::move(now);
        std::printf("%s\n", printed_.c_str());
        std::fflush(stdout);
    }
    std::string traffic_text() const {
        const proxy::Traffic& traffic = forwarder_.traffic();
        const net::ServerCounters counters = server_.counters();
        return "Traffic: " + std::to_string(traffic.open) + " open, " +
               std::to_string(counters.accepted) + " accepted, " +
               std::to_string(traffic.forwarded) + " forwarded, " +
               std::to_string(traffic.unreached) + " unreached, " +
               std::to_string(counters.refused_by_limit) +
               " refused; bytes: " + std::to_string(traffic.from_clients) + " from clients, " +
               std::to_string(traffic.to_targets) + " to targets, " +
               std::to_string(traffic.from_targets) + " from targets, " +
               std::to_string(traffic.to_clients) + " to clients";
    }

    const proxy::Options& options_;
    proxy::Forwarder forwarder_;
    net::Server server_;
    reactor::Promise<void> stop_ = loop().create_promise<void>();
    std::size_t left_ = 0;  // connections at the beginning of the state,
    std::size_t finished_ = 0, closed_ = 0, aborted_ = 0;
    std::size_t* kind_ = &finished_;  // and what becomes of those that go in it
    reactor::TimerHandle stats_;
    std::string printed_;
};

}  // namespace

int main(int argc, char** argv) {
    try {
        const proxy::Options options = proxy::parse_options(argc, argv);
        if (options.help) {
            std::fputs(proxy::usage, stdout);
            return 0;
        }
        command_line::raise_descriptor_limit();
        reactor::RunnerOptions signals_are_ours;
        signals_are_ours.handle_sigint = false;
        reactor::Runner runner(signals_are_ours);
        command_line::outlive_readers();
        runner.run<Proxy>(options);
        return 0;
    } catch (const command_line::UsageError& error) {
        std::fprintf(stderr, "proxy: %s\n\n%s", error.what(), proxy::usage);
        return command_line::exit_usage;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "proxy: %s\n", error.what());
        return command_line::exit_failed;
    }
}
