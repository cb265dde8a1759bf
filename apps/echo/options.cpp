// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include <apps/command_line/arguments.hpp>
#include <apps/command_line/modes.hpp>

#include <string>

namespace echo {

using namespace command_line;

const char* const usage =
    "usage: echo serve [options]\n"
    "       echo load ADDRESS [options]\n"
    "Sends back what it gets, until SIGTERM or SIGINT; or looks how fast and how well others do.\n"
    "\n"
    "serve: the first lines printed are the addresses it listens on\n"
    "  --listen ADDRESS    127.0.0.1:7, [::]:7, unix:/path or unix:@name; may be repeated; port "
    "0:\n"
    "                      any (without: the sockets that systemd hands over, else 127.0.0.1:0)\n"
    "  --streams           served by tasks over streams instead of callbacks\n"
    "  --loops N           on so many threads (default: 1); in the end each says what it served\n"
    "  --reuse-port        each of them listens, and the system spreads the clients (default: one\n"
    "                      listens, and each gets a client in turn)\n"
    "  --limit N           more clients of a loop wait to be accepted (default: no limit)\n"
    "  --idle-timeout S    ends a connection without a byte for so long (default: never)\n"
    "  --grace S           for clients to finish after a signal (default: 10); a second signal\n"
    "                      resets them (with --loops: closes them)\n"
    "\n"
    "load: ADDRESS is one of these, or a name: example.org:7\n"
    "  --connections N     at the same time (default: 1)\n"
    "  --size BYTES        of a message (default: 64)\n"
    "  --pipeline N        so many messages are on their way on each connection (default: 1)\n"
    "  --rounds N          so many messages on each connection\n"
    "  --seconds S         or so long (default: 1)\n"
    "  --timeout S         for connecting, and for an answer (default: 10)\n"
    "\n"
    "Exit status: 0 all well, 1 cannot serve, or an answer was wrong or missing, 2 wrong usage,\n"
    "130 or 143 load interrupted.\n";

namespace {

// So many bytes on their way are no flood yet: WriteLimits::hard.
constexpr std::size_t most_in_flight = 64 * 1024 * 1024;
// Of threads, and no machine has more processors to speak of.
constexpr std::size_t most_loops = 1024;

void parse_serve(Arguments& arguments, Options& options) {
    while (!arguments.empty()) {
        const std::string word = arguments.next();
        if (word == "--listen") {
            options.listen.push_back(parse_endpoint(word, arguments.value_of(word)));
        } else if (word == "--streams") {
            options.streams = true;
        } else if (word == "--loops") {
            options.loops = parse_count(word, arguments.value_of(word));
        } else if (word == "--reuse-port") {
            options.reuse_port = true;
        } else if (word == "--limit") {
            options.limit = parse_count(word, arguments.value_of(word));
        } else if (word == "--idle-timeout") {
            options.idle_timeout = parse_limit(word, arguments.value_of(word));
        } else if (word == "--grace") {
            options.grace = parse_seconds(word, arguments.value_of(word));
        } else {
            throw UsageError("serve: unknown option " + word);
        }
    }
    if (options.loops > most_loops) throw UsageError("serve: --loops is more than 1024");
    if (options.reuse_port && options.loops == 1) {
        throw UsageError("serve: --reuse-port is for several --loops");
    }
}

void parse_load(Arguments& arguments, Options& options) {
    bool address = false, seconds = false;
    while (!arguments.empty()) {
        const std::string word = arguments.next();
        if (word == "--connections") {
            options.connections = parse_count(word, arguments.value_of(word));
        } else if (word == "--size") {
            options.size = parse_count(word, arguments.value_of(word));
        } else if (word == "--pipeline") {
            options.pipeline = parse_count(word, arguments.value_of(word));
        } else if (word == "--rounds") {
            options.rounds = parse_count(word, arguments.value_of(word));
        } else if (word == "--seconds") {
            options.time = parse_limit(word, arguments.value_of(word));
            seconds = true;
        } else if (word == "--timeout") {
            options.timeout = parse_limit(word, arguments.value_of(word));
        } else if (!word.empty() && word[0] == '-') {
            throw UsageError("load: unknown option " + word);
        } else if (address) {
            throw UsageError("load: one address, not " + word + " as well");
        } else {
            options.address = parse_address("load", word);
            address = true;
        }
    }
    if (!address) throw UsageError("load: no address given");
    if (options.rounds > 0 && seconds) throw UsageError("load: either --rounds or --seconds");
    if (options.size > most_in_flight / options.pipeline) {
        throw UsageError("load: --size times --pipeline is more than 64 MiB");
    }
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
    return parse_modes<Options>(argc, argv, {"serve", Options::Mode::serve, &parse_serve},
                                {"load", Options::Mode::load, &parse_load});
}

}  // namespace echo
