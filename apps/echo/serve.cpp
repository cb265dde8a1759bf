// SPDX-License-Identifier: BSL-1.0
#include "serve.hpp"
#include "echo.hpp"

#include <net/listening_sockets.hpp>
#include <reactor/signals.hpp>

#include <csignal>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

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
    // Who reads this may send clients and signals.
    for (const net::Endpoint& at : server_.endpoints()) std::printf("%s\n", at.str().c_str());
    std::fflush(stdout);
    return await(stop_, &Serve::drain);
}

net::Server Serve::listen() {
    net::ServerOptions options;
    options.idle_timeout(options_.idle_timeout);
    if (options_.limit > 0) options.max_connections(options_.limit);

    std::vector<net::Endpoint> at = options_.listen;
    net::ListeningSockets inherited;
    if (at.empty()) inherited = net::inherited_sockets();
    if (at.empty() && inherited.empty()) at.push_back(net::Endpoint("127.0.0.1", 0));

    if (options_.streams) {
        const net::StreamHandler handler = net::serve_with<EchoTask>();
        return at.empty() ? net::start_server(loop(), handler, std::move(inherited), options)
                          : net::start_server(loop(), handler, at, options);
    }
    const net::ProtocolFactory factory = [] {
        return std::unique_ptr<net::Protocol>(new EchoProtocol);
    };
    return at.empty() ? net::create_server(loop(), factory, std::move(inherited), options)
                      : net::create_server(loop(), factory, at, options);
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
    return finish();
}

}  // namespace echo
