// SPDX-License-Identifier: BSL-1.0
#include <net/resolver.hpp>

#include "names.hpp"

#include <memory>
#include <stdexcept>

using namespace connected;
using namespace names;
using reactor::net::resolve;

BOOST_AUTO_TEST_SUITE(resolver)

// Row CN-06: an address is never asked for.
REACTOR_LOOP_TEST(addresses_are_answered_at_once) {
    const std::shared_ptr<Names> names = names_for(loop);
    for (const char* address : {"127.0.0.1", "::1", "2001:db8::7"}) {
        const Promise<Endpoints> found = resolve(loop, address, 80);
        BOOST_TEST(found.done());
        BOOST_TEST((found.result() == Endpoints{Endpoint(address, 80)}));
    }
    BOOST_TEST(names->count() == 0u);
    loop.run_until_complete(resolve(loop, "fe80::1%eth9", 80));
    loop.run_until_complete(resolve(loop, "127.1", 80));
    BOOST_TEST(names->count() == 2u);
    BOOST_CHECK_THROW(resolve(loop, "", 80), std::invalid_argument);
    BOOST_CHECK_THROW(resolve(loop, std::string("a\0b", 3), 80), std::invalid_argument);
    BOOST_CHECK_THROW(reactor::net::resolve("a", 80), StateError);
}

REACTOR_LOOP_TEST(a_name_is_answered_with_all_its_addresses_and_the_port) {
    const std::shared_ptr<Names> names = names_for(loop);
    const Promise<Endpoints> found = resolve(loop, "pics.example", 8080);
    BOOST_TEST(!found.done());
    const Endpoints expected{Endpoint("192.0.2.1", 8080), Endpoint("2001:db8::1", 8080)};
    BOOST_TEST((loop.run_until_complete(found) == expected));
    BOOST_TEST(names->signals_blocked);
    loop.call_soon([&] {
        reactor::net::resolve("again.example", 1).add_done_callback([&](const Promise<Endpoints>&) {
            loop.stop();
        });
    });
    loop.run_forever();
    BOOST_TEST(names->count() == 2u);
}

REACTOR_LOOP_TEST(the_report_of_a_failure_that_nobody_holds_may_cancel_the_other_callers) {
    names_for(loop);
    static_cast<void>(resolve(loop, "unknown", 1));
    const Promise<Endpoints> second = resolve(loop, "unknown", 2);
    int reports = 0;
    loop.set_exception_handler([&](reactor::EventLoop&, const reactor::Report&) {
        ++reports;
        BOOST_TEST(!second.cancel());
    });
    BOOST_CHECK_THROW(loop.run_until_complete(second), ResolveError);
    BOOST_TEST(reports == 1);
}

REACTOR_LOOP_TEST(callers_share_the_look_up_of_a_name) {
    const std::shared_ptr<Names> names = names_for(loop);
    const Promise<Endpoints> first = resolve(loop, "slow.example", 1);
    const Promise<Endpoints> second = resolve(loop, "slow.example", 2);
    const Promise<Endpoints> third = resolve(loop, "slow.example", 3);
    names->wait_until_asked(1);
    BOOST_TEST(second.cancel());
    names->answer_the_slow();
    BOOST_TEST(loop.run_until_complete(third)[0].port() == 3);
    BOOST_TEST(first.result()[0].port() == 1);
    BOOST_TEST(second.cancelled());
    BOOST_TEST(names->count() == 1u);
}

REACTOR_LOOP_TEST(a_look_up_that_hangs_can_be_cancelled_and_asked_for_again) {
    const std::shared_ptr<Names> names = names_for(loop);
    for (int i = 0; i < 10; ++i) {
        const Promise<Endpoints> hangs = resolve(loop, "slow", 1);
        names->wait_until_asked(1);
        BOOST_TEST(hangs.cancel());
    }
    const Promise<Endpoints> late = resolve(loop, "slow", 1, milliseconds(50));
    loop.selector().set_patience(reactor::Duration::zero());
    BOOST_TEST(error_of(loop, late) == "resolve slow: Connection timed out");
    BOOST_CHECK_THROW(late.result(), TimeoutError);
    be_patient(loop);
    // It takes one thread, not one for each who has asked.
    BOOST_TEST(names->count() == 1u);
    const Promise<Endpoints> again = resolve(loop, "slow", 7, seconds(50));
    names->answer_the_slow();
    BOOST_TEST(loop.run_until_complete(again)[0].port() == 7);
    BOOST_TEST(names->count() == 1u);
    BOOST_TEST(loop.timer_count() == 0u);
    loop.run_until_complete(resolve(loop, "slow", 1));
    BOOST_TEST(names->count() == 2u);
}

REACTOR_LOOP_TEST(errors_name_the_host) {
    names_for(loop);
    BOOST_TEST(error_of(loop, resolve(loop, "unknown", 1)) ==
               "resolve unknown: Name or service not known");
    const Promise<Endpoints> none = resolve(loop, "none", 1);
    BOOST_TEST(error_of(loop, none) == "resolve none: Cannot assign requested address");
    try {
        none.result();
    } catch (const ResolveError& error) {
        BOOST_TEST(error.host == "none");
    }
    BOOST_CHECK_THROW(loop.run_until_complete(resolve(loop, "bad", 1)), int);
}

// What the system says differs from machine to machine; that it is asked, and in which words it
// refuses, does not.
BOOST_AUTO_TEST_CASE(the_system_is_asked) {
    reactor::EventLoop loop;
    const Promise<Endpoints> answer = reactor::net::resolve(loop, "localhost", 80);
    Endpoints found;
    try {
        found = loop.run_until_complete(answer);
        BOOST_TEST(!found.empty());
    } catch (const reactor::net::ResolveError& refusal) {
        // Without /etc/hosts, as in a bare chroot, a system does not know even this name.
        BOOST_TEST(std::string(refusal.what()).find("resolve localhost: ") == 0u);
    }
    for (const Endpoint& endpoint : found) {
        BOOST_TEST((endpoint.address() == "127.0.0.1" || endpoint.address() == "::1"));
        BOOST_TEST(endpoint.port() == 80);
    }
    const std::string error =
        error_of(loop, reactor::net::resolve(loop, "no such name", 80, seconds(60)));
    BOOST_TEST(error.find("resolve no such name: ") == 0u);
    BOOST_TEST(error.find("timed out") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
