// SPDX-License-Identifier: BSL-1.0
#include <net/port.hpp>

#include "names.hpp"

#include <net/connect.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>

using namespace connected;
using namespace names;
using reactor::net::Port;
using reactor::net::resolve;
using reactor::net::ResolveOptions;
using Family = Endpoint::Family;

namespace {

/// Services for tests, and how often they were asked for.
std::shared_ptr<std::atomic<int>> services_for(TestLoop& loop) {
    const auto count = std::make_shared<std::atomic<int>>(0);
    loop.service<Resolver>().set_service_lookup([count](const std::string& service) {
        ++*count;
        if (service == "http") return std::uint16_t(80);
        throw ResolveError("service " + service, {-8, reactor::net::resolver_category()});
    });
    return count;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ports)

BOOST_AUTO_TEST_CASE(a_port_is_a_number_or_a_name) {
    BOOST_TEST(Port(80).number() == 80);
    BOOST_TEST(Port("80").number() == 80);
    BOOST_TEST(Port("00080").number() == 80);
    BOOST_TEST(Port(std::uint16_t(65535)).number() == 65535);
    BOOST_TEST(Port().number() == 0);
    BOOST_TEST(Port("").number() == 0);
    BOOST_TEST(Port("http").service() == "http");
    BOOST_TEST(!Port("http").is_number());
    BOOST_TEST(Port("80a").service() == "80a");
    BOOST_TEST(Port("http").str() == "http");
    BOOST_TEST(Port("080").str() == "80");
    BOOST_CHECK_THROW(Port(65536), std::invalid_argument);
    BOOST_CHECK_THROW(Port(-1), std::invalid_argument);
    BOOST_CHECK_THROW(Port("65536"), std::invalid_argument);
    BOOST_CHECK_THROW(Port("18446744073709551696"), std::invalid_argument);
    BOOST_CHECK_THROW(Port(std::string("a\0b", 3)), std::invalid_argument);
}

REACTOR_LOOP_TEST(CN_06_addresses_with_a_number_never_reach_the_resolver) {
    const auto names = names_for(loop);
    const auto services = services_for(loop);
    for (const char* address : {"127.0.0.1", "::1", "2001:db8::7"}) {
        for (const Port& port : {Port(80), Port("80"), Port()}) {
            const Promise<Endpoints> found = resolve(loop, address, port);
            BOOST_TEST(found.done());
            BOOST_TEST((found.result() == Endpoints{Endpoint(address, port.number())}));
        }
    }
    const auto ipv6 = ResolveOptions().family(Family::ipv6);
    BOOST_TEST(resolve(loop, "::1", 80, ipv6).done());
    BOOST_TEST(names->count() == 0u);
    BOOST_TEST(*services == 0);
}

REACTOR_LOOP_TEST(CN_06_services_zones_and_other_families_reach_the_resolver) {
    const auto names = names_for(loop);
    const auto services = services_for(loop);
    const Promise<Endpoints> found = resolve(loop, "127.0.0.1", "http");
    BOOST_TEST(!found.done());
    BOOST_TEST((loop.run_until_complete(found) == Endpoints{Endpoint("127.0.0.1", 80)}));
    BOOST_TEST(*services == 1);
    BOOST_TEST(names->count() == 0u);
    BOOST_TEST(loop.run_until_complete(resolve(loop, "pics.example", "http"))[1].port() == 80);
    BOOST_TEST(names->count() == 1u);

    loop.run_until_complete(resolve(loop, "fe80::1%eth9", 80));
    BOOST_TEST(names->count() == 2u);

    // The test's resolver answers with both families, whatever it is asked.
    const auto only = [&](const char* host, Family family) {
        return loop.run_until_complete(resolve(loop, host, 7, ResolveOptions().family(family)));
    };
    BOOST_TEST((only("127.0.0.1", Family::ipv6) == Endpoints{Endpoint("2001:db8::1", 7)}));
    BOOST_TEST((only("pics.example", Family::ipv4) == Endpoints{Endpoint("192.0.2.1", 7)}));
    BOOST_TEST(names->count() == 4u);
    loop.service<Resolver>().set_lookup(
        [](const std::string&) { return Endpoints{Endpoint("127.0.0.1", 0)}; });
    BOOST_TEST(
        error_of(loop, resolve(loop, "127.0.0.1", 7, ResolveOptions().family(Family::ipv6))) ==
        "resolve 127.0.0.1: Address family not supported by protocol");
}

REACTOR_LOOP_TEST(a_service_nobody_knows_is_an_error_that_names_it) {
    const auto names = names_for(loop);
    services_for(loop);
    const std::string error = error_of(loop, resolve(loop, "pics.example", "gopherx"));
    BOOST_TEST(error.find("resolve service gopherx: ") == 0u);
    BOOST_TEST(names->count() == 0u);
    BOOST_TEST(error_of(loop, reactor::net::connect(loop, "pics.example", "gopherx")) == error);
}

REACTOR_LOOP_TEST(the_deadline_is_for_service_and_host_together) {
    const auto names = names_for(loop);
    services_for(loop);
    const Promise<Endpoints> late = resolve(loop, "slow", "http", seconds(3));
    while (loop.ready_count() == 0) loop.run_once();  // the service is known
    loop.run_iterations(2);
    names->wait_until_asked(1);
    loop.selector().set_patience(reactor::Duration::zero());
    const reactor::TimePoint begin = loop.time();
    BOOST_TEST(error_of(loop, late) == "resolve slow: Connection timed out");
    BOOST_TEST((loop.time() - begin == seconds(3)));
    names->answer_the_slow();
    be_patient(loop);
    loop.run_until_complete(resolve(loop, "slow", 1));
}

// A system without its list of services, as in a bare chroot, knows none.
BOOST_AUTO_TEST_CASE(the_system_is_asked_for_services) {
    reactor::EventLoop loop;
    try {
        BOOST_TEST(loop.run_until_complete(resolve(loop, "127.0.0.1", "http"))[0].port() == 80);
    } catch (const ResolveError& unknown) {
        BOOST_TEST(std::string(unknown.what()).find("resolve service http: ") == 0u);
    }
    const std::string error = error_of(loop, resolve(loop, "127.0.0.1", "no such service"));
    BOOST_TEST(error.find("resolve service no such service: ") == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
