// SPDX-License-Identifier: BSL-1.0
//
// Starts programs and keeps them running. keeper.cpp is the life of one of them, forwarder.cpp what
// becomes of its output, supervise.cpp how all begin and end. See options.cpp for the usage.
#include "options.hpp"
#include "output.hpp"
#include "supervise.hpp"

#include <apps/command_line/arguments.hpp>
#include <apps/command_line/descriptors.hpp>

#include <reactor/runner.hpp>

#include <csignal>
#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
    try {
        const supervisor::Options options = supervisor::parse_options(argc, argv);
        if (options.help) {
            std::fputs(supervisor::usage, stdout);
            return 0;
        }
        // Who is started with SIGCHLD ignored, as some do, would not learn how its children end.
        ::signal(SIGCHLD, SIG_DFL);
        command_line::outlive_readers();  // of the errors; the programs are told by their own pipes
        const int output = supervisor::standard_output();
        reactor::RunnerOptions signals_are_ours;
        signals_are_ours.handle_sigint = false;
        reactor::Runner runner(signals_are_ours);
        return runner.run<supervisor::Supervise>(options, output);
    } catch (const command_line::UsageError& error) {
        std::fprintf(stderr, "supervisor: %s\n\n%s", error.what(), supervisor::usage);
        return command_line::exit_usage;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "supervisor: %s\n", error.what());
        return command_line::exit_failed;
    }
}
