// SPDX-License-Identifier: BSL-1.0
#include "crawler.hpp"

#include <string>

using namespace crawler_test;

namespace {

constexpr const char* usage = "usage: crawler [options] URL...";

void check_refused(const Strings& arguments, const std::string& why) {
    const support::TemporaryDirectory directory;
    Command wrong = command(arguments);
    wrong.directory = directory.path();
    const Exit exit = support::run(wrong);
    BOOST_TEST(exit.status == 2, exit.text());
    BOOST_TEST(exit.out == "");
    BOOST_TEST(exit.err.compare(0, 9, "crawler: ") == 0, exit.text());
    BOOST_TEST(contains(exit.err.substr(0, exit.err.find('\n')), why), exit.text());
    BOOST_TEST(contains(exit.err, usage), exit.text());
    BOOST_TEST(support::names_in(directory.path()).empty());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(crawler_usage)

BOOST_AUTO_TEST_CASE(help_is_no_error) {
    const Exit exit = crawl({"--help"});
    BOOST_TEST(exit.status == 0, exit.text());
    BOOST_TEST(exit.err == "");
    BOOST_TEST(exit.out.compare(0, 31, usage) == 0, exit.text());
    for (const char* option : {"--input", "--output", "--jobs", "--timeout", "--demo", "--help"}) {
        BOOST_TEST(contains(exit.out, option), option);
    }
}

BOOST_AUTO_TEST_CASE(no_url) {
    check_refused({}, "no URL");
    check_refused({"--output", "pictures"}, "no URL");
    check_refused({"--input", "/dev/null"}, "no URL");
    check_refused({"--"}, "no URL");
}

BOOST_AUTO_TEST_CASE(unknown_options) {
    for (const char* option : {"--frobnicate", "-x", "-", "--demo=yes", "--job"}) {
        check_refused({option, "http://127.0.0.1/"}, option);
    }
}

BOOST_AUTO_TEST_CASE(options_without_their_value) {
    for (const char* option :
         {"--input", "--output", "--jobs", "--timeout", "--count", "--latency"}) {
        check_refused({"http://127.0.0.1/", option}, std::string(option) + " needs");
    }
    check_refused({"--output", "", "http://127.0.0.1/"}, "--output needs");
}

BOOST_AUTO_TEST_CASE(bad_numbers) {
    for (const char* number : {"", "0", "-1", "+1", " 1", "1 ", "1.5", "0x10", "ten", "1000000001",
                               "18446744073709551617"}) {
        check_refused({"--jobs", number, "http://127.0.0.1/"}, "--jobs");
        check_refused({"--serve", "--count", number}, "--count");
    }
    for (const char* number : {"", "-1", "soon", "1s", "nan", "1,5", " 1", "0x10"}) {
        check_refused({"--timeout", number, "http://127.0.0.1/"}, "--timeout");
        check_refused({"--serve", "--latency", number}, "--latency");
    }
}

BOOST_AUTO_TEST_CASE(urls_where_none_are_taken) {
    check_refused({"--demo", "http://127.0.0.1/"}, "no URL");
    check_refused({"http://127.0.0.1/", "--serve"}, "no URL");
}

BOOST_AUTO_TEST_CASE(behind_two_dashes_everything_is_a_url) {
    const support::TemporaryDirectory directory;
    const Exit exit = crawl({"--output", directory.path(), "--", "--demo"});
    BOOST_TEST(exit.status == 1, exit.text());
    BOOST_TEST(contains(outcome(exit, "--demo"), "failed: "), exit.text());
}

BOOST_AUTO_TEST_SUITE_END()
