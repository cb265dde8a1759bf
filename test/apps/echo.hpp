// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_APPS_ECHO_HPP
#define REACTOR_TEST_APPS_ECHO_HPP

#include <csignal>
#include <string>

#include <sys/stat.h>

#include "plain_socket.hpp"
#include "program.hpp"

/// What the tests of the echo server share.
namespace echo_test {

using programs::command;
using programs::contains;
using programs::Exit;
using programs::lines_in;
using programs::number_before;
using programs::Strings;

/// The two servers that there are, for tests of either.
const Strings ways = {"callbacks", "streams"};

inline Strings served(const std::string& way, Strings arguments) {
    if (way == "streams") arguments.push_back("--streams");
    return arguments;
}

/// A running server, by callbacks or by streams.
class Server : public programs::Serving {
public:
    explicit Server(const Strings& arguments)
        : Serving(command("echo", programs::with_mode("serve", arguments))) {}

    void send_signal(int signal) { process().send_signal(signal); }
    /// A signal; soon after it, nobody else is let in.
    void begin_to_end(int signal = SIGTERM) {
        send_signal(signal);
        BOOST_TEST(process().wait_for_output("Ending: "));
        BOOST_TEST(plain::wait_until_nobody_listens(address()));
        BOOST_TEST(plain::refuses(address()));
    }
    Exit wait() { return process().wait(); }
};

inline Exit load(const Strings& arguments) {
    const Exit exit = support::run(command("echo", programs::with_mode("load", arguments)));
    BOOST_TEST_REQUIRE(!exit.timed_out, exit.text());
    return exit;
}

/// The last line says so many.
inline void check_ended(const Exit& exit, unsigned long long finished, unsigned closed,
                        unsigned aborted) {
    BOOST_TEST_REQUIRE(exit.status == 0, exit.text());
    BOOST_TEST(number_before("finished", exit.out) == finished, exit.text());
    BOOST_TEST(number_before("closed", exit.out) == closed, exit.text());
    BOOST_TEST(number_before("aborted", exit.out) == aborted, exit.text());
    BOOST_TEST(exit.err == "");
}

/// Nobody had to be closed. Clients that had gone just before count as ones that finished, unless
/// the server had seen it already.
inline void check_ended_alone(const Exit& exit) {
    check_ended(exit, number_before("finished", exit.out), 0, 0);
}

}  // namespace echo_test

#endif
