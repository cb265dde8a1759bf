// SPDX-License-Identifier: BSL-1.0
//
// A chat room for thousands, and a crowd that puts it to the test. room.cpp is the server's whole
// business; serve.cpp how a server begins and ends; load.cpp the crowd. See options.cpp for the
// usage.
#include "load.hpp"
#include "options.hpp"
#include "serve.hpp"

#include <apps/command_line/arguments.hpp>
#include <apps/command_line/descriptors.hpp>

#include <reactor/runner.hpp>

#include <cstddef>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

namespace {

// For the loop, the listening sockets, what the C library opens.
constexpr std::size_t other_descriptors = 64;

/// Each member takes a descriptor: as many as there may be, if nobody says how many.
void fit_members(std::size_t& members) {
    const std::size_t limit = command_line::raise_descriptor_limit();
    const std::size_t most = limit > other_descriptors ? limit - other_descriptors : 1;
    if (members == 0) members = most;
    if (members > most) {
        throw std::runtime_error("--members " + std::to_string(members) + ": at most " +
                                 std::to_string(most) + ", as the limit of descriptors is " +
                                 std::to_string(limit) + " (ulimit -n, LimitNOFILE=)");
    }
}

int run(chat::Options& options) {
    if (options.mode == chat::Options::Mode::help) {
        std::fputs(chat::usage, stdout);
        return 0;
    }
    const bool load = options.mode == chat::Options::Mode::load;
    fit_members(load ? options.members : options.room.most_members);
    reactor::RunnerOptions signals_are_ours;
    signals_are_ours.handle_sigint = false;
    reactor::Runner runner(signals_are_ours);
    if (load) return runner.run<chat::Load>(options);
    command_line::outlive_readers();
    runner.run<chat::Serve>(options);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        chat::Options options = chat::parse_options(argc, argv);
        return run(options);
    } catch (const command_line::UsageError& error) {
        std::fprintf(stderr, "chat: %s\n\n%s", error.what(), chat::usage);
        return command_line::exit_usage;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "chat: %s\n", error.what());
        return command_line::exit_failed;
    }
}
