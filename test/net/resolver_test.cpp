// SPDX-License-Identifier: BSL-1.0
#include <net/resolver.hpp>

#include "connected.hpp"

#include <signal.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>

using namespace connected;
using reactor::net::resolve;
using reactor::net::ResolveError;
using reactor::net::Resolver;
using Endpoints = std::vector<Endpoint>;

namespace {

/// A name service for tests, shared with the threads that ask it, which may outlive the test:
/// "slow" names are answered only when the test says so, "none" has no address, "bad" throws an
/// int.
struct Names {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::string> asked;
    bool open = false;
    bool signals_blocked = true;

    Endpoints look_up(const std::string& host) {
        std::unique_lock<std::mutex> lock(mutex);
        asked.push_back(host);
        ::sigset_t blocked;
        ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
        signals_blocked = signals_blocked && ::sigismember(&blocked, SIGALRM) == 1;
        changed.notify_all();
        if (host.compare(0, 4, "slow") == 0) changed.wait(lock, [this] { return open; });
        if (host == "none") return Endpoints();
        if (host == "bad") throw 42;
        if (host == "unknown") throw ResolveError(host, {-2, reactor::net::resolver_category()});
        return {Endpoint("192.0.2.1", 0), Endpoint("2001:db8::1", 0)};
    }
    void answer_the_slow() {
        const std::lock_guard<std::mutex> lock(mutex);
        open = true;
        changed.notify_all();
    }
    std::size_t count() {
        const std::lock_guard<std::mutex> lock(mutex);
        return asked.size();
    }
    void wait_until_asked(std::size_t times) {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return asked.size() >= times; });
    }
};

std::shared_ptr<Names> names_for(TestLoop& loop) {
    be_patient(loop);
    const auto names = std::make_shared<Names>();
    loop.service<Resolver>().set_lookup(
        [names](const std::string& host) { return names->look_up(host); });
    return names;
}

}  // namespace

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

// Fault F1: slow names hold up neither the loop nor addresses, and take a bounded number of
// threads.
REACTOR_LOOP_TEST(slow_names_hold_up_nobody_else) {
    const std::shared_ptr<Names> names = names_for(loop);
    std::vector<Promise<Endpoints>> slow;
    for (int i = 0; i < 64; ++i) slow.push_back(resolve(loop, "slow" + std::to_string(i), 1));
    names->wait_until_asked(Resolver::max_threads);
    BOOST_TEST(resolve(loop, "127.0.0.1", 1).done());
    int beats = 0;
    loop.selector().set_patience(reactor::Duration::zero());
    reactor::TimerHandle heart = loop.call_every(milliseconds(10), [&] { ++beats; });
    loop.run_for(seconds(1));
    heart.cancel();
    BOOST_TEST(beats == 100);
    BOOST_TEST(names->count() == Resolver::max_threads);
    // One that has not begun is never asked for once nobody wants it.
    BOOST_TEST(slow[63].cancel());
    be_patient(loop);
    names->answer_the_slow();
    slow.pop_back();
    loop.run_until_complete(reactor::gather(slow));
    BOOST_TEST(names->count() == 63u);
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

REACTOR_LOOP_TEST(too_many_names_are_an_error_and_not_a_longer_queue) {
    const std::shared_ptr<Names> names = names_for(loop);
    std::vector<Promise<Endpoints>> slow;
    for (std::size_t i = 0; i < Resolver::max_threads; ++i) {
        slow.push_back(resolve(loop, "slow" + std::to_string(i), 1));
    }
    names->wait_until_asked(Resolver::max_threads);
    for (std::size_t i = 0; i < Resolver::max_waiting; ++i) {
        slow.push_back(resolve(loop, "name" + std::to_string(i), 1));
    }
    const Promise<Endpoints> beyond = resolve(loop, "beyond", 1);
    BOOST_TEST(code_of(beyond) == EAGAIN);
    BOOST_TEST(error_of(loop, beyond).find("resolve beyond: too many") == 0u);
    for (const Promise<Endpoints>& promise : slow) BOOST_TEST(promise.cancel());
    names->answer_the_slow();
    BOOST_TEST(!loop.run_until_complete(resolve(loop, "beyond", 1)).empty());
    loop.close();  // answers to the cancelled ones may be on their way
}

BOOST_AUTO_TEST_CASE(the_loop_closes_while_a_look_up_hangs) {
    const auto names = std::make_shared<Names>();
    const std::weak_ptr<Names> alive = names;
    Promise<Endpoints> promise;
    {
        TestLoop loop;
        loop.service<Resolver>().set_lookup(
            [names](const std::string& host) { return names->look_up(host); });
        promise = resolve(loop, "slow", 1, seconds(9));
        const Promise<Endpoints> waiting = resolve(loop, "slow", 2);
        names->wait_until_asked(1);
        loop.close();
        BOOST_TEST(!promise.done());
    }
    BOOST_TEST(promise.cancel());
    names->answer_the_slow();
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
