// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_ECHO_OPTIONS_HPP
#define REACTOR_ECHO_OPTIONS_HPP

#include <apps/command_line/address.hpp>

#include <net/endpoint.hpp>
#include <reactor/clock.hpp>

#include <chrono>
#include <cstddef>
#include <vector>

namespace echo {

/// What the command line says.
struct Options {
    enum class Mode { help, serve, load };

    Mode mode = Mode::help;

    // serve
    std::vector<reactor::net::Endpoint> listen;
    bool streams = false;
    std::size_t loops = 1;
    bool reuse_port = false;  // by each loop
    std::size_t limit = 0;    // of connections, for each loop; 0: none
    reactor::Duration idle_timeout = reactor::forever();
    reactor::Duration grace = std::chrono::seconds(10);

    // load
    command_line::Address address;
    std::size_t connections = 1;
    std::size_t size = 64;
    std::size_t pipeline = 1;
    std::size_t rounds = 0;  // of each connection; 0: as many as fit into the time
    reactor::Duration time = std::chrono::seconds(1);
    reactor::Duration timeout = std::chrono::seconds(10);
};

/// Throws command_line::UsageError.
Options parse_options(int argc, const char* const* argv);

extern const char* const usage;

}  // namespace echo

#endif
