// SPDX-License-Identifier: BSL-1.0
#include "udp_time.hpp"

using namespace udp_time_test;
using programs::check_refused;

namespace {

void check_usage(const Strings& arguments, const std::string& part) {
    check_refused("udp_time", arguments, 2, part);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(udp_time_usage)

BOOST_AUTO_TEST_CASE(help_is_no_error) {
    for (const Strings& arguments :
         {Strings{"--help"}, Strings{"serve", "--help"}, Strings{"ask", "--help"}}) {
        const Exit exit = support::run(command("udp_time", arguments));
        BOOST_TEST(exit.status == 0, exit.text());
        BOOST_TEST(exit.out.compare(0, 22, "usage: udp_time serve ") == 0, exit.text());
        for (const char* option :
             {"--stratum", "--timeout", "--retry", "--broadcast", "--answers"}) {
            BOOST_TEST(contains(exit.out, option), option);
        }
    }
}

BOOST_AUTO_TEST_CASE(wrong_words) {
    check_usage({}, "serve or ask");
    check_usage({"tell"}, "tell");
    check_usage({"serve"}, "no address");
    check_usage({"serve", "--frobnicate"}, "--frobnicate");
    check_usage({"serve", "127.0.0.1:0", "--stratum"}, "--stratum needs");
    for (const char* stratum : {"0", "16", "x", "-1"}) {
        check_usage({"serve", "127.0.0.1:0", "--stratum", stratum}, "--stratum");
    }
    check_usage({"ask"}, "no server");
    check_usage({"ask", "--fast", "127.0.0.1"}, "--fast");
    check_usage({"ask", "127.0.0.1", "--answers", "1"}, "--broadcast");
    for (const char* option : {"--timeout", "--retry", "--answers"}) {
        check_usage({"ask", "127.0.0.1", option}, std::string(option) + " needs");
        check_usage({"ask", "127.0.0.1", option, "0"}, option);
        check_usage({"ask", "127.0.0.1", option, "x"}, option);
    }
}

BOOST_AUTO_TEST_CASE(wrong_addresses) {
    for (const char* address : {"", "x", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
                                "127.0.0.256:1", "::1:80", "[::1]", "localhost:123"}) {
        check_usage({"serve", address}, "serve");
    }
    check_usage({"serve", "unix:/run/time"}, "no IP address");
    for (const char* server :
         {"", ":123", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.256", "::1", "[::1",
          "[::1]:", "localhost:", "localhost:0", "localhost:65536"}) {
        check_usage({"ask", server}, "ask");
    }
    check_usage({"ask", "unix:/run/time"}, "no address of IP");
    check_usage({"ask", "localhost:ntp"}, "a port is a number");
}

BOOST_AUTO_TEST_CASE(nothing_is_half_started) {
    const Peer taken;
    check_refused("udp_time", {"serve", "127.0.0.1:0", taken.address()}, 1,
                  "bind " + taken.address() + ": Address already in use");
    // An address of nobody here.
    check_refused("udp_time", {"serve", "192.0.2.1:0", "192.0.2.2:0"}, 1,
                  "bind 192.0.2.1:0: Cannot assign requested address");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_asked_is_named) {
    const Exit unknown = support::run(ask({"nosuch.invalid", "--timeout", "90"}));
    BOOST_TEST(unknown.status == 1, unknown.text());
    BOOST_TEST(contains(unknown.err, "udp_time: resolve nosuch.invalid: "), unknown.text());
    BOOST_TEST(number_before("failed", unknown.out) == 1u, unknown.text());

    const Exit everybody = support::run(ask({"127.255.255.255"}));
    BOOST_TEST(everybody.status == 1, everybody.text());
    BOOST_TEST(everybody.err == "udp_time: connect to 127.255.255.255:123: Permission denied\n");
    BOOST_TEST(number_before("failed", everybody.out) == 1u, everybody.text());
}

BOOST_AUTO_TEST_SUITE_END()
