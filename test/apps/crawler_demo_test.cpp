// SPDX-License-Identifier: BSL-1.0
#include "crawler.hpp"

#include <csignal>
#include <cstdlib>
#include <set>
#include <string>

#include <test/support/png.hpp>

using namespace crawler_test;

namespace {

// The number behind "open at once: at most".
unsigned long open_at_once(const Exit& exit) {
    const std::string before = "open at once: at most ";
    const std::size_t at = exit.out.find(before);
    BOOST_TEST_REQUIRE((at != std::string::npos), exit.text());
    return std::strtoul(exit.out.c_str() + at + before.size(), nullptr, 10);
}

void check_demo(const Exit& exit, const std::string& directory) {
    BOOST_TEST(exit.status == 0, exit.text());
    BOOST_TEST(exit.err == "");
    BOOST_TEST(url_lines(exit) == 10u, exit.text());
    for (const std::string& line : exit.lines()) {
        if (line.compare(0, 5, "URL: ") != 0) continue;
        const std::size_t comma = line.rfind(", ");
        BOOST_TEST_REQUIRE((comma != std::string::npos), line);
        BOOST_TEST(line.compare(0, 12, "URL: http://") == 0, line);
        BOOST_TEST(took(line.substr(comma + 2)), line);
    }
    check_summary(exit, 10, 0, 0);

    std::set<std::string> different;
    const Strings names = support::names_in(directory);
    BOOST_TEST(names.size() == 10u);
    for (const std::string& name : names) {
        const std::string file = support::read_file(directory + "/" + name);
        BOOST_TEST(support::png_fault(file) == "", name);
        different.insert(file);
    }
    BOOST_TEST(different.size() == 10u);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(crawler_demo)

BOOST_AUTO_TEST_CASE(the_check_of_a_png_finds_what_is_broken) {
    const std::string here = __FILE__;
    const std::string png =
        support::read_file(here.substr(0, here.rfind('/')) + "/pictures/alpha.png");
    BOOST_TEST(support::png_fault(png) == "");
    BOOST_TEST(support::png_fault(support::png_with_chunk(png, "tEXt", "Comment")) == "");
    for (std::size_t size = 0; size < png.size(); ++size) {
        BOOST_TEST(support::png_fault(png.substr(0, size)) != "");
    }
    for (std::size_t at = 0; at < png.size(); ++at) {
        std::string broken = png;
        broken[at] = static_cast<char>(broken[at] ^ 1);
        BOOST_TEST(support::png_fault(broken) != "", "byte " << at);
    }
    BOOST_TEST(support::png_fault(png + "x") != "");
}

BOOST_AUTO_TEST_CASE(ten_pictures_arrive_and_each_is_a_png) {
    const support::TemporaryDirectory directory;
    const Exit exit = crawl({"--demo", "--output", directory.path()});
    check_demo(exit, directory.path());
    BOOST_TEST(open_at_once(exit) >= 1u);
    BOOST_TEST(open_at_once(exit) <= 10u);
}

BOOST_AUTO_TEST_CASE(jobs_limits_what_is_open_at_once) {
    const support::TemporaryDirectory directory;
    const Exit one = crawl({"--demo", "--jobs", "1", "--output", directory / "one"});
    check_demo(one, directory / "one");
    BOOST_TEST(open_at_once(one) == 1u);
    BOOST_TEST(contains(one.lines().back(), "at most 1 at once"), one.text());

    const Exit three = crawl({"--demo", "--output", directory / "three", "--jobs", "3"});
    check_demo(three, directory / "three");
    BOOST_TEST(open_at_once(three) <= 3u);
    BOOST_TEST(contains(three.lines().back(), "at most 3 at once"), three.text());
}

BOOST_AUTO_TEST_CASE(the_default_directory_is_pic_and_is_made) {
    const support::TemporaryDirectory directory;
    Command demo = command({"--demo"});
    demo.directory = directory.path();
    check_demo(support::run(demo), directory / "pic");
    // Again over what is there.
    check_demo(support::run(demo), directory / "pic");
}

BOOST_AUTO_TEST_CASE(serve_prints_its_base_url_and_serves_until_it_is_told_to_end) {
    const support::TemporaryDirectory directory;
    support::ChildProcess server(command({"--serve", "--count", "3", "--latency", "0"}));
    BOOST_REQUIRE(server.wait_for_output("/\n"));
    std::string base = server.output();
    base.erase(base.find('\n'));
    const Exit exit = crawl({"--output", directory.path(), base + "1.png", base + "2.png",
                             base + "3.png", base + "4.png"});
    BOOST_TEST(exit.status == 1, exit.text());
    for (const char* name : {"1.png", "2.png", "3.png"}) {
        BOOST_TEST(took(outcome(exit, base + name)), exit.text());
        BOOST_TEST(support::png_fault(support::read_file(directory / name)) == "");
    }
    BOOST_TEST(contains(outcome(exit, base + "4.png"), "404"), exit.text());
    server.send_signal(SIGTERM);
    const Exit ended = server.wait();
    BOOST_TEST(ended.status == 0, ended.text());
}

BOOST_AUTO_TEST_SUITE_END()
