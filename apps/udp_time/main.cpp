// SPDX-License-Identifier: BSL-1.0
//
// The time over UDP, told and asked for (SNTP, RFC 4330). serve.cpp answers in callbacks of
// datagram endpoints; ask.cpp asks in tasks over datagram sockets, which datagrams that are lost,
// late, doubled or forged do not confuse; reply.hpp is what a client has to make of an answer. See
// options.cpp for the usage.
#include "ask.hpp"
#include "options.hpp"
#include "serve.hpp"

#include <apps/command_line/arguments.hpp>
#include <apps/command_line/descriptors.hpp>

#include <reactor/runner.hpp>

#include <cstdio>
#include <exception>

namespace {

int run(const udp_time::Options& options) {
    if (options.mode == udp_time::Options::Mode::help) {
        std::fputs(udp_time::usage, stdout);
        return 0;
    }
    command_line::raise_descriptor_limit();
    reactor::RunnerOptions signals_are_ours;
    signals_are_ours.handle_sigint = false;
    reactor::Runner runner(signals_are_ours);
    if (options.mode == udp_time::Options::Mode::ask) return runner.run<udp_time::Ask>(options);
    command_line::outlive_readers();
    runner.run<udp_time::Serve>(options);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(udp_time::parse_options(argc, argv));
    } catch (const command_line::UsageError& error) {
        std::fprintf(stderr, "udp_time: %s\n\n%s", error.what(), udp_time::usage);
        return command_line::exit_usage;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "udp_time: %s\n", error.what());
        return command_line::exit_failed;
    }
}
