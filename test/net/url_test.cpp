// SPDX-License-Identifier: BSL-1.0
#include <net/http/url.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "http_cases.hpp"

using reactor::net::percent_decode;
using reactor::net::Url;
using reactor::net::UrlError;

namespace {

// The message must say what is wrong, not only that something is.
void check_refused(const std::string& text, const std::string& why) {
    try {
        const Url url = Url::parse(text);
        BOOST_ERROR(text << " was taken as " << url.str());
    } catch (const UrlError& error) {
        const std::string what = error.what();
        BOOST_CHECK_MESSAGE(what.find(why) != std::string::npos, what << " -- lacks: " << why);
        BOOST_CHECK(what.find("offset ") != std::string::npos);
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(url)

BOOST_AUTO_TEST_CASE(every_row_of_the_table_is_taken_apart_as_it_says) {
    const std::vector<http_cases::Row> rows = http_cases::read_table("urls.tsv");
    BOOST_TEST(rows.size() == 42u);
    for (http_cases::Row row : rows) {
        BOOST_TEST_CONTEXT(row["id"] << ' ' << row["input"]) {
            const std::string input = http_cases::unescape(row["input"]);
            if (row["expected"] == "error") {
                BOOST_CHECK_THROW(Url::parse(input), UrlError);
                continue;
            }
            const Url url = Url::parse(input);
            BOOST_TEST(url.scheme() == row["scheme"]);
            BOOST_TEST(url.host() == row["host"]);
            BOOST_TEST(std::to_string(url.port()) == row["port"]);
            BOOST_TEST(url.target() == row["target"]);
            BOOST_TEST(url.host_header() == row["host_header"]);
            BOOST_TEST(url.fragment() == (row["fragment"] == "-" ? "" : row["fragment"]));
            BOOST_TEST(Url::parse(url.str()).str() == url.str());
        }
    }
}

BOOST_AUTO_TEST_CASE(every_row_of_the_reference_table_resolves_as_it_says) {
    const std::vector<http_cases::Row> rows = http_cases::read_table("url_refs.tsv");
    BOOST_TEST(rows.size() == 21u);
    for (http_cases::Row row : rows) {
        BOOST_TEST_CONTEXT(row["id"] << ' ' << row["base"] << " + " << row["reference"]) {
            const Url base = Url::parse(http_cases::unescape(row["base"]));
            const std::string reference = http_cases::unescape(row["reference"]);
            const Url result =
                row["kind"] == "redirect" ? base.redirect(reference) : base.resolve(reference);
            const bool as_said = result.str() == row["expected"] || result.str() == row["also_ok"];
            BOOST_CHECK_MESSAGE(as_said, result.str() << " instead of " << row["expected"]);
        }
    }
}

BOOST_AUTO_TEST_CASE(the_abnormal_examples_of_rfc_3986_resolve) {
    const Url base = Url::parse("http://a/b/c/d;p?q");
    const std::vector<std::pair<std::string, std::string>> examples = {
        {"../../../g", "http://a/g"},
        {"../../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {".g", "http://a/b/c/.g"},
        {"g..", "http://a/b/c/g.."},
        {"..g", "http://a/b/c/..g"},
        {"./../g", "http://a/b/g"},
        {"./g/.", "http://a/b/c/g/"},
        {"g/./h", "http://a/b/c/g/h"},
        {"g/../h", "http://a/b/c/h"},
        {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
        {"g;x=1/../y", "http://a/b/c/y"},
        {"g?y/./x", "http://a/b/c/g?y/./x"},
        {"g?y/../x", "http://a/b/c/g?y/../x"},
        {"g#s/./x", "http://a/b/c/g#s/./x"},
        {"g#s/../x", "http://a/b/c/g#s/../x"},
        {"../..", "http://a/"},
        {"../../", "http://a/"},
        {"g?y#s", "http://a/b/c/g?y#s"},
        {";x", "http://a/b/c/;x"},
        {"HTTPS://B:443/./x", "https://b/x"},
    };
    for (const auto& example : examples)
        BOOST_TEST(base.resolve(example.first).str() == example.second);
    BOOST_CHECK_THROW(base.resolve("mailto:ann@a").str(), UrlError);
    BOOST_CHECK_THROW(base.resolve("http:g").str(), UrlError);
    BOOST_CHECK_THROW(Url().resolve("g").str(), UrlError);
}

BOOST_AUTO_TEST_CASE(a_refusal_says_what_is_wrong_and_where) {
    check_refused("ftp://pics.example/a", "\"ftp\" is neither http nor https");
    check_refused("pics.example/a", "no scheme");
    check_refused("http:pics.example", "expected // and a host");
    check_refused(
        "http://b\xc3\xbc"
        "cher.example/",
        "offset 8: a non-ASCII host name");
    check_refused("http://a.example:65536/", "offset 17: the port is beyond 65535");
    check_refused("http://a.example:99999999999999999999/", "beyond 65535");
    check_refused("http://a.example:-1/", "a port consists of digits");
    check_refused("http://a.example:0/", "port 0");
    check_refused("http://[::1", "no ']'");
    check_refused("http://[::g]/", "no IPv6 address");
    check_refused("http://[fe80::1%eth0]/", "%25");
    check_refused("http://[fe80::1%25]/", "%25");
    check_refused("http://[fe80::1%25a%0d]/", "zone");
    check_refused("http://a%2eb/", "not allowed in a host name");
    check_refused("http://a\\@b/", "offset 8");
    // Who reads the first '@' and who reads the last one talk to two hosts: nobody may guess.
    check_refused("http://a.example@b.example@c.example/", "not allowed in a host name");
    check_refused(std::string("http://a/\0b", 11), "control byte");
}

BOOST_AUTO_TEST_CASE(a_line_break_cannot_become_a_header) {
    for (const char* text : {"http://a/b\r\nX: y", "http://a/b?\n", "http://a/#\r", "http://a\t/",
                             "\nhttp://a/", "http://u\r:p@a/"})
        check_refused(text, "control byte");
    BOOST_CHECK_THROW(Url::parse("http://a/").redirect("/b\r\nSet-Cookie: x").str(), UrlError);
}

BOOST_AUTO_TEST_CASE(userinfo_stays_off_the_wire_and_off_other_hosts) {
    const Url url = Url::parse("http://ann:p%40ss@pics.example:8080/a?b#c");
    BOOST_TEST(url.userinfo() == "ann:p%40ss");
    BOOST_TEST(url.host() == "pics.example");
    BOOST_TEST(url.host_header() == "pics.example:8080");
    BOOST_TEST(url.target() == "/a?b");
    BOOST_TEST(url.str() == "http://ann:p%40ss@pics.example:8080/a?b#c");
    BOOST_TEST(url.redirect("//cdn.example/x").str() == "http://cdn.example/x#c");
    BOOST_TEST(url.redirect("/x").userinfo() == "ann:p%40ss");
}

BOOST_AUTO_TEST_CASE(one_origin_has_one_spelling) {
    const Url url = Url::parse("http://[2001:DB8:0:0::7]/");
    BOOST_TEST(url.is_ipv6());
    BOOST_TEST(url.origin() == "http://[2001:db8::7]:80");
    BOOST_CHECK(url == Url::parse("HTTP://[2001:db8::7]:80"));
    BOOST_CHECK(url != Url::parse("https://[2001:db8::7]/"));
    BOOST_TEST(Url::parse("https://A.example").origin() == "https://a.example:443");
    BOOST_TEST(Url::parse("http://[fe80::1%25eth0]:81/").str() == "http://[fe80::1%25eth0]:81/");
}

BOOST_AUTO_TEST_CASE(an_empty_query_is_not_no_query) {
    BOOST_TEST(Url::parse("http://a/b?").target() == "/b?");
    BOOST_TEST(Url::parse("http://a/b?#").str() == "http://a/b?#");
    BOOST_TEST(Url::parse("http://a/b#c?d").target() == "/b");
    BOOST_TEST(Url::parse("http://a/b#c?d").fragment() == "c?d");
    BOOST_TEST(Url::parse("http://a/b").resolve("?").target() == "/b?");
    BOOST_TEST(Url::parse("http://a/b#f").redirect("/c#").str() == "http://a/c#");
    BOOST_TEST(Url::parse("http://a/?x=[1]|\"%zz%4").target() == "/?x=%5B1%5D%7C%22%25zz%254");
}

BOOST_AUTO_TEST_CASE(decoding_is_for_names_only_and_undoes_whole_escapes) {
    BOOST_TEST(percent_decode("caf%C3%A9%20a+b.png") == "caf\xc3\xa9 a+b.png");
    BOOST_TEST(percent_decode("100%25%2525") == "100%%25");
    BOOST_TEST(percent_decode("%%4%4g%zz%") == "%%4%4g%zz%");
    BOOST_TEST(percent_decode("a%00b") == std::string("a\0b", 3));
}

BOOST_AUTO_TEST_SUITE_END()
