// SPDX-License-Identifier: BSL-1.0
#include "listening.hpp"

#include <cstdio>

namespace echo {

namespace net = reactor::net;

Listening::Listening(const Options& given) : at(given.listen) {
    if (at.empty()) inherited = net::inherited_sockets();
    if (at.empty() && inherited.empty()) at.push_back(net::Endpoint("127.0.0.1", 0));
    options.idle_timeout(given.idle_timeout);
    if (given.limit > 0) options.max_connections(given.limit);
}

void print_addresses(const std::vector<net::Endpoint>& addresses) {
    for (const net::Endpoint& at : addresses) std::printf("%s\n", at.str().c_str());
    std::fflush(stdout);
}

}  // namespace echo
