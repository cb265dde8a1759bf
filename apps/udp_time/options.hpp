// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_UDP_TIME_OPTIONS_HPP
#define REACTOR_UDP_TIME_OPTIONS_HPP

#include <apps/command_line/address.hpp>

#include <net/endpoint.hpp>
#include <reactor/clock.hpp>

#include <chrono>
#include <cstddef>
#include <vector>

namespace udp_time {

/// What the command line says.
struct Options {
    enum class Mode { help, serve, ask };

    Mode mode = Mode::help;

    // serve
    std::vector<reactor::net::Endpoint> listen;
    unsigned stratum = 10;

    // ask
    std::vector<command_line::Address> servers;
    reactor::Duration timeout = std::chrono::seconds(5);
    reactor::Duration retry = std::chrono::seconds(1);
    bool broadcast = false;
    std::size_t answers = 0;  // to a broadcast; 0: as many as come
};

/// Throws command_line::UsageError.
Options parse_options(int argc, const char* const* argv);

extern const char* const usage;

}  // namespace udp_time

#endif
