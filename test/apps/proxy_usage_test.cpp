// SPDX-License-Identifier: BSL-1.0
#include "proxy.hpp"

#include <test/support/temporary_directory.hpp>

using namespace proxy_test;
using programs::check_refused;

namespace {

void check_usage(const Strings& arguments, const std::string& part) {
    check_refused("proxy", arguments, 2, part);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(proxy_usage)

BOOST_AUTO_TEST_CASE(help_is_no_error) {
    const Exit exit = support::run(command("proxy", {"--help"}));
    BOOST_TEST(exit.status == 0, exit.text());
    for (const char* option :
         {"--listen", "--to", "--failover", "--max-connections", "--per-address",
          "--connect-timeout", "--idle-timeout", "--grace", "--stats", "--help"}) {
        BOOST_TEST(contains(exit.out, option), option);
    }
}

BOOST_AUTO_TEST_CASE(wrong_words) {
    const Strings whole = {"--listen", "127.0.0.1:0", "--to", "127.0.0.1:1"};
    const auto check = [&whole](const Strings& more, const std::string& part) {
        Strings arguments = whole;
        arguments.insert(arguments.end(), more.begin(), more.end());
        check_usage(arguments, part);
    };
    check_usage({}, "no target");
    check_usage({"--listen", "127.0.0.1:0"}, "no target");
    check_usage({"--to", "127.0.0.1:1"}, "nowhere to listen");
    check({"--frobnicate"}, "--frobnicate");
    check({"127.0.0.1:80"}, "127.0.0.1:80");
    for (const char* option : {"--listen", "--to", "--max-connections", "--per-address",
                               "--connect-timeout", "--idle-timeout", "--grace"}) {
        check({option}, std::string(option) + " needs");
        check({option, "-1"}, option);
    }
    for (const char* option :
         {"--max-connections", "--per-address", "--connect-timeout", "--idle-timeout"}) {
        check({option, "0"}, option);
    }
    for (const char* address : {"", "x", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "::1:80",
                                "host:", "host:0", "host:65536", ":80", "unix:"}) {
        check({"--to", address}, "--to");
    }
    check({"--listen", "localhost:80"}, "localhost");
    check({"--listen", "unix:/tmp/" + std::string(200, 'p')}, "name of a Unix socket");
}

BOOST_AUTO_TEST_CASE(nothing_is_half_started) {
    const plain::Listener taken;
    const support::TemporaryDirectory directory;
    check_refused("proxy",
                  {"--to", "127.0.0.1:1", "--listen", "unix:" + (directory / "proxy.sock"),
                   "--listen", taken.address()},
                  1, "listen on " + taken.address() + ": Address already in use");
    BOOST_TEST(support::names_in(directory.path()).empty());
    check_refused("proxy", {"--to", "127.0.0.1:1", "--listen", "192.0.2.1:0"}, 1,
                  "listen on 192.0.2.1:0: Cannot assign requested address");
}

BOOST_AUTO_TEST_SUITE_END()
