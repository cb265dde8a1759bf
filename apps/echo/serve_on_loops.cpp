// SPDX-License-Identifier: BSL-1.0
#include "serve_on_loops.hpp"
#include "echo.hpp"
#include "listening.hpp"

#include <reactor/signals.hpp>

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <utility>

namespace echo {

using reactor::Next;

ServeOnLoops::~ServeOnLoops() {
    for (const int signal : {SIGINT, SIGTERM}) loop().remove_signal_handler(signal);
}

Next ServeOnLoops::start() {
    loops_.start();
    return await(listen(), &ServeOnLoops::serve);
}

reactor::Promise<net::ServerGroup> ServeOnLoops::listen() {
    Listening listening(options_);
    const net::Spread spread = options_.reuse_port ? net::Spread::by_system : net::Spread::in_turn;
    // Called for one loop after the other. Each number has memory of its own: threads that count in
    // the same cache line wait for each other.
    const auto new_count = [this] {
        bytes_.emplace_back(new std::uint64_t(0));
        return bytes_.back().get();
    };
    if (options_.streams) {
        const auto handler = [new_count](reactor::EventLoop&) -> net::StreamHandler {
            return net::serve_with<EchoTask>(new_count());
        };
        return listening.at.empty()
                   ? net::start_server_group(loop(), loops_, handler,
                                             std::move(listening.inherited), listening.options)
                   : net::start_server_group(loop(), loops_, handler, listening.at,
                                             listening.options, spread);
    }
    const auto factory = [new_count](reactor::EventLoop&) -> net::ProtocolFactory {
        std::uint64_t* const bytes = new_count();
        return [bytes] { return std::unique_ptr<net::Protocol>(new EchoProtocol(bytes)); };
    };
    return listening.at.empty()
               ? net::create_server_group(loop(), loops_, factory, std::move(listening.inherited),
                                          listening.options)
               : net::create_server_group(loop(), loops_, factory, listening.at, listening.options,
                                          spread);
}

Next ServeOnLoops::serve(net::ServerGroup server) {
    server_ = std::move(server);
    for (const int signal : {SIGINT, SIGTERM}) {
        loop().add_signal_handler(signal, &ServeOnLoops::signalled, this);
    }
    const reactor::Promise<void> stop = stop_;
    loops_.wait(loop()).add_done_callback([stop](const reactor::Promise<void>& end) {
        const std::exception_ptr error = end.exception();
        if (error && !stop.done()) stop.set_exception(error);
    });
    print_addresses(server_.endpoints());
    return await(stop_, &ServeOnLoops::drain);
}

void ServeOnLoops::signalled() {
    if (!stop_.done()) {
        stop_.set_result();
    } else {
        const reactor::Duration none = reactor::Duration::zero();
        at_once_ = server_.shutdown(loop(), none, none);
    }
}

Next ServeOnLoops::drain() {
    server_.close();
    return await(server_.counters(loop()), &ServeOnLoops::shut);
}

Next ServeOnLoops::shut(net::ServerCounters counters) {
    gone_ = counters.accepted - counters.open;
    std::printf("Ending: %zu connections are open\n", counters.open);
    std::fflush(stdout);
    return await(server_.shutdown(loop(), options_.grace), &ServeOnLoops::count);
}

Next ServeOnLoops::count(net::ShutdownSummary summary) {
    summary_ = summary;
    return await(server_.counters_by_loop(loop()), &ServeOnLoops::ended);
}

Next ServeOnLoops::ended(const std::vector<net::ServerCounters>& counters) {
    // Their numbers are at rest then; throws what has ended one of them meanwhile.
    loops_.stop();
    loops_.join();
    std::uint64_t accepted = 0;
    for (std::size_t i = 0; i < counters.size(); ++i) {
        std::printf("Loop %zu: %llu connections, %llu bytes\n", i,
                    static_cast<unsigned long long>(counters[i].accepted),
                    static_cast<unsigned long long>(*bytes_[i]));
        accepted += counters[i].accepted;
    }
    // Who leaves after "Ending" was said, and before the loops hear of the shutdown, is none of its
    // clients: counted here, so that all who were told of are accounted for.
    const std::uint64_t finished = accepted - gone_ - summary_.closed - summary_.aborted;
    std::printf("Ended: %llu finished, %zu closed, %zu aborted; %llu accepted in all\n",
                static_cast<unsigned long long>(finished), summary_.closed, summary_.aborted,
                static_cast<unsigned long long>(accepted));
    std::fflush(stdout);  // a signal that comes from now on ends the process as it is
    return finish();
}

}  // namespace echo
