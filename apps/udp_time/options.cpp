// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include <apps/command_line/arguments.hpp>
#include <apps/command_line/modes.hpp>

#include <string>

namespace udp_time {

using namespace command_line;

const char* const usage =
    "usage: udp_time serve ADDRESS:PORT... [options]\n"
    "       udp_time ask HOST[:PORT]... [options]\n"
    "Tells the time over UDP, until SIGTERM or SIGINT; or asks what time it is elsewhere. SNTP\n"
    "(RFC 4330): any NTP client and server is understood.\n"
    "\n"
    "serve: the first lines printed are the addresses it answers on, such as 127.0.0.1:123 or\n"
    "[::]:123; port 0: any. The time is this machine's, as it is. Nothing is kept of those who\n"
    "ask, and nobody is limited: an answer is never longer than the request.\n"
    "(0.0.0.0 and [::] answer from the address that the system chooses: of a machine with "
    "several,\n"
    "name each, since a client hears only the one that it has asked.)\n"
    "  --stratum N         what it says of itself, 1 (a clock) to 15 (far from one; default: 10)\n"
    "\n"
    "ask: all of them at once, of a name each of its addresses; port 123 unless it says another\n"
    "  --timeout S         for all of it (default: 5)\n"
    "  --retry S           asks again after so long, then after twice that, and so on (default: "
    "1)\n"
    "  --broadcast         HOST is a broadcast or multicast address: whoever answers is heard,\n"
    "                      until the time is up\n"
    "  --answers N         or until so many have answered\n"
    "\n"
    "Exit status: 0 all well, 1 cannot serve, or one of those asked (of a name, all addresses) "
    "has\n"
    "given no time, 2 wrong usage, 130 or 143 ask interrupted.\n";

namespace {

void parse_serve(Arguments& arguments, Options& options) {
    while (!arguments.empty()) {
        const std::string word = arguments.next();
        if (word == "--stratum") {
            const std::string text = arguments.value_of(word);
            const std::size_t stratum = parse_count(word, text);
            if (stratum > 15) throw UsageError(word + ": " + text + " is not from 1 to 15");
            options.stratum = static_cast<unsigned>(stratum);
        } else if (!word.empty() && word[0] == '-') {
            throw UsageError("serve: unknown option " + word);
        } else {
            options.listen.push_back(parse_endpoint("serve", word));
            if (!options.listen.back().is_ip()) {
                throw UsageError("serve: \"" + word + "\" is no IP address with a port");
            }
        }
    }
    if (options.listen.empty()) throw UsageError("serve: no address given");
}

/// "pool.example", "192.0.2.1:123", "[2001:db8::1]".
Address parse_server(const std::string& text) {
    if (text.empty()) throw UsageError("ask: '' is no server");
    const bool port_given =
        (text[0] == '[' ? text.back() != ']' : text.find(':') != std::string::npos);
    const Address server = parse_address("ask", port_given ? text : text + ":123");
    if (server.host.empty() && !server.endpoint.is_ip()) {
        throw UsageError("ask: \"" + text + "\" is no address of IP");
    }
    if (!server.port.is_number()) {
        throw UsageError("ask: \"" + text + "\": a port is a number, such as 123");
    }
    return server;
}

void parse_ask(Arguments& arguments, Options& options) {
    while (!arguments.empty()) {
        const std::string word = arguments.next();
        if (word == "--timeout") {
            options.timeout = parse_limit(word, arguments.value_of(word));
        } else if (word == "--retry") {
            options.retry = parse_limit(word, arguments.value_of(word));
        } else if (word == "--broadcast") {
            options.broadcast = true;
        } else if (word == "--answers") {
            options.answers = parse_count(word, arguments.value_of(word));
        } else if (!word.empty() && word[0] == '-') {
            throw UsageError("ask: unknown option " + word);
        } else {
            options.servers.push_back(parse_server(word));
        }
    }
    if (options.servers.empty()) throw UsageError("ask: no server given");
    if (options.answers > 0 && !options.broadcast) {
        throw UsageError("ask: --answers is for a --broadcast");
    }
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
    return parse_modes<Options>(argc, argv, {"serve", Options::Mode::serve, &parse_serve},
                                {"ask", Options::Mode::ask, &parse_ask});
}

}  // namespace udp_time
