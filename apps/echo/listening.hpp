// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_ECHO_LISTENING_HPP
#define REACTOR_ECHO_LISTENING_HPP

#include "options.hpp"

#include <net/endpoint.hpp>
#include <net/listening_sockets.hpp>
#include <net/server_options.hpp>

#include <vector>

namespace echo {

/// Where a server listens, and for whom, as the command line has it. A value that moves.
struct Listening {
    explicit Listening(const Options& options);

    std::vector<reactor::net::Endpoint> at;
    reactor::net::ListeningSockets inherited;  // if `at` is empty
    reactor::net::ServerOptions options;
};

/// Who reads this may send clients and signals.
void print_addresses(const std::vector<reactor::net::Endpoint>& addresses);

}  // namespace echo

#endif
