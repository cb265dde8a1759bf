// SPDX-License-Identifier: BSL-1.0
#include <net/http/client.hpp>

#include <string>
#include <vector>

#include "http_client_fixture.hpp"

using namespace http_client;

BOOST_AUTO_TEST_SUITE(http_client)

BOOST_AUTO_TEST_CASE_TEMPLATE(the_request_says_what_http_1_1_asks_for, S, Selectors) {
    Fixture<S> f;
    GetOptions options;
    options.fields.add("Accept", "image/*").add("X-Asked", "yes");
    options.fields.add("Host", "not.yours").add("Connection", "keep-alive");
    const HttpResponse response = f.fetch("/good?size=2%20#top", options);
    BOOST_TEST(response.head.status == 404);
    const std::string head = f.server.requests().at(0);
    BOOST_TEST(head.compare(0, 29, "GET /good?size=2%20 HTTP/1.1\r") == 0, head);
    BOOST_TEST(contains(head, "\r\nHost: " + f.server.address() + "\r\n"), head);
    BOOST_TEST(contains(head, "\r\nConnection: close\r\n"), head);
    BOOST_TEST(contains(head, "\r\nAccept-Encoding: identity\r\n"), head);
    BOOST_TEST(contains(head, "\r\nAccept: image/*\r\n"), head);
    BOOST_TEST(contains(head, "\r\nX-Asked: yes\r\n"), head);
    BOOST_TEST(!contains(head, "not.yours"), head);
    BOOST_TEST(!contains(head, "keep-alive"), head);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(bodies_with_a_length_in_chunks_and_without_either, S, Selectors) {
    Fixture<S> f;
    std::string body(300000, '\0');
    for (std::size_t i = 0; i < body.size(); ++i) {
        body[i] = static_cast<char>(static_cast<unsigned char>(i * 7 % 251));
    }
    body.insert(1000, "\r\n\r\n");
    f.server.on("/length", [&](PeerConnection& to) { to.send(support::ok_response(body)); });
    f.server.on("/chunks", [&](PeerConnection& to) {
        to.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n493e4;x=y\r\n" + body +
                "\r\n0\r\nX-End: 1\r\n\r\n");
        to.hold();  // nobody has to wait for the end of the connection
    });
    f.server.on("/close", [&](PeerConnection& to) { to.send("HTTP/1.0 200 OK\r\n\r\n" + body); });
    f.server.on("/none", [&](PeerConnection& to) { to.send("HTTP/1.1 204 No Content\r\n\r\n"); });
    for (const char* target : {"/length", "/chunks", "/close"}) {
        const HttpResponse response = f.fetch(target);
        BOOST_TEST(response.head.status == 200);
        BOOST_TEST((response.body == body), target);
        BOOST_TEST(response.redirects == 0u);
        BOOST_TEST(response.url.str() == f.server.url(target));
    }
    BOOST_TEST(f.fetch("/none").body == "");
    BOOST_TEST(f.fetch("/missing").head.status == 404);
    BOOST_TEST(f.fetch("/missing").body == "none");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(redirects_are_followed_to_wherever_they_lead, S, Selectors) {
    Fixture<S> f;
    HttpPeer other;
    other.on("/there", [](PeerConnection& to) { to.send(support::ok_response("there")); });
    f.redirect("/a/one", "two?x=1", "301 Moved");
    f.redirect("/a/two?x=1", "../three", "303 See Other");
    f.redirect("/three", "//" + f.server.address() + "/four", "307 Temporary");
    f.redirect("/four", other.url("/there"), "308 Permanent");
    std::vector<std::string> connects;
    GetOptions options;
    options.on_connect = [&](const Url& url) { connects.push_back(url.str()); };
    const HttpResponse response = f.fetch("/a/one", options);
    BOOST_TEST(response.body == "there");
    BOOST_TEST(response.redirects == 4u);
    BOOST_TEST(response.url.str() == other.url("/there"));
    const std::vector<std::string> expected = {f.server.url("/a/one"), f.server.url("/a/two?x=1"),
                                               f.server.url("/three"), f.server.url("/four"),
                                               other.url("/there")};
    BOOST_TEST(connects == expected, boost::test_tools::per_element());
    BOOST_TEST(contains(other.requests().at(0), "Host: " + other.address() + "\r\n"));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_redirect_without_location_is_a_response, S, Selectors) {
    Fixture<S> f;
    const HttpResponse response = f.fetch("/nowhere");
    BOOST_TEST(response.head.status == 302);
    BOOST_TEST(response.redirects == 0u);
    // And so is Location where it does not redirect.
    f.redirect("/created", "/good", "201 Created");
    f.redirect("/unchanged", "/good", "304 Not Modified");
    BOOST_TEST(f.fetch("/created").head.status == 201);
    BOOST_TEST(f.fetch("/unchanged").head.status == 304);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_loop_of_redirects_ends_at_the_limit, S, Selectors) {
    Fixture<S> f;
    const std::string what = f.refused("/loop", HttpError::Kind::redirects);
    BOOST_TEST(contains(what, "10 redirects"), what);
    BOOST_TEST(contains(what, f.server.url("/loop")), what);
    BOOST_TEST(f.server.requests().size() == 11u);

    GetOptions none;
    none.max_redirects = 0;
    f.redirect("/moved", "/good");
    f.refused("/moved", HttpError::Kind::redirects, none);
    BOOST_TEST(f.fetch("/good", none).body == "good");
    GetOptions one;
    one.max_redirects = 1;
    BOOST_TEST(f.fetch("/moved", one).body == "good");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_body_of_a_redirect_delays_nothing, S, Selectors) {
    Fixture<S> f;
    f.server.on("/slow", [](PeerConnection& to) {
        to.send("HTTP/1.1 302 Found\r\nLocation: /good\r\nContent-Length: 5000000\r\n\r\nxx");
        to.hold();
    });
    BOOST_TEST(f.fetch("/slow").body == "good");
    f.server.wait_for_ends(2);  // of both connections, also of the one that was held
}

BOOST_AUTO_TEST_SUITE_END()
