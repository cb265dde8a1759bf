// SPDX-License-Identifier: BSL-1.0
#include <net/http/parser.hpp>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <reactor/error.hpp>
#include <stdexcept>
#include <string>
#include <vector>

using namespace reactor::net;
using Kind = HttpError::Kind;

namespace {

enum class Result { done, open, incomplete, framing, malformed, too_large };

std::ostream& operator<<(std::ostream& out, Result result) {
    return out << static_cast<int>(result);
}

Result result_of(Kind kind) {
    switch (kind) {
        case Kind::incomplete:
            return Result::incomplete;
        case Kind::framing:
            return Result::framing;
        case Kind::malformed:
            return Result::malformed;
        case Kind::too_large:
            return Result::too_large;
        default:
            throw std::logic_error("not an error of a parser");
    }
}

// At once and byte by byte must agree; what() must be one printable line.
template <class Parser>
Result parse(const std::string& bytes, ParserOptions options = ParserOptions()) {
    Result results[2];
    for (int way = 0; way < 2; ++way) {
        Parser parser(options);
        try {
            if (way == 0)
                parser.put(bytes.data(), bytes.size());
            else
                for (char c : bytes) parser.put(&c, 1);
            results[way] = parser.done() ? Result::done : Result::open;
        } catch (const HttpError& error) {
            for (const char* c = error.what(); *c; ++c) BOOST_REQUIRE(*c >= ' ' && *c <= '~');
            BOOST_CHECK_THROW(parser.put("x", 1), reactor::StateError);
            results[way] = result_of(error.kind());
        }
    }
    BOOST_TEST(results[0] == results[1]);
    return results[0];
}

Result response(const std::string& fields, const std::string& body = "") {
    return parse<ResponseParser>("HTTP/1.1 200 OK\r\n" + fields + "\r\n" + body);
}

Result request(const std::string& fields, const std::string& body = "") {
    return parse<RequestParser>("POST /e HTTP/1.1\r\nHost: h\r\n" + fields + "\r\n" + body);
}

Result chunks(const std::string& body, ParserOptions options = ParserOptions()) {
    return parse<ResponseParser>("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body,
                                 options);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(http_parser_refusals)

BOOST_AUTO_TEST_CASE(a_content_length_is_one_plain_number) {
    for (const char* bad : {"+5", "-5", "-0", "0x5", "5 5", "1_0", "", "5;", "5.0", "\xb2",
                            "18446744073709551621", "18446744073709551616", "5, 6", "5,", ",5"}) {
        BOOST_TEST_CONTEXT(bad) {
            const std::string field = std::string("Content-Length: ") + bad + "\r\n";
            BOOST_TEST(response(field, "hello") == Result::framing);
            BOOST_TEST(request(field, "hello") == Result::framing);
        }
    }
    const std::string digits(5000, '9');
    BOOST_TEST(response("Content-Length: " + digits + "\r\n") == Result::framing);
    const std::string twice = "Content-Length: 5\r\ncontent-length: 5\r\n";
    BOOST_TEST(response(twice, "hello") == Result::done);
    BOOST_TEST(request(twice, "hello") == Result::framing);
    BOOST_TEST(request("Content-Length: 5, 5\r\n", "hello") == Result::framing);
    const std::string differ = "Content-Length: 5\r\nContent-Length: 6\r\n";
    BOOST_TEST(response(differ, "hello") == Result::framing);
    BOOST_TEST(request(differ, "hello") == Result::framing);
    BOOST_TEST(response("Content-Length: 18446744073709551615\r\n", "x") == Result::open);
    BOOST_TEST(request("Content-Length: 005\r\n", "hello") == Result::done);
}

BOOST_AUTO_TEST_CASE(two_opinions_about_the_length_are_refused) {
    const std::string length = "Content-Length: 5\r\n";
    for (const char* coding : {"chunked", "gzip", "gzip, chunked", "chunked, gzip", "identity", "",
                               "chunked, chunked", "xchunked"}) {
        BOOST_TEST_CONTEXT(coding) {
            const std::string field = std::string("Transfer-Encoding: ") + coding + "\r\n";
            BOOST_TEST(response(length + field, "0\r\n\r\n") == Result::framing);
            BOOST_TEST(response(field + length, "0\r\n\r\n") == Result::framing);
            BOOST_TEST(request(length + field, "0\r\n\r\n") == Result::framing);
            BOOST_TEST(request(field + length, "0\r\n\r\n") == Result::framing);
            if (std::string(coding) == "chunked") continue;
            BOOST_TEST(response(field, "0\r\n\r\n") == Result::framing);
            BOOST_TEST(request(field, "0\r\n\r\n") == Result::framing);
        }
    }
    const std::string chunked = "Transfer-Encoding: chunked\r\n";
    BOOST_TEST(request(chunked + chunked, "0\r\n\r\n") == Result::framing);
    BOOST_TEST(request(chunked, "0\r\n\r\n") == Result::done);
}

BOOST_AUTO_TEST_CASE(chunks_that_lie_are_refused_at_once) {
    BOOST_TEST(chunks("5these-are-not-digits\r\n") == Result::framing);
    BOOST_TEST(chunks("\r\n") == Result::framing);
    BOOST_TEST(chunks("-1\r\n") == Result::framing);
    BOOST_TEST(chunks("0x5\r\n\r\n") == Result::framing);
    BOOST_TEST(chunks("10000000000000000\r\n") == Result::framing);
    BOOST_TEST(chunks("5\n") == Result::framing);
    BOOST_TEST(chunks("5\r\nhellox") == Result::framing);
    BOOST_TEST(chunks("5\r\nhello\n") == Result::framing);
    BOOST_TEST(chunks("5\r\nhello\rx\r\n") == Result::framing);
    BOOST_TEST(chunks("0\r\nno colon\r\n\r\n") == Result::framing);
    BOOST_TEST(chunks("0\r\nContent-Length: 3\r\n\r\n") == Result::framing);
    BOOST_TEST(chunks("5\r\nhello\r\n0\r\nX: y\r\n\r\n") == Result::done);
    BOOST_TEST(chunks("0\r\n\r\n") == Result::done);
}

BOOST_AUTO_TEST_CASE(heads_that_are_no_http_are_refused_without_waiting_for_more) {
    for (const char* bytes :
         {"<html>", "\n", "\r\n", "SSH-2.0", "HTTP/2 200\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n",
          "HTTP/1.1 099 OK\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n", "HTTP/1.1\r\n\r\n",
          "HTTP/\r\n\r\n", "HTTP/1.1 200 O\x01K\r\n\r\n"})
        BOOST_TEST(parse<ResponseParser>(bytes) == Result::malformed, bytes);
    for (const char* bytes :
         {"\x16\x03\x01", "\n", " GET", "GET / HTTP/1.1\n", "G\r\n\r\n", "GET /\r\n\r\n",
          "GET / \r\n\r\n", "GET / HTTP/2.0\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n",
          "GET / HTTP/1.1 \r\n\r\n", "\rGET / HTTP/1.1\r\n\r\n"})
        BOOST_TEST(parse<RequestParser>(bytes) == Result::malformed, bytes);
    for (const char* field : {"Content-Length : 5\r\n", "no colon\r\n", ": x\r\n", "a b: x\r\n",
                              "X: a\rb\r\n", "X\xc3: y\r\n", "X: a\x7f\r\n"}) {
        BOOST_TEST(response(field) == Result::malformed, field);
        BOOST_TEST(request(field) == Result::malformed, field);
    }
    BOOST_TEST(request(std::string("X-A: b\0c\r\n", 10)) == Result::malformed);
}

BOOST_AUTO_TEST_CASE(a_request_names_one_host) {
    BOOST_TEST(parse<RequestParser>("GET / HTTP/1.1\r\nAccept: */*\r\n\r\n") == Result::malformed);
    BOOST_TEST(request("HOST: h\r\n") == Result::malformed);
    BOOST_TEST(parse<RequestParser>("GET / HTTP/1.0\r\n\r\n") == Result::done);
}

BOOST_AUTO_TEST_CASE(pipelined_requests_come_out_one_by_one) {
    const std::string bytes =
        "\r\n\r\nGET /one HTTP/1.1\r\nHost: h\r\n\r\n\r\nPOST /two HTTP/1.1\r\nHost: h\r\n"
        "Content-Length: 5\r\n\r\nhelloGET /three HTTP/1.0\r\n\r\n";
    RequestParser parser;
    std::vector<std::string> seen;
    for (std::size_t from = 0; from < bytes.size();) {
        from += parser.put(bytes.data() + from, bytes.size() - from);
        BOOST_REQUIRE(parser.done());
        seen.push_back(parser.head().target + (parser.keep_alive() ? " keep " : " close ") +
                       parser.take_body());
        parser.reset();
    }
    BOOST_TEST(seen == (std::vector<std::string>{"/one keep ", "/two keep hello", "/three close "}),
               boost::test_tools::per_element());
    parser.put("\r\n", 2);
    BOOST_TEST(!parser.started());
    parser.put("G", 1);
    BOOST_TEST(parser.started());
}

BOOST_AUTO_TEST_CASE(a_head_without_end_stops_at_the_limit) {
    ParserOptions options;
    options.head_limit = 1000;
    const std::string line = "HTTP/1.1 200 OK\r\n";
    const std::string tail = "X: " + std::string(1000 - line.size() - 7, 'x') + "\r\n\r\n";
    BOOST_TEST(parse<ResponseParser>(line + tail, options) == Result::open);
    BOOST_TEST(parse<ResponseParser>(line + "X" + tail, options) == Result::too_large);
    std::string interim;
    for (int i = 0; i < 50; ++i) interim += "HTTP/1.1 100 Continue\r\n\r\n";
    BOOST_TEST(parse<ResponseParser>(interim, options) == Result::too_large);
    std::string blank;
    for (int i = 0; i < 501; ++i) blank += "\r\n";
    BOOST_TEST(parse<RequestParser>(blank, options) == Result::too_large);
}

BOOST_AUTO_TEST_CASE(nothing_of_a_message_lives_on_behind_reset) {
    ParserOptions options;
    options.head_limit = 100;
    ResponseParser parser(options);
    for (const char* bytes :
         {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n5",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: y",
          "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", "HTTP/1.1 200",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\nzz"}) {
        BOOST_TEST(!parser.started());
        parser.put(bytes, std::string(bytes).size());
        BOOST_TEST(parser.started());
        BOOST_CHECK_THROW(parser.put_eof(), HttpError);
        BOOST_CHECK_THROW(parser.put_eof(), reactor::StateError);
        parser.reset();
        BOOST_TEST(!parser.head_done());
        BOOST_TEST(parser.body_size() == 0u);
        BOOST_TEST(parser.take_body().empty());
    }
}

BOOST_AUTO_TEST_CASE(a_body_beyond_its_limit_is_refused_before_it_is_kept) {
    ParserOptions options;
    options.body_limit = 5;
    const std::string line = "HTTP/1.1 200 OK\r\n";
    BOOST_TEST(parse<ResponseParser>(line + "Content-Length: 5\r\n\r\nhello", options) ==
               Result::done);
    BOOST_TEST(parse<ResponseParser>(line + "Content-Length: 6\r\n\r\n", options) ==
               Result::too_large);
    BOOST_TEST(parse<ResponseParser>(line + "\r\nhello", options) == Result::open);
    BOOST_TEST(parse<ResponseParser>(line + "\r\nhello!", options) == Result::too_large);
    BOOST_TEST(chunks("3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", options) == Result::done);
    BOOST_TEST(chunks("3\r\nhel\r\n3\r\n", options) == Result::too_large);
}

BOOST_AUTO_TEST_CASE(extensions_and_trailers_are_metered) {
    BOOST_TEST(chunks("2;" + std::string(5000, 'e')) == Result::too_large);
    ParserOptions options;
    options.head_limit = 1000;
    BOOST_TEST(chunks("0\r\nX: " + std::string(1000, 'x'), options) == Result::too_large);
    std::string many;
    for (int i = 0; i < 20; ++i) many += "1;" + std::string(60, 'e') + "\r\nx\r\n";
    BOOST_TEST(chunks(many, options) == Result::too_large);
}

BOOST_AUTO_TEST_CASE(misuse_and_a_throwing_sink_leave_a_defined_state) {
    ResponseParser parser;
    BOOST_CHECK_THROW(parser.head(), reactor::StateError);
    BOOST_CHECK_THROW(parser.keep_alive(), reactor::StateError);
    const std::string bytes = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    parser.set_sink([&](const char*, std::size_t) {
        BOOST_CHECK_THROW(parser.put("x", 1), reactor::StateError);
        BOOST_CHECK_THROW(parser.reset(), reactor::StateError);
        BOOST_CHECK_THROW(parser.set_sink(nullptr), reactor::StateError);
        throw std::range_error("disk full");
    });
    BOOST_CHECK_THROW(parser.put(bytes.data(), bytes.size()), std::range_error);
    BOOST_CHECK_THROW(parser.put("x", 1), reactor::StateError);
    BOOST_CHECK_THROW(parser.put_eof(), reactor::StateError);
    BOOST_TEST(parser.head().status == 200);
    parser.set_sink(nullptr);
    parser.reset();
    ResponseParser moved(std::move(parser));
    BOOST_TEST(moved.put(bytes.data(), bytes.size()) == bytes.size());
    moved.put_eof();
    moved.put_reset();
    BOOST_TEST(moved.take_body() == "hello");
}

BOOST_AUTO_TEST_SUITE_END()
