// SPDX-License-Identifier: BSL-1.0
#include "crawler.hpp"

#include <string>

#include <test/support/http_faults.hpp>

using namespace crawler_test;
using support::HttpPeer;
using support::PeerConnection;

namespace {

struct Expected {
    std::string url;
    Strings parts;  // of the line: which step, what the peer did or the system said
};

/// A server with all faults and some good pictures, and one run against it.
struct Run {
    HttpPeer server;
    support::TemporaryDirectory directory;
    Strings good;

    Run() {
        support::add_faults(server);
        for (const char* name : {"/one.png", "/two.png", "/three.png"}) {
            const std::string body = std::string("picture ") + name;
            server.on(name, [body](PeerConnection& to) { to.send(support::ok_response(body)); });
            good.push_back(name);
        }
    }

    // The good ones around and between the bad ones.
    Exit crawl(const std::vector<Expected>& bad, Strings arguments) {
        arguments.insert(arguments.end(), {"--output", directory.path(), server.url(good[0])});
        for (const Expected& each : bad) arguments.push_back(each.url);
        arguments.insert(arguments.end(), {server.url(good[1]), server.url(good[2])});
        return crawler_test::crawl(arguments);
    }

    void check(const Exit& exit, const std::vector<Expected>& bad) const {
        BOOST_TEST(exit.status == 1, exit.text());
        BOOST_TEST(exit.err == "");
        BOOST_TEST(url_lines(exit) == bad.size() + good.size(), exit.text());
        check_summary(exit, good.size(), bad.size(), 0);
        for (const Expected& each : bad) {
            const std::string line = outcome(exit, each.url);
            BOOST_TEST(line.compare(0, 8, "failed: ") == 0, each.url << ": " << line);
            for (const std::string& part : each.parts) {
                BOOST_TEST(contains(line, part), each.url << ": " << line << " without " << part);
            }
        }
        for (const std::string& path : good) {
            BOOST_TEST(took(outcome(exit, server.url(path))), exit.text());
            BOOST_TEST(support::read_file(directory.path() + path) == "picture " + path);
        }
        // Neither half a picture nor a temporary file.
        BOOST_TEST(support::names_in(directory.path()).size() == good.size());
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(crawler_faults)

BOOST_AUTO_TEST_CASE(each_fault_has_one_line_and_harms_no_other_fetch) {
    Run run;
    const support::RefusingPort refusing;
    const std::string refused = "127.0.0.1:" + std::to_string(refusing.port());
    const std::string at = run.server.address();
    const auto url = [&run](const char* path) { return run.server.url(path); };
    const std::vector<Expected> bad = {
        {"pictures/x.png", {"scheme"}},
        {"http://[::1/x.png", {"[::1"}},
        {"ftp://127.0.0.1/x.png", {"ftp"}},
        {"http://127.0.0.1:99999/x.png", {"port"}},
        {"https://127.0.0.1/x.png", {"not supported"}},
        {"http://pictures.invalid/x.png", {"resolve", "pictures.invalid"}},
        {"http://" + refused + "/x.png", {"connect to " + refused, "Connection refused"}},
        {url("/half"), {at + "/half", "behind 1000 bytes of body"}},
        {url("/half-reset"),
         {at + "/half-reset", "behind 1000 bytes of body", "Connection reset by peer"}},
        {url("/open-reset"), {at + "/open-reset", "Connection reset by peer"}},
        {url("/half-head"), {at + "/half-head", "head"}},
        {url("/empty"), {at + "/empty", "before"}},
        {url("/reset"), {"Connection reset by peer"}},
        {url("/endless-head"), {at + "/endless-head", "head", "65536"}},
        {url("/not-http"), {at + "/not-http", "HTTP"}},
        {url("/loop"), {"10 redirects", at + "/loop"}},
        {url("/nowhere"), {"302 Found"}},
        {url("/bad-location"), {at + "/bad-location", "[broken"}},
        {url("/to-https"), {"not supported", "https://127.0.0.1:443/"}},
        {url("/missing"), {"404 Not Found"}},
    };
    run.check(run.crawl(bad, {}), bad);
}

BOOST_AUTO_TEST_CASE(a_server_that_stops_answering_is_left_when_the_time_is_up) {
    Run run;
    const std::string at = run.server.address();
    const auto url = [&run](const char* path) { return run.server.url(path); };
    const support::SilentPort silent;
    const std::string unconnected = "127.0.0.1:" + std::to_string(silent.port());
    const std::vector<Expected> bad = {
        {"http://" + unconnected + "/x.png",
         {"connect to " + unconnected + ": Connection timed out"}},
        {url("/silent"), {"read from " + at + ": Connection timed out"}},
        {url("/stalled"), {"read from " + at + ": Connection timed out"}},
        {url("/drip"), {"read from " + at + ": Connection timed out"}},
    };
    run.check(run.crawl(bad, {"--timeout", "3"}), bad);
}

BOOST_AUTO_TEST_CASE(a_time_limit_below_a_second) {
    HttpPeer server;
    support::add_faults(server);
    const support::TemporaryDirectory directory;
    const Exit exit =
        crawl({"--timeout", "0.3", "--output", directory.path(), server.url("/silent")});
    BOOST_TEST(exit.status == 1, exit.text());
    BOOST_TEST(contains(outcome(exit, server.url("/silent")), "timed out"), exit.text());
    BOOST_TEST(support::names_in(directory.path()).empty());
}

BOOST_AUTO_TEST_CASE(redirects_are_followed_and_the_file_has_the_name_that_was_asked_for) {
    Run run;
    const auto to = [&run](const std::string& from, const std::string& location) {
        run.server.on(from, [location](PeerConnection& peer) {
            peer.send("HTTP/1.1 301 Moved\r\nLocation: " + location +
                      "\r\nContent-Length: 0\r\n\r\n");
        });
    };
    to("/a/moved.png", "../b/again.png?size=2");
    to("/b/again.png?size=2", run.server.url("/one.png"));
    const std::string url = run.server.url("/a/moved.png");
    const Exit exit = run.crawl({}, {url});
    BOOST_TEST(exit.status == 0, exit.text());
    BOOST_TEST(took(outcome(exit, url)), exit.text());
    BOOST_TEST(support::read_file(run.directory / "moved.png") == "picture /one.png");
    check_summary(exit, 4, 0, 0);
}

BOOST_AUTO_TEST_CASE(the_same_fault_a_hundred_times) {
    Run run;
    std::vector<Expected> bad;
    for (int i = 0; i < 100; ++i) {
        bad.push_back(
            {run.server.url("/half") + "#" + std::to_string(i), {"behind 1000 bytes of body"}});
    }
    run.check(run.crawl(bad, {"--jobs", "7"}), bad);
}

BOOST_AUTO_TEST_SUITE_END()
