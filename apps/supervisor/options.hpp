// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_SUPERVISOR_OPTIONS_HPP
#define REACTOR_SUPERVISOR_OPTIONS_HPP

#include "configuration.hpp"
#include "forwarder.hpp"

#include <vector>

namespace supervisor {

/// What the command line says.
struct Options {
    bool help = false;
    std::vector<ProgramOptions> programs;  // in the order in which they are started
    OutputOptions output;
};

/// Reads the configuration as well. Throws command_line::UsageError, and std::system_error if the
/// file cannot be read.
Options parse_options(int argc, const char* const* argv);

extern const char* const usage;

}  // namespace supervisor

#endif
