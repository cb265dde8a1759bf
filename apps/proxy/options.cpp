// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include <apps/command_line/address.hpp>
#include <apps/command_line/arguments.hpp>

#include <string>

namespace proxy {

const char* const usage =
    "usage: proxy --listen ADDRESS... --to HOST:PORT... [options]\n"
    "Forwards connections to a target, both ways, until SIGTERM or SIGINT. The first lines "
    "printed\n"
    "are the addresses it listens on.\n"
    "\n"
    "  --listen ADDRESS       127.0.0.1:8080, [::]:8080, unix:/path or unix:@name; port 0: any\n"
    "                         (without: the sockets that systemd hands over)\n"
    "  --to ADDRESS           the same or a name, example.org:80; several take turns, and one "
    "that\n"
    "                         cannot be reached gives its turn to the next\n"
    "  --failover             no turns: always the first target that can be reached\n"
    "  --max-connections N    more clients wait to be accepted (default: no limit)\n"
    "  --per-address N        more connections from one address are reset (default: no limit)\n"
    "  --connect-timeout S    for each target (default: 5)\n"
    "  --idle-timeout S       ends a connection without a byte for so long (default: 600)\n"
    "  --grace S              for what runs to finish after a signal (default: 10); a second "
    "signal\n"
    "                         resets it\n"
    "  --stats                a line each second in which something has happened\n"
    "  --help                 this text\n"
    "\n"
    "Exit status: 0 ended by a signal, 1 cannot serve, 2 wrong usage.\n";

Options parse_options(int argc, const char* const* argv) {
    using namespace command_line;
    Options options;
    Arguments arguments(argc, argv);
    while (!arguments.empty()) {
        const std::string word = arguments.next();
        if (word == "--help") {
            options.help = true;
            return options;
        } else if (word == "--listen") {
            options.listen.push_back(parse_endpoint(word, arguments.value_of(word)));
        } else if (word == "--to") {
            options.forwarding.targets.push_back(parse_address(word, arguments.value_of(word)));
        } else if (word == "--failover") {
            options.forwarding.in_turn = false;
        } else if (word == "--max-connections") {
            options.max_connections = parse_count(word, arguments.value_of(word));
        } else if (word == "--per-address") {
            options.per_address = parse_count(word, arguments.value_of(word));
        } else if (word == "--connect-timeout") {
            options.forwarding.connect_timeout = parse_limit(word, arguments.value_of(word));
        } else if (word == "--idle-timeout") {
            options.forwarding.idle_timeout = parse_limit(word, arguments.value_of(word));
        } else if (word == "--grace") {
            options.grace = parse_seconds(word, arguments.value_of(word));
        } else if (word == "--stats") {
            options.stats = true;
        } else {
            throw UsageError("unknown option " + word);
        }
    }
    if (options.forwarding.targets.empty()) throw UsageError("no target: --to is needed");
    return options;
}

}  // namespace proxy
