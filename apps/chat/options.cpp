// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include <apps/command_line/arguments.hpp>
#include <apps/command_line/modes.hpp>

#include <string>

namespace chat {

using namespace command_line;

const char* const usage =
    "usage: chat serve [options]\n"
    "       chat load ADDRESS [options]\n"
    "A room: what one member says, all others hear. Until SIGTERM or SIGINT. Or a crowd of "
    "members\n"
    "that looks whether every line comes to everybody.\n"
    "\n"
    "A member sends lines. \"/name NAME\" gives it a name, \"/who\" tells who it is, \"/quit\" "
    "ends it;\n"
    "all else is said. Lines that begin with \"* \" are the room's, with \"! \" its complaints.\n"
    "\n"
    "serve: the first lines printed are the addresses it listens on\n"
    "  --listen ADDRESS    127.0.0.1:7777, [::]:7777, unix:/path or unix:@name; may be repeated;\n"
    "                      port 0: any (without: the sockets that systemd hands over, else\n"
    "                      127.0.0.1:0)\n"
    "  --members N         more are turned away (default: as many as there may be descriptors)\n"
    "  --line BYTES        a longer line is not said (default: 1024)\n"
    "  --rate BYTES        a second; who says more is heard later (default: 65536)\n"
    "  --queue BYTES       a member for whom more than this waits is behind (default: 65536)\n"
    "  --stall S           and is dropped when it is for so long (default: 10)\n"
    "  --most BYTES        or as soon as so much waits (default: 16777216)\n"
    "  --grace S           after a signal, for members to take the last words (default: 5); a\n"
    "                      second signal resets them\n"
    "\n"
    "load: ADDRESS is one of these, or a name: example.org:7777\n"
    "  --members N         in all (default: 10)\n"
    "  --stalled N         of them read nothing, and should be dropped for that (default: 0)\n"
    "  --speakers N        of the others speak (default: 1)\n"
    "  --lines N           so many each (default: 10)\n"
    "  --size BYTES        of a line (default: 64)\n"
    "  --pipeline N        so many lines of each speaker are on their way (default: 1)\n"
    "  --timeout S         for joining, for a line, for the dropping (default: 30)\n"
    "\n"
    "Exit status: 0 all well, 1 cannot serve, or a line was wrong or missing, 2 wrong usage,\n"
    "130 or 143 load interrupted.\n";

namespace {

// So many bytes on their way are no flood yet: WriteLimits::hard.
constexpr std::size_t most_in_flight = 64 * 1024 * 1024;

// A line of a load says who has said it, and which one it is.
constexpr std::size_t shortest_line = 48;

void parse_serve(Arguments& arguments, Options& options) {
    options.room.most_members = 0;
    while (!arguments.empty()) {
        const std::string word = arguments.next();
        if (word == "--listen") {
            options.listen.push_back(parse_endpoint(word, arguments.value_of(word)));
        } else if (word == "--members") {
            options.room.most_members = parse_count(word, arguments.value_of(word));
        } else if (word == "--line") {
            options.room.longest_line = parse_count(word, arguments.value_of(word));
        } else if (word == "--rate") {
            options.room.rate = parse_count(word, arguments.value_of(word));
        } else if (word == "--queue") {
            options.room.queue = parse_count(word, arguments.value_of(word));
        } else if (word == "--stall") {
            options.room.patience = parse_limit(word, arguments.value_of(word));
        } else if (word == "--most") {
            options.room.most_queued = parse_count(word, arguments.value_of(word));
        } else if (word == "--grace") {
            options.grace = parse_seconds(word, arguments.value_of(word));
        } else {
            throw UsageError("serve: unknown option " + word);
        }
    }
    if (options.room.most_queued < options.room.queue) {
        throw UsageError("serve: --most is less than --queue");
    }
}

void parse_load(Arguments& arguments, Options& options) {
    bool address = false;
    while (!arguments.empty()) {
        const std::string word = arguments.next();
        if (word == "--members") {
            options.members = parse_count(word, arguments.value_of(word));
        } else if (word == "--stalled") {
            options.stalled = parse_count(word, arguments.value_of(word));
        } else if (word == "--speakers") {
            options.speakers = parse_count(word, arguments.value_of(word));
        } else if (word == "--lines") {
            options.lines = parse_count(word, arguments.value_of(word));
        } else if (word == "--size") {
            options.size = parse_count(word, arguments.value_of(word));
        } else if (word == "--pipeline") {
            options.pipeline = parse_count(word, arguments.value_of(word));
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
    if (options.members < 2 || options.stalled > options.members - 2) {
        throw UsageError("load: two of the --members at least must not be --stalled");
    }
    if (options.speakers > options.members - options.stalled) {
        throw UsageError("load: more --speakers than --members that are not --stalled");
    }
    if (options.size < shortest_line) {
        throw UsageError("load: --size is less than " + std::to_string(shortest_line));
    }
    if (options.size > most_in_flight / options.pipeline) {
        throw UsageError("load: --size times --pipeline is more than 64 MiB");
    }
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
    return parse_modes<Options>(argc, argv, {"serve", Options::Mode::serve, &parse_serve},
                                {"load", Options::Mode::load, &parse_load});
}

}  // namespace chat
