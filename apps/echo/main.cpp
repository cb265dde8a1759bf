// SPDX-License-Identifier: BSL-1.0
//
// An echo server, and a client that puts it to the test. echo.hpp is the server's whole business,
// as callbacks and as a task; serve.cpp how a server begins and ends, serve_on_loops.cpp one on
// several threads; load.cpp a client. See options.cpp for the usage.
#include "load.hpp"
#include "options.hpp"
#include "serve.hpp"
#include "serve_on_loops.hpp"

#include <apps/command_line/arguments.hpp>
#include <apps/command_line/descriptors.hpp>

#include <reactor/runner.hpp>

#include <cstdio>
#include <exception>

namespace {

int run(const echo::Options& options) {
    if (options.mode == echo::Options::Mode::help) {
        std::fputs(echo::usage, stdout);
        return 0;
    }
    command_line::raise_descriptor_limit();
    reactor::RunnerOptions signals_are_ours;
    signals_are_ours.handle_sigint = false;
    reactor::Runner runner(signals_are_ours);
    if (options.mode == echo::Options::Mode::load) return runner.run<echo::Load>(options);
    command_line::outlive_readers();
    if (options.loops > 1) {
        runner.run<echo::ServeOnLoops>(options);
    } else {
        runner.run<echo::Serve>(options);
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(echo::parse_options(argc, argv));
    } catch (const command_line::UsageError& error) {
        std::fprintf(stderr, "echo: %s\n\n%s", error.what(), echo::usage);
        return command_line::exit_usage;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "echo: %s\n", error.what());
        return command_line::exit_failed;
    }
}
