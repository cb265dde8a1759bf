// SPDX-License-Identifier: BSL-1.0
#include "supervisor.hpp"

using namespace supervisor_test;
using programs::check_refused;

namespace {

void check_usage(const Strings& arguments, const std::string& part) {
    check_refused("supervisor", arguments, 2, part);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(supervisor_usage)

BOOST_AUTO_TEST_CASE(help_is_no_error) {
    for (const Strings& arguments : {Strings{"--help"}, Strings{"--run", "a: b", "--help"}}) {
        const Exit exit = support::run(command("supervisor", arguments));
        BOOST_TEST(exit.status == 0, exit.text());
        BOOST_TEST(exit.out.compare(0, 18, "usage: supervisor ") == 0, exit.text());
    }
}

BOOST_AUTO_TEST_CASE(wrong_words) {
    check_usage({}, "no program: FILE or --run is needed");
    check_usage({"--frobnicate"}, "--frobnicate");
    for (const char* option : {"--run", "--line", "--linger"}) {
        check_usage({option}, std::string(option) + " needs");
    }
    check_usage({"--line", "0"}, "--line");
    check_usage({"--linger", "-1"}, "--linger");
    check_usage({"--run", "a: b\nc: d"}, "repeat --run");
    check_usage({"--run", "# nothing"}, "no program");
}

// What can be wrong with a line is in supervisor_configuration_test.
BOOST_AUTO_TEST_CASE(wrong_programs_are_named_with_their_place) {
    check_usage({"--run", "a: b", "--run", "b"}, "supervisor: --run 2:1: no ':'");
    const support::TemporaryDirectory directory;
    const std::string conf = directory / "conf", other = directory / "other";
    support::write_file(conf, "# a\na: a\nb after=c: b\n");
    check_usage({conf}, "supervisor: " + conf + ":3: after=c: no program has this name");
    check_usage({conf, "--run", "a: a"}, "--run 1:1: the name a is taken by " + conf + ":2");
    check_usage({conf, conf}, "one FILE, not " + conf + " as well");
    support::write_file(other, "# nothing\n");
    check_usage({other}, other + ": no program in it: a line NAME: COMMAND is needed");
    support::write_file(other, std::string(1024 * 1024 + 1, '\n'));
    check_usage({other}, other + ": longer than 1 MiB");
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_read) {
    const support::TemporaryDirectory directory;
    check_refused("supervisor", {directory / "missing"}, 1,
                  "read " + (directory / "missing") + ": No such file or directory");
    check_refused("supervisor", {directory.path()}, 1,
                  "read " + directory.path() + ": Is a directory");
}

BOOST_AUTO_TEST_CASE(nothing_is_half_started) {
    const support::TemporaryDirectory directory;
    const std::string file = directory / "file";
    check_usage({"--run", "a: touch " + file, "--run", "b after=x: true"}, "after=x");
    BOOST_TEST(support::names_in(directory.path()).empty());
}

BOOST_AUTO_TEST_SUITE_END()
