// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_APPS_CRAWLER_HPP
#define REACTOR_TEST_APPS_CRAWLER_HPP

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

#include <test/support/child_process.hpp>
#include <test/support/http_peer.hpp>
#include <test/support/temporary_directory.hpp>

#include "program.hpp"

/// What the tests of the crawler share: running the program and reading what it printed.
namespace crawler_test {

using programs::contains;
using programs::Strings;
using support::Command;
using support::Exit;

inline Command command(const Strings& arguments) { return programs::command("crawler", arguments); }

inline Exit crawl(const Strings& arguments) {
    const Exit exit = support::run(command(arguments));
    BOOST_TEST_REQUIRE(!exit.timed_out, exit.text());
    return exit;
}

/// What follows "URL: …, " in the one line about this URL.
inline std::string outcome(const Exit& exit, const std::string& url) {
    const std::string begin = "URL: " + url + ", ";
    Strings found;
    for (const std::string& line : exit.lines()) {
        if (line.compare(0, begin.size(), begin) == 0) found.push_back(line.substr(begin.size()));
    }
    BOOST_TEST_REQUIRE(found.size() == 1u, "not one line about " << url << ": " << exit.text());
    return found[0];
}

/// Whether it is "took 0.055s".
inline bool took(const std::string& outcome) {
    const std::size_t dot = outcome.find('.');
    if (outcome.compare(0, 5, "took ") != 0 || dot == std::string::npos || dot == 5) return false;
    if (outcome.size() != dot + 5 || outcome.back() != 's') return false;
    const std::string digits = outcome.substr(5, dot - 5) + outcome.substr(dot + 1, 3);
    return digits.find_first_not_of("0123456789") == std::string::npos;
}

/// How many lines are about an URL.
inline std::size_t url_lines(const Exit& exit) {
    std::size_t count = 0;
    for (const std::string& line : exit.lines()) count += line.compare(0, 5, "URL: ") == 0;
    return count;
}

/// The summary says what happened to how many.
inline void check_summary(const Exit& exit, std::size_t fetched, std::size_t failed,
                          std::size_t cancelled) {
    const std::string counts = std::to_string(fetched) + " fetched, " + std::to_string(failed) +
                               " failed, " + std::to_string(cancelled) + " cancelled";
    const Strings lines = exit.lines();
    BOOST_TEST_REQUIRE(!lines.empty(), exit.text());
    BOOST_TEST(lines.back().compare(0, 7, "Total: ") == 0, exit.text());
    BOOST_TEST(contains(lines.back(), counts), counts << " expected: " << exit.text());
}

}  // namespace crawler_test

#endif
