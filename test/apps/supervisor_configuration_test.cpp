// SPDX-License-Identifier: BSL-1.0
#include <apps/command_line/arguments.hpp>
#include <apps/supervisor/configuration.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

using command_line::UsageError;
using supervisor::ProgramOptions;
using Strings = std::vector<std::string>;

namespace {

std::vector<ProgramOptions> read(const std::string& text) {
    std::vector<ProgramOptions> programs;
    supervisor::read_programs(text, "conf", programs);
    return programs;
}

Strings words(const std::string& command) { return read("x:" + command).at(0).command; }

/// What is wrong with it.
std::string refusal(const std::string& text) {
    try {
        supervisor::in_order(read(text));
    } catch (const UsageError& error) {
        return error.what();
    }
    return "nothing";
}

void check_refused(const std::string& text, const std::string& where, const std::string& part) {
    const std::string what = refusal(text);
    BOOST_TEST(what.compare(0, where.size() + 2, where + ": ") == 0, what);
    BOOST_TEST((what.find(part) != std::string::npos), "no '" << part << "' in: " << what);
}

std::string order(const std::string& text) {
    std::string names;
    for (const ProgramOptions& program : supervisor::in_order(read(text))) {
        names += (names.empty() ? "" : " ") + program.name;
    }
    return names;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(supervisor_configuration)

BOOST_AUTO_TEST_CASE(a_line_is_a_program) {
    const auto programs = read(
        "# a comment: with a colon\n"
        "\n"
        "  \t # another one\n"
        "db: postgres -D /srv/db\r\n"
        "\tweb\tafter=db,cache restart=on-failure tries=5 pause=0.5 longest=8 stable=3 stop=INT "
        "grace=1.5 : ./web --port=80\n"
        "cache restart=never stop=9: redis");
    BOOST_TEST_REQUIRE(programs.size() == 3u);
    const ProgramOptions& db = programs[0];
    BOOST_TEST(db.name == "db");
    BOOST_TEST(db.command == (Strings{"postgres", "-D", "/srv/db"}));
    BOOST_TEST(db.after.empty());
    BOOST_TEST((db.restart == ProgramOptions::Restart::always));
    BOOST_TEST((db.pause == std::chrono::seconds(1)));
    BOOST_TEST((db.longest == std::chrono::seconds(60)));
    BOOST_TEST((db.stable == std::chrono::seconds(10)));
    BOOST_TEST((db.grace == std::chrono::seconds(10)));
    BOOST_TEST(db.tries == 0u);
    BOOST_TEST(db.stop == SIGTERM);
    BOOST_TEST(db.where == "conf:4");
    const ProgramOptions& web = programs[1];
    BOOST_TEST(web.name == "web");
    BOOST_TEST(web.command == (Strings{"./web", "--port=80"}));
    BOOST_TEST(web.after == (Strings{"db", "cache"}));
    BOOST_TEST((web.restart == ProgramOptions::Restart::on_failure));
    BOOST_TEST((web.pause == std::chrono::milliseconds(500)));
    BOOST_TEST((web.longest == std::chrono::seconds(8)));
    BOOST_TEST((web.stable == std::chrono::seconds(3)));
    BOOST_TEST((web.grace == std::chrono::milliseconds(1500)));
    BOOST_TEST(web.tries == 5u);
    BOOST_TEST(web.stop == SIGINT);
    const ProgramOptions& cache = programs[2];
    BOOST_TEST((cache.restart == ProgramOptions::Restart::never));
    BOOST_TEST(cache.stop == SIGKILL);
    BOOST_TEST(cache.where == "conf:6");
    BOOST_TEST(read("").empty());
    BOOST_TEST(read("x stop=SIGUSR1: y").at(0).stop == SIGUSR1);
    // Longer than the longest pause there is by default: then that is as long.
    BOOST_TEST((read("x pause=100: y").at(0).longest == std::chrono::seconds(100)));
}

BOOST_AUTO_TEST_CASE(quoting) {
    BOOST_TEST(words(" a  b\tc ") == (Strings{"a", "b", "c"}));
    BOOST_TEST(words("'two words' \"and two\"") == (Strings{"two words", "and two"}));
    BOOST_TEST(words("a'b c'd\"e f\"g") == (Strings{"ab cde fg"}));
    BOOST_TEST(words("a '' \"\" b") == (Strings{"a", "", "", "b"}));
    BOOST_TEST(words(R"(a\ b \' \" \\ \n \$)") == (Strings{"a b", "'", "\"", "\\", "n", "$"}));
    BOOST_TEST(words(R"('a\b"c')") == (Strings{"a\\b\"c"}));
    BOOST_TEST(words(R"("a\"b\\c\d'$x")") == (Strings{"a\"b\\c\\d'$x"}));
    BOOST_TEST(words("a:b # c") == (Strings{"a:b", "#", "c"}));
    BOOST_TEST(words("sh -c 'a | b > c; d &'") == (Strings{"sh", "-c", "a | b > c; d &"}));
}

BOOST_AUTO_TEST_CASE(every_mistake_is_named_with_its_line_and_a_remedy) {
    const auto check = [](const std::string& line, const std::string& part) {
        check_refused("ok: ok\n# comment\n" + line + "\nother: ok\n", "conf:3", part);
    };
    check("web ./web", "NAME [KEY=VALUE ...]: COMMAND");
    check(": ./web", "no name before the ':'");
    check("we/b: ./web", "'we/b' is no name: 1 to 32 letters");
    check(std::string(33, 'x') + ": ./web", "1 to 32 letters");
    check("web:", "no command behind the ':'");
    check("web: ''", "the program's name is empty");
    check("ok: again", "the name ok is taken by conf:1: choose another one");
    check("web frobnicate=1: x", "'frobnicate' is no setting: there are after, restart");
    check("web restart: x", "'' is not one of always");
    check("web restart=often: x", "'often' is not one of always, on-failure, never");
    check("web stop=SIGTREM: x", "'SIGTREM' is no signal: TERM, INT");
    check("web stop=0: x", "'0' is no signal");
    check("web stop=1000: x", "'1000' is no signal");
    check("web grace=soon: x", "grace: 'soon' is not a number of seconds");
    check("web grace=-1: x", "grace: '-1'");
    check("web pause=0: x", "pause: '0' is no time at all");
    check("web longest=: x", "longest: ''");
    check("web stable=x: x", "stable: 'x'");
    check("web tries=0: x", "tries: '0' is not a whole number from 1");
    check("web after=: x", "names are missing, after=NAME,NAME");
    check("web: x 'y", "a ' is not closed");
    check("web: x \"y", "a \" is not closed");
    check("web: x \"y\\\"", "a \" is not closed");
    check("web: x \\", "a \\ at the end");
    check(std::string("web: x\0y", 8), "a zero byte");
    for (const char c : std::string("|&;<>$`*?()")) {
        check(std::string("web: a ") + c + " b",
              std::string("no shell will see the ") + c + ": quote it, or run sh -c '...'");
    }
}

BOOST_AUTO_TEST_CASE(the_order_is_that_of_the_lines_but_for_after) {
    BOOST_TEST(order("a: x\nb: x\nc: x") == "a b c");
    BOOST_TEST(order("a after=c: x\nb: x\nc: x\nd: x") == "b c a d");
    BOOST_TEST(order("a after=b: x\nb after=c: x\nc after=d: x\nd: x") == "d c b a");
    BOOST_TEST(order("a after=b,c: x\nb after=c: x\nc: x") == "c b a");
    check_refused("a: x\nb after=d: x", "conf:2", "after=d: no program has this name");
    check_refused("a: x\nb after=b: x", "conf:2", "none of these can be the first: b;");
    check_refused("a: x\nb after=d: x\nc after=b: x\nd after=c: x", "conf:2",
                  "none of these can be the first: b, c, d; leave one 'after' out");
}

BOOST_AUTO_TEST_SUITE_END()
