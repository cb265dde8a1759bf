// SPDX-License-Identifier: BSL-1.0
#include "echo.hpp"

#include <sys/stat.h>

#include <test/support/temporary_directory.hpp>

using namespace echo_test;
using programs::check_refused;

namespace {

void check_usage(const Strings& arguments, const std::string& part) {
    check_refused("echo", arguments, 2, part);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(echo_usage)

BOOST_AUTO_TEST_CASE(help_is_no_error) {
    for (const Strings& arguments :
         {Strings{"--help"}, Strings{"serve", "--help"}, Strings{"load", "--help"}}) {
        const Exit exit = support::run(command("echo", arguments));
        BOOST_TEST(exit.status == 0, exit.text());
        BOOST_TEST(exit.out.compare(0, 18, "usage: echo serve ") == 0, exit.text());
    }
}

BOOST_AUTO_TEST_CASE(wrong_words) {
    check_usage({}, "serve or load");
    check_usage({"swerve"}, "swerve");
    check_usage({"serve", "--frobnicate"}, "--frobnicate");
    check_usage({"serve", "127.0.0.1:0"}, "127.0.0.1:0");
    check_usage({"load"}, "no address");
    check_usage({"load", "--fast", "127.0.0.1:1"}, "--fast");
    check_usage({"load", "127.0.0.1:1", "127.0.0.1:2"}, "one address");
    check_usage({"load", "127.0.0.1:1", "--rounds", "1", "--seconds", "1"}, "either");
    check_usage({"load", "127.0.0.1:1", "--size", "1000000", "--pipeline", "100"}, "64 MiB");
    for (const char* option : {"--listen", "--limit", "--idle-timeout", "--grace"}) {
        check_usage({"serve", option}, std::string(option) + " needs");
    }
    for (const char* option : {"--connections", "--size", "--pipeline", "--rounds", "--seconds"}) {
        check_usage({"load", "127.0.0.1:1", option}, std::string(option) + " needs");
        check_usage({"load", "127.0.0.1:1", option, "-1"}, option);
        check_usage({"load", "127.0.0.1:1", option, "0"}, option);
    }
}

BOOST_AUTO_TEST_CASE(wrong_addresses) {
    for (const char* address :
         {"", "x", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.256:1",
          "::1:80", "[::1]", "[::1:80", "unix:"}) {
        check_usage({"serve", "--listen", address}, "--listen");
        check_usage({"load", address}, "load");
    }
    check_usage({"serve", "--listen", "localhost:80"}, "localhost");
    check_usage({"load", "localhost:65536"}, "65535");
    check_usage({"load", "127.0.0.1:0"}, "port");
    check_usage({"load", "localhost:0"}, "port");
    check_usage({"load", "localhost:"}, "port");
    const std::string long_path = "unix:/tmp/" + std::string(200, 'p');
    check_usage({"serve", "--listen", long_path}, "name of a Unix socket");
    check_usage({"load", long_path}, "name of a Unix socket");
}

BOOST_AUTO_TEST_CASE(nothing_is_half_started) {
    const plain::Listener taken;
    const support::TemporaryDirectory directory;
    const std::string path = "unix:" + (directory / "echo.sock");
    check_refused("echo", {"serve", "--listen", path, "--listen", taken.address()}, 1,
                  "listen on " + taken.address() + ": Address already in use");
    BOOST_TEST(support::names_in(directory.path()).empty());

    support::write_file(directory / "file", "of somebody");
    check_refused("echo", {"serve", "--listen", "unix:" + (directory / "file")}, 1,
                  "Address already in use");
    BOOST_TEST(support::read_file(directory / "file") == "of somebody");
    check_refused("echo", {"serve", "--listen", "unix:" + (directory / "missing/echo.sock")}, 1,
                  "No such file or directory");
    // An address of nobody here.
    check_refused("echo", {"serve", "--listen", "192.0.2.1:0"}, 1,
                  "listen on 192.0.2.1:0: Cannot assign requested address");
}

BOOST_AUTO_TEST_CASE(a_path_that_may_not_be_made) {
    const support::TemporaryDirectory directory;
    BOOST_REQUIRE(::mkdir((directory / "closed").c_str(), 0555) == 0);
    const std::string at = "unix:" + (directory / "closed/echo.sock");
    if (::getuid() != 0) {
        check_refused("echo", {"serve", "--listen", at}, 1, "Permission denied");
        return;
    }
    // Root may write anywhere, unless it gives that up.
    const Exit exit =
        support::run(support::Command({"setpriv", "--bounding-set=-dac_override,-dac_read_search",
                                       programs::path_of("echo"), "serve", "--listen", at}));
    BOOST_TEST(exit.status == 1, exit.text());
    BOOST_TEST(contains(exit.err, "Permission denied"), exit.text());
    BOOST_TEST(exit.out == "");
}

BOOST_AUTO_TEST_SUITE_END()
