// SPDX-License-Identifier: BSL-1.0
#include <net/endpoint.hpp>

#include <boost/test/unit_test.hpp>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>
#include <unordered_set>

using reactor::net::Endpoint;

namespace {

void check_refused(const std::string& text, const std::string& why) {
    try {
        const Endpoint taken = Endpoint::parse(text);
        BOOST_ERROR(text << " was taken as " << taken.str());
    } catch (const std::invalid_argument& error) {
        const std::string what = error.what();
        BOOST_CHECK_MESSAGE(what.find(why) != std::string::npos, what << " -- lacks: " << why);
    }
}

template <class F>
void check_too_long(F make) {
    try {
        make();
        BOOST_ERROR("a name that does not fit was taken");
    } catch (const std::system_error& error) {
        BOOST_TEST(error.code().value() == ENAMETOOLONG);
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(endpoint)

BOOST_AUTO_TEST_CASE(a_text_names_the_same_endpoint_when_written_again) {
    for (const char* text : {"127.0.0.1:80", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:80",
                             "[2001:db8::7]:8080", "[::]:0", "[::ffff:127.0.0.1]:1",
                             "unix:/run/app.sock", "unix:relative", "unix:@name", "unix:@"}) {
        BOOST_TEST(Endpoint::parse(text).str() == text);
    }
    BOOST_TEST(Endpoint::parse("[2001:DB8:0:0::7]:1").str() == "[2001:db8::7]:1");
    BOOST_TEST(Endpoint::local_path("@odd").str() == "unix:./@odd");
}

BOOST_AUTO_TEST_CASE(its_parts_can_be_asked_for) {
    const Endpoint ipv4("192.0.2.1", 8080);
    BOOST_TEST(ipv4.address() == "192.0.2.1");
    BOOST_TEST(ipv4.port() == 8080);
    BOOST_TEST(ipv4.is_ip());
    BOOST_TEST((ipv4.family() == Endpoint::Family::ipv4));
    const Endpoint ipv6("2001:db8::1", 443);
    BOOST_TEST(ipv6.address() == "2001:db8::1");
    BOOST_TEST(ipv6.with_port(80).str() == "[2001:db8::1]:80");
    BOOST_TEST((ipv6.family() == Endpoint::Family::ipv6));
    const Endpoint path = Endpoint::local_path("/run/x");
    BOOST_TEST(path.address() == "/run/x");
    BOOST_TEST(path.port() == 0);
    BOOST_TEST(!path.is_ip());
    BOOST_TEST(!path.is_abstract());
    BOOST_TEST((path.with_port(1) == path));
    BOOST_TEST(Endpoint().empty());
    BOOST_TEST(Endpoint().str() == "(no address)");
    BOOST_TEST(Endpoint().address().empty());
}

BOOST_AUTO_TEST_CASE(an_ipv6_zone_is_kept_and_an_unknown_one_refused) {
    const Endpoint zoned("fe80::1%lo", 80);
    BOOST_TEST(zoned.scope_id() == 1u);
    BOOST_TEST(zoned.str() == "[fe80::1%lo]:80");
    BOOST_TEST((Endpoint::parse(zoned.str()) == zoned));
    BOOST_TEST((zoned != Endpoint("fe80::1", 80)));
    BOOST_TEST(Endpoint("fe80::1", 80).scope_id() == 0u);
    check_refused("[fe80::1%no-such-zone]:80", "zone");
}

BOOST_AUTO_TEST_CASE(what_is_no_endpoint_is_refused_with_the_reason) {
    check_refused("", "expected address:port");
    check_refused("127.0.0.1", "expected address:port");
    check_refused("::1", "stands in brackets");
    check_refused("::1:80", "stands in brackets");
    check_refused("[::1]", "expected [address]:port");
    check_refused("[::1:80", "expected [address]:port");
    check_refused("[127.0.0.1]:80", "no IPv6 address");
    check_refused("localhost:80", "resolve() takes names");
    check_refused("127.0.0.256:80", "neither");
    check_refused("127.1:80", "neither");
    for (const char* port : {"", "x", "-1", "+1", "65536", "000080", "1 ", "0x50"}) {
        check_refused(std::string("127.0.0.1:") + port, "a port is a number");
    }
    check_refused("unix:", "empty");
    BOOST_CHECK_THROW(Endpoint(std::string("127.0.0.1\0", 10), 1), std::invalid_argument);
    BOOST_CHECK_THROW(Endpoint::local_path(std::string("/a\0b", 4)), std::invalid_argument);
}

// A Unix name that is cut names another server.
BOOST_AUTO_TEST_CASE(a_unix_name_that_does_not_fit_is_an_error_and_never_cut) {
    const std::string fits = "/" + std::string(106, 'x');
    BOOST_TEST(Endpoint::local_path(fits).address() == fits);
    check_too_long([&] { Endpoint::local_path(fits + "x"); });
    check_too_long([] { Endpoint::local_path(std::string(200, 'x')); });
    BOOST_TEST(Endpoint::local_abstract(fits).address() == fits);
    check_too_long([&] { Endpoint::local_abstract(fits + "x"); });
}

BOOST_AUTO_TEST_CASE(an_abstract_name_has_exactly_its_bytes) {
    const Endpoint app = Endpoint::local_abstract("app");
    BOOST_TEST(app.is_abstract());
    BOOST_TEST(app.size() == offsetof(::sockaddr_un, sun_path) + 4);
    BOOST_TEST(std::memcmp(static_cast<const char*>(app.data()) + offsetof(::sockaddr_un, sun_path),
                           "\0app", 4) == 0);
    const Endpoint zero = Endpoint::local_abstract(std::string("app\0", 4));
    BOOST_TEST((zero != app));
    BOOST_TEST((zero.address() == std::string("app\0", 4)));
    BOOST_TEST((Endpoint::from_sockaddr(zero.data(), zero.size()) == zero));
}

BOOST_AUTO_TEST_CASE(the_systems_addresses_are_taken_as_they_are) {
    for (const char* text : {"127.0.0.1:80", "[2001:db8::7]:80", "unix:/run/x", "unix:@x"}) {
        const Endpoint one = Endpoint::parse(text);
        BOOST_TEST((Endpoint::from_sockaddr(one.data(), one.size()) == one));
    }
    ::sockaddr_in padded;
    std::memset(&padded, 0xff, sizeof padded);
    padded.sin_family = AF_INET;
    padded.sin_port = htons(80);
    padded.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    BOOST_TEST((Endpoint::from_sockaddr(&padded, sizeof padded) == Endpoint("127.0.0.1", 80)));

    ::sockaddr_un unnamed = ::sockaddr_un();
    unnamed.sun_family = AF_UNIX;
    const Endpoint client = Endpoint::from_sockaddr(&unnamed, sizeof unnamed.sun_family);
    BOOST_TEST(client.str() == "unix:");
    BOOST_TEST(client.address().empty());
    BOOST_TEST(!client.is_abstract());

    // A path of 108 bytes, as Linux gives it back: it has one byte more than there is room for.
    struct {
        ::sockaddr_un address;
        char zero;
    } full = {};
    full.address.sun_family = AF_UNIX;
    std::memset(full.address.sun_path, 'x', sizeof full.address.sun_path);
    for (const std::size_t size : {sizeof full.address, sizeof full.address + 1}) {
        const Endpoint too_long = Endpoint::from_sockaddr(&full, size);
        BOOST_TEST((too_long == client));
        BOOST_TEST(too_long.size() == client.size());
    }
    const std::string fits(107, 'x');
    full.address.sun_path[107] = '\0';
    BOOST_TEST(Endpoint::from_sockaddr(&full, sizeof full.address).address() == fits);
    BOOST_TEST(Endpoint::from_sockaddr(&full, sizeof full.address - 1).address() == fits);
    full.address.sun_path[107] = 'x';
    full.address.sun_path[0] = '\0';
    const Endpoint abstract = Endpoint::from_sockaddr(&full, sizeof full.address);
    BOOST_TEST(abstract.is_abstract());
    BOOST_TEST(abstract.address() == fits);

    unnamed.sun_family = AF_PACKET;
    BOOST_CHECK_THROW(Endpoint::from_sockaddr(&unnamed, sizeof unnamed), std::invalid_argument);
    BOOST_CHECK_THROW(Endpoint::from_sockaddr(&padded, 4), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(endpoints_are_compared_by_all_that_they_say) {
    const Endpoint a("127.0.0.1", 80), b("127.0.0.1", 81), c("::1", 80);
    BOOST_TEST((a == Endpoint("127.0.0.1", 80)));
    BOOST_TEST((a != b));
    BOOST_TEST(((a < b) != (b < a)));
    BOOST_TEST((a < c));
    BOOST_TEST(!(a < a));
    BOOST_TEST((Endpoint() < a));
    BOOST_TEST((Endpoint::local_path("/a") < Endpoint::local_path("/ab")));
    std::unordered_set<Endpoint> set{a, b, c, Endpoint("127.0.0.1", 80)};
    BOOST_TEST(set.size() == 3u);
    BOOST_TEST(set.count(Endpoint::parse("[::1]:80")) == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
