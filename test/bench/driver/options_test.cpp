// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/options.hpp>

#include <stdexcept>

#include <boost/test/unit_test.hpp>

using bench::Options;
using bench::parse_options;

BOOST_AUTO_TEST_CASE(without_options_everything_runs_and_only_time_is_measured) {
    const Options options = parse_options({});
    BOOST_TEST(options.rounds == 7u);
    BOOST_TEST(options.wants("anything"));
    BOOST_TEST(!options.instructions);
    BOOST_TEST(!options.syscalls);
    BOOST_TEST(!options.json);
}

BOOST_AUTO_TEST_CASE(quick_is_fewer_and_shorter_rounds) {
    const Options quick = parse_options({"--quick"});
    BOOST_TEST(quick.rounds < Options().rounds);
    BOOST_TEST(quick.seconds < Options().seconds);
    BOOST_TEST(quick.minutes == 4);
    BOOST_TEST(Options().minutes == 30);
}

BOOST_AUTO_TEST_CASE(rounds_win_over_quick_in_any_order) {
    BOOST_TEST(parse_options({"--rounds", "5", "--quick"}).rounds == 5u);
    BOOST_TEST(parse_options({"--quick", "--rounds=5"}).rounds == 5u);
    BOOST_TEST(parse_options({"--minutes=9", "--quick"}).minutes == 9);
}

BOOST_AUTO_TEST_CASE(only_takes_patterns) {
    const Options options = parse_options({"--only", "timer-*-1M", "--only=post"});
    BOOST_TEST(options.wants("timer-add-1M"));
    BOOST_TEST(options.wants("post"));
    BOOST_TEST(!options.wants("timer-add-100k"));
    BOOST_TEST(!options.wants("posts"));
}

BOOST_AUTO_TEST_CASE(the_others_are_words_and_folders) {
    const Options options = parse_options({"--instructions", "--syscalls", "--json", "--summary",
                                           "--verbose", "--results=a b", "--programs", "x"});
    BOOST_TEST(options.instructions);
    BOOST_TEST(options.syscalls);
    BOOST_TEST(options.json);
    BOOST_TEST(options.summary);
    BOOST_TEST(options.verbose);
    BOOST_TEST(options.results == "a b");
    BOOST_TEST(options.programs == "x");
    BOOST_TEST(parse_options({"--help"}).help);
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_named) {
    using Words = std::vector<std::string>;
    for (const Words& words :
         {Words{"--rounds", "0"}, Words{"--rounds", "-1"}, Words{"--rounds"}, Words{"--rounds="},
          Words{"--rounds=7x"}, Words{"--only"}, Words{"--only="}, Words{"--quick=1"},
          Words{"--minutes=0.5"}, Words{"--fast"}, Words{"echo"}}) {
        const std::string option = words[0].substr(0, words[0].find('='));
        BOOST_TEST_CONTEXT(words[0]) {
            BOOST_CHECK_EXCEPTION(parse_options(words), std::invalid_argument,
                                  [&](const std::invalid_argument& error) {
                                      return std::string(error.what()).find(option) !=
                                             std::string::npos;
                                  });
        }
    }
}
