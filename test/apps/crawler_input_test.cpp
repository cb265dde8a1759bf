// SPDX-License-Identifier: BSL-1.0
#include "crawler.hpp"

#include <string>

using namespace crawler_test;
using support::HttpPeer;
using support::PeerConnection;

namespace {

/// A server with pictures and a list of their URLs as people write them.
struct Listed {
    HttpPeer server;
    support::TemporaryDirectory directory;
    std::string list;
    Strings urls;

    Listed() {
        for (const char* target : {"/1.png", "/2.png", "/3.png", "/4.png", "/5.png"}) {
            server.on(target, [](PeerConnection& to) { to.send(support::ok_response("a")); });
            urls.push_back(server.url(target));
        }
        list = "# pictures of the summer\n\n" + urls[0] + "\n   \t\n  " + urls[1] + "  \n" +
               "   # not this: " + server.url("/no.png") + "\n" + urls[2] + "\r\n\r\n\n" + urls[3] +
               "\n#" + server.url("/no.png") + "\n" + urls[4];  // no line break
    }

    void check(const Exit& exit) const {
        BOOST_TEST(exit.status == 0, exit.text());
        for (const std::string& url : urls) BOOST_TEST(took(outcome(exit, url)), exit.text());
        check_summary(exit, 5, 0, 0);
        BOOST_TEST(support::names_in(directory / "out").size() == 5u);
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(crawler_input)

BOOST_AUTO_TEST_CASE(urls_come_from_a_file) {
    Listed listed;
    support::write_file(listed.directory / "urls", listed.list);
    listed.check(
        crawl({"--input", listed.directory / "urls", "--output", listed.directory / "out"}));
}

BOOST_AUTO_TEST_CASE(urls_come_from_standard_input) {
    Listed listed;
    Command crawler = command({"--output", listed.directory / "out", "--input", "-"});
    crawler.input = listed.list;
    listed.check(support::run(crawler));
}

BOOST_AUTO_TEST_CASE(urls_come_from_several_places) {
    Listed listed;
    support::write_file(listed.directory / "one", listed.urls[0] + "\n");
    support::write_file(listed.directory / "two", "#\n" + listed.urls[3] + "\n" + listed.urls[4]);
    listed.check(
        crawl({listed.urls[1], "--input", listed.directory / "one", "--input",
               listed.directory / "two", "--output", listed.directory / "out", listed.urls[2]}));
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_read) {
    const support::TemporaryDirectory directory;
    for (const std::string& path : {directory / "none", directory.path()}) {
        const Exit exit = crawl({"--input", path});
        BOOST_TEST(exit.status == 1, exit.text());
        BOOST_TEST(exit.out == "");
        BOOST_TEST(contains(exit.err, "crawler: --input: "), exit.text());
        BOOST_TEST(contains(exit.err, path), exit.text());
    }
}

BOOST_AUTO_TEST_CASE(bytes_of_a_line_cannot_forge_lines_of_the_report) {
    const support::TemporaryDirectory directory;
    Command crawler = command({"--output", directory.path(), "--input", "-"});
    crawler.input = std::string("http://127.0.0.1/\x1b[2J\0x.png\n", 28);
    const Exit exit = support::run(crawler);
    BOOST_TEST(exit.status == 1, exit.text());
    BOOST_TEST(url_lines(exit) == 1u, exit.text());
    for (const char c : exit.out) BOOST_TEST((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
}

BOOST_AUTO_TEST_SUITE_END()
