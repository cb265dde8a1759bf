// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_CHAT_OPTIONS_HPP
#define REACTOR_CHAT_OPTIONS_HPP

#include "room.hpp"

#include <apps/command_line/address.hpp>

#include <net/endpoint.hpp>
#include <reactor/clock.hpp>

#include <chrono>
#include <cstddef>
#include <vector>

namespace chat {

/// What the command line says.
struct Options {
    enum class Mode { help, serve, load };

    Mode mode = Mode::help;

    // serve
    std::vector<reactor::net::Endpoint> listen;
    RoomOptions room;  // most_members is 0 unless it was given
    reactor::Duration grace = std::chrono::seconds(5);

    // load
    command_line::Address address;
    std::size_t members = 10;
    std::size_t stalled = 0;   // of them
    std::size_t speakers = 1;  // of the others
    std::size_t lines = 10;    // of each speaker
    std::size_t size = 64;     // of a line
    std::size_t pipeline = 1;
    reactor::Duration timeout = std::chrono::seconds(30);
};

/// Throws command_line::UsageError.
Options parse_options(int argc, const char* const* argv);

extern const char* const usage;

}  // namespace chat

#endif
