// SPDX-License-Identifier: BSL-1.0
#include <net/http/message.hpp>

#include <boost/test/unit_test.hpp>
#include <stdexcept>
#include <string>
#include <vector>

using namespace reactor::net;

BOOST_AUTO_TEST_SUITE(http_message)

BOOST_AUTO_TEST_CASE(fields_keep_their_order_and_are_found_without_case) {
    HeaderFields fields;
    fields.add("Set-Cookie", "a=1").add("Host", "h").add("SET-cookie", "b=2");
    BOOST_TEST(fields.size() == 3u);
    BOOST_TEST(*fields.find("set-COOKIE") == "a=1");
    BOOST_CHECK(fields.find("Set-Cooki") == nullptr);
    BOOST_TEST(fields.count("set-cookie") == 2u);
    BOOST_TEST(fields.all("set-cookie") == (std::vector<std::string>{"a=1", "b=2"}),
               boost::test_tools::per_element());
    fields.set("set-cookie", "c=3").set("Accept", "*/*");
    BOOST_TEST(fields.count("Set-Cookie") == 1u);
    BOOST_TEST(fields.begin()->value == "c=3");
    BOOST_TEST(fields.remove("HOST") == 1u);
    BOOST_TEST(fields.remove("HOST") == 0u);
    BOOST_TEST(fields.size() == 2u);
}

BOOST_AUTO_TEST_CASE(only_ascii_letters_have_a_case) {
    BOOST_CHECK(equals_ignoring_case("Content-MD5", "content-md5"));
    BOOST_CHECK(!equals_ignoring_case("a[", "a{"));
    BOOST_CHECK(!equals_ignoring_case("\xc4", "\xe4"));
}

BOOST_AUTO_TEST_CASE(heads_become_the_bytes_of_the_wire) {
    RequestHead request;
    request.target = "/a?b";
    request.fields.add("Host", "pics.example").add("X-Empty", "");
    BOOST_TEST(serialize(request) ==
               "GET /a?b HTTP/1.1\r\nHost: pics.example\r\nX-Empty: \r\n\r\n");

    ResponseHead response;
    response.status = 404;
    response.reason = "Not Found";
    response.version = 10;
    BOOST_TEST(serialize(response) == "HTTP/1.0 404 Not Found\r\n\r\n");
    response.reason.clear();  // the space before it stays
    BOOST_TEST(serialize(response) == "HTTP/1.0 404 \r\n\r\n");
}

BOOST_AUTO_TEST_CASE(nothing_that_breaks_a_line_is_serialized) {
    for (const std::string& evil :
         {std::string("a\rb"), std::string("a\nb"), std::string("a\0b", 3), std::string("\r\n"),
          std::string("a\r\n\r\nb")}) {
        RequestHead request;
        request.fields.add("X", evil);
        BOOST_CHECK_THROW(serialize(request), std::invalid_argument);
        request = RequestHead();
        request.fields.add(evil, "x");
        BOOST_CHECK_THROW(serialize(request), std::invalid_argument);
        request = RequestHead();
        request.method = evil;
        BOOST_CHECK_THROW(serialize(request), std::invalid_argument);
        request = RequestHead();
        request.target = "/" + evil;
        BOOST_CHECK_THROW(serialize(request), std::invalid_argument);
        ResponseHead response;
        response.reason = evil;
        BOOST_CHECK_THROW(serialize(response), std::invalid_argument);
        response = ResponseHead();
        response.fields.add("X", evil);
        BOOST_CHECK_THROW(serialize(response), std::invalid_argument);
    }
}

BOOST_AUTO_TEST_CASE(parts_that_would_be_read_otherwise_are_refused) {
    for (const char* name : {"", "a b", "a:", " a", "a\xc3"}) {
        RequestHead request;
        request.fields.add(name, "x");
        BOOST_CHECK_THROW(serialize(request), std::invalid_argument);
    }
    for (const char* target : {"", "/a b", "/\xc3\xa9", "/\x7f"}) {
        RequestHead request;
        request.target = target;
        BOOST_CHECK_THROW(serialize(request), std::invalid_argument);
    }
    RequestHead request;
    request.version = 20;
    BOOST_CHECK_THROW(serialize(request), std::invalid_argument);
    ResponseHead response;
    response.status = 99;
    BOOST_CHECK_THROW(serialize(response), std::invalid_argument);
    response.status = 1000;
    BOOST_CHECK_THROW(serialize(response), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
