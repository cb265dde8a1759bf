// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_SUPERVISOR_CONFIGURATION_HPP
#define REACTOR_SUPERVISOR_CONFIGURATION_HPP

#include <reactor/clock.hpp>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <string>
#include <vector>

namespace supervisor {

/// One program that is to be kept running: what its line in the configuration says. A value.
struct ProgramOptions {
    enum class Restart { always, on_failure, never };

    std::string name;
    std::vector<std::string> command;  // at least the program
    std::vector<std::string> after;    // names

    Restart restart = Restart::always;
    reactor::Duration pause = std::chrono::seconds(1);     // before the first restart,
    reactor::Duration longest = std::chrono::seconds(60);  // growing up to this,
    reactor::Duration stable = std::chrono::seconds(10);   // until it has run so long
    std::size_t tries = 0;  // given up after so many in a row that were not stable; 0: never

    int stop = SIGTERM;
    reactor::Duration grace = std::chrono::seconds(10);  // then SIGKILL

    std::string where;  // file and line, for messages
};

/// Reads the lines of a configuration, each a program:
///
///     name settings… : command
///
/// and adds them to `programs`. `source` is what messages call the text, "file" or "--run"; they
/// add the line. Throws command_line::UsageError.
void read_programs(const std::string& text, const std::string& source,
                   std::vector<ProgramOptions>& programs);

/// In the order in which they are started: as they stand, but each behind those that it names.
/// Throws command_line::UsageError for a name that is nobody's, and for those that wait for each
/// other.
std::vector<ProgramOptions> in_order(const std::vector<ProgramOptions>& programs);

/// "SIGTERM", or "signal 40" for one without a name.
std::string signal_name(int signal);

}  // namespace supervisor

#endif
