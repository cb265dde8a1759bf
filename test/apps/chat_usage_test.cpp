// SPDX-License-Identifier: BSL-1.0
#include "chat.hpp"

#include <test/support/temporary_directory.hpp>

using namespace chat_test;
using programs::check_refused;

namespace {

void check_usage(const Strings& arguments, const std::string& part) {
    check_refused("chat", arguments, 2, part);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(chat_usage)

BOOST_AUTO_TEST_CASE(help_is_no_error) {
    for (const Strings& arguments :
         {Strings{"--help"}, Strings{"serve", "--help"}, Strings{"load", "--help"}}) {
        const Exit exit = support::run(command("chat", arguments));
        BOOST_TEST(exit.status == 0, exit.text());
        BOOST_TEST(exit.out.compare(0, 18, "usage: chat serve ") == 0, exit.text());
    }
}

BOOST_AUTO_TEST_CASE(wrong_words) {
    const std::string at = "127.0.0.1:1";
    check_usage({}, "serve or load");
    check_usage({"talk"}, "talk");
    check_usage({"serve", "--frobnicate"}, "--frobnicate");
    check_usage({"serve", "127.0.0.1:0"}, "127.0.0.1:0");
    check_usage({"serve", "--queue", "1000", "--most", "999"}, "--most is less than --queue");
    check_usage({"load"}, "no address");
    check_usage({"load", "--fast", at}, "--fast");
    check_usage({"load", at, "127.0.0.1:2"}, "one address");
    check_usage({"load", at, "--members", "1"}, "two of the --members");
    check_usage({"load", at, "--members", "5", "--stalled", "4"}, "two of the --members");
    check_usage({"load", at, "--members", "5", "--stalled", "2", "--speakers", "4"},
                "more --speakers than --members");
    check_usage({"load", at, "--size", "47"}, "--size is less than 48");
    check_usage({"load", at, "--size", "1000000", "--pipeline", "100"}, "64 MiB");
    for (const char* option :
         {"--listen", "--members", "--line", "--rate", "--queue", "--stall", "--most", "--grace"}) {
        check_usage({"serve", option}, std::string(option) + " needs");
        if (std::string(option) != "--listen") check_usage({"serve", option, "-1"}, option);
    }
    check_usage({"serve", "--stall", "0"}, "--stall");
    for (const char* option :
         {"--members", "--stalled", "--speakers", "--lines", "--size", "--pipeline", "--timeout"}) {
        check_usage({"load", at, option}, std::string(option) + " needs");
        check_usage({"load", at, option, "-1"}, option);
        check_usage({"load", at, option, "0"}, option);
    }
    check_usage({"serve", "--listen", "localhost:80"}, "localhost");
    check_usage({"load", "127.0.0.1:0"}, "port");
}

BOOST_AUTO_TEST_CASE(more_members_than_descriptors) {
    for (Strings arguments : {Strings{"serve"}, Strings{"load", "127.0.0.1:1"}}) {
        arguments.insert(arguments.end(), {"--members", "200"});
        support::Command limited = command("chat", arguments);
        limited.limits.push_back({RLIMIT_NOFILE, {100, 200}});
        const Exit exit = support::run(limited);
        BOOST_TEST(exit.status == 1, exit.text());
        BOOST_TEST(exit.err ==
                   "chat: --members 200: at most 136, as the limit of descriptors is 200 (ulimit "
                   "-n, LimitNOFILE=)\n");
        BOOST_TEST(exit.out == "");
    }
}

BOOST_AUTO_TEST_CASE(nothing_is_half_started) {
    const plain::Listener taken;
    const support::TemporaryDirectory directory;
    const std::string path = "unix:" + (directory / "chat.sock");
    check_refused("chat", {"serve", "--listen", path, "--listen", taken.address()}, 1,
                  "listen on " + taken.address() + ": Address already in use");
    BOOST_TEST(support::names_in(directory.path()).empty());
    check_refused("chat", {"serve", "--listen", "unix:" + (directory / "missing/chat.sock")}, 1,
                  "No such file or directory");
}

BOOST_AUTO_TEST_SUITE_END()
