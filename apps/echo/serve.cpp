// SPDX-License-Identifier: BSL-1.0
#include "serve.hpp"
#include "echo.hpp"
#include "listening.hpp"

#include <reactor/signals.hpp>

#include <csignal>
#include <cstdio>
#include <memory>
#include <utility>

namespace echo {

using reactor::Next;

Serve::~Serve() {
    for (const int signal : {SIGINT, SIGTERM}) loop().remove_signal_handler(signal);
}

Next Serve::start() {
    server_ = listen();
    for (const int signal : {SIGINT, SIGTERM}) {
        loop().add_signal_handler(signal, &Serve::signalled, this);
    }
    print_addresses(server_.endpoints());
    return await(stop_, &Serve::drain);
}

net::Server Serve::listen() {
    Listening listening(options_);
    if (options_.streams) {
        const net::StreamHandler handler = net::serve_with<EchoTask>();
        return listening.at.empty()
                   ? net::start_server(loop(), handler, std::move(listening.inherited),
                                       listening.options)
                   : net::start_server(loop(), handler, listening.at, listening.options);
    }
    const net::ProtocolFactory factory = [] {
        return std::unique_ptr<net::Protocol>(new EchoProtocol);
    };
    return listening.at.empty()
               ? net::create_server(loop(), factory, std::move(listening.inherited),
                                    listening.options)
               : net::create_server(loop(), factory, listening.at, listening.options);
}

void Serve::signalled() {
    if (!stop_.done()) {
        stop_.set_result();
    } else {
        server_.abort_clients();
    }
}

Next Serve::drain() {
    server_.close();
    std::printf("Ending: %zu connections are open\n", server_.counters().open);
    std::fflush(stdout);
    return await(server_.shutdown(options_.grace), &Serve::ended);
}

Next Serve::ended(net::ShutdownSummary summary) {
    std::printf("Ended: %zu finished, %zu closed, %zu aborted; %llu accepted in all\n",
                summary.finished, summary.closed, summary.aborted,
                static_cast<unsigned long long>(server_.counters().accepted));
    std::fflush(stdout);  // a signal that comes from now on ends the process as it is
    return finish();
}

}  // namespace echo
