// SPDX-License-Identifier: BSL-1.0
#include "serve.hpp"

#include <net/listening_sockets.hpp>
#include <reactor/signals.hpp>

#include <csignal>
#include <cstdio>
#include <utility>
#include <vector>

namespace chat {

namespace net = reactor::net;
using reactor::Next;

Serve::Serve(const Options& options) : options_(options), room_(loop(), options.room) {}

Serve::~Serve() {
    for (const int signal : {SIGINT, SIGTERM}) loop().remove_signal_handler(signal);
}

Next Serve::start() {
    server_ = listen();
    for (const int signal : {SIGINT, SIGTERM}) {
        loop().add_signal_handler(signal, &Serve::signalled, this);
    }
    // Who reads this may send members and signals.
    for (const net::Endpoint& at : server_.endpoints()) std::printf("%s\n", at.str().c_str());
    std::fflush(stdout);
    return await(stop_, &Serve::close);
}

net::Server Serve::listen() {
    const net::ProtocolFactory factory = [this] { return room_.serve_member(); };
    net::ServerOptions options;
    options.backlog(4096);  // members come in crowds, such as after a restart
    std::vector<net::Endpoint> at = options_.listen;
    net::ListeningSockets inherited;
    if (at.empty()) inherited = net::inherited_sockets();
    if (!inherited.empty()) {
        return net::create_server(loop(), factory, std::move(inherited), options);
    }
    if (at.empty()) at.push_back(net::Endpoint("127.0.0.1", 0));
    return net::create_server(loop(), factory, at, options);
}

void Serve::signalled() {
    if (!stop_.done()) {
        stop_.set_result();
    } else {
        server_.abort_clients();
    }
}

Next Serve::close() {
    server_.close();
    std::printf("Ending: %zu members are here\n", room_.counters().present);
    std::fflush(stdout);
    room_.close("the room is closed: goodbye");
    return await(server_.shutdown(reactor::Duration::zero(), options_.grace), &Serve::ended);
}

Next Serve::ended(net::ShutdownSummary summary) {
    const RoomCounters& counters = room_.counters();
    const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
    std::printf(
        "Ended: %zu told, %zu cut off; %llu joined, %llu turned away, %llu dropped, "
        "%llu lines said, %llu refused\n",
        summary.finished + summary.closed, summary.aborted, number(counters.joined),
        number(counters.turned_away), number(counters.dropped), number(counters.lines),
        number(counters.refused));
    std::fflush(stdout);  // a signal that comes from now on ends the process as it is
    return finish();
}

}  // namespace chat
