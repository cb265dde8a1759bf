// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_PROXY_OPTIONS_HPP
#define REACTOR_PROXY_OPTIONS_HPP

#include "forwarder.hpp"

#include <net/endpoint.hpp>
#include <reactor/clock.hpp>

#include <chrono>
#include <cstddef>
#include <vector>

namespace proxy {

/// What the command line says.
struct Options {
    bool help = false;
    std::vector<reactor::net::Endpoint> listen;
    std::size_t max_connections = 0;  // 0: as many as there are descriptors for
    std::size_t per_address = 0;      // 0: no limit
    reactor::Duration grace = std::chrono::seconds(10);
    bool stats = false;
    ForwarderOptions forwarding;
};

/// Throws command_line::UsageError.
Options parse_options(int argc, const char* const* argv);

extern const char* const usage;

}  // namespace proxy

#endif
