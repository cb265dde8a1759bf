// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>

#include <net/resolver.hpp>
#include <reactor/combinators.hpp>
#include <reactor/executor.hpp>

#include <test/support/loop_test.hpp>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

using reactor::Promise;
using reactor::net::Endpoint;
using reactor::net::resolve;
using reactor::net::Resolver;
using support::milliseconds;
using support::seconds;

using Addresses = std::vector<Endpoint>;

namespace {

/// A name service on the loop: each question is a promise, which the test answers.
struct ServiceTest : support::LoopTest {
    explicit ServiceTest(const std::string& selector) : LoopTest(selector) {
        loop.service<Resolver>().set_loop_lookup([this](const std::string& host) {
            hosts.push_back(host);
            answers.push_back(loop.create_promise<Addresses>());
            return answers.back();
        });
    }
    std::vector<std::string> hosts;
    std::vector<Promise<Addresses>> answers;
};

/// Takes jobs and runs none.
struct Busy final : reactor::Executor {
    void submit(reactor::Callback job) override { jobs.push_back(std::move(job)); }
    std::vector<reactor::Callback> jobs;
};

/// Calls what it is given when the last copy goes.
std::shared_ptr<void> at_the_end(std::function<void()> call) {
    return std::shared_ptr<void>(nullptr, [call](void*) { call(); });
}

std::string ended(const Promise<Addresses>& promise) {
    if (!promise.done()) return "pending";
    try {
        std::string text;
        for (const Endpoint& one : promise.result()) text += one.str() + ' ';
        return text;
    } catch (const reactor::CancelledError&) {
        return "cancelled";
    } catch (const std::exception& error) {
        return error.what();
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(resolver_on_loop)

REACTOR_LOOP_TEST_IN(ServiceTest, one_question_serves_all_who_ask_meanwhile) {
    const Promise<Addresses> web = resolve(loop, "a.test", 80);
    const Promise<Addresses> mail = resolve(loop, "a.test", 25);
    BOOST_TEST(hosts.size() == 1u);
    answers[0].set_result(Addresses{Endpoint("192.0.2.1", 0), Endpoint("2001:db8::1", 0)});
    BOOST_TEST(ended(web) == "pending");  // from the loop, as ever
    loop.run_iterations(2);
    BOOST_TEST(ended(web) == "192.0.2.1:80 [2001:db8::1]:80 ");
    BOOST_TEST(ended(mail) == "192.0.2.1:25 [2001:db8::1]:25 ");
    const Promise<Addresses> literal = resolve(loop, "192.0.2.9", 80);
    BOOST_TEST(ended(literal) == "192.0.2.9:80 ");
    BOOST_TEST(hosts.size() == 1u);
}

REACTOR_LOOP_TEST_IN(ServiceTest, what_nobody_waits_for_is_cancelled) {
    Promise<Addresses> first = resolve(loop, "a.test", 80);
    Promise<Addresses> second = resolve(loop, "a.test", 80);
    first.cancel();
    loop.run_iterations(2);
    BOOST_TEST(!answers[0].done());
    second.cancel();
    BOOST_TEST(answers[0].cancelled());
    // Asked again before the old answer is heard: a question of its own.
    const Promise<Addresses> third = resolve(loop, "a.test", 80);
    BOOST_REQUIRE(answers.size() == 2u);
    loop.run_iterations(3);
    BOOST_TEST(ended(third) == "pending");
    answers[1].set_result(Addresses{Endpoint("192.0.2.1", 0)});
    loop.run_iterations(2);
    BOOST_TEST(ended(third) == "192.0.2.1:80 ");
}

REACTOR_LOOP_TEST_IN(ServiceTest, failures_and_deadlines_are_those_of_any_look_up) {
    const Promise<Addresses> failing = resolve(loop, "a.test", 80);
    answers[0].set_exception(std::make_exception_ptr(std::runtime_error("no such thing")));
    loop.run_iterations(2);
    BOOST_TEST(ended(failing) == "no such thing");
    const Promise<Addresses> late = resolve(loop, "b.test", 80, seconds(1));
    loop.run_for(seconds(1));
    loop.run_iterations(2);
    BOOST_TEST(ended(late).find("resolve b.test") == 0u);
    BOOST_TEST(answers[1].cancelled());
}

REACTOR_LOOP_TEST_IN(ServiceTest, what_it_throws_and_what_is_no_promise) {
    Resolver& resolver = loop.service<Resolver>();
    resolver.set_loop_lookup(
        [](const std::string&) -> Promise<Addresses> { throw std::runtime_error("down"); });
    const Promise<Addresses> thrown = resolve(loop, "a.test", 80);
    resolver.set_loop_lookup([](const std::string&) { return Promise<Addresses>(); });
    const Promise<Addresses> empty = resolve(loop, "b.test", 80);
    loop.run_iterations(3);
    BOOST_TEST(ended(thrown) == "down");
    BOOST_TEST(ended(empty).find("empty promise") != std::string::npos);
    // Back to the threads, of which the test has one that knows a name.
    resolver.set_loop_lookup(Resolver::LoopLookup());
    resolver.set_lookup([](const std::string&) { return Addresses{Endpoint("192.0.2.7", 0)}; });
    loop.selector().set_patience(seconds(10));
    BOOST_TEST(loop.run_until_complete(resolve(loop, "c.test", 80))[0].str() == "192.0.2.7:80");
}

REACTOR_LOOP_TEST_IN(ServiceTest, a_late_look_up_that_cancels_as_it_goes_finds_all_done) {
    Busy busy;
    Promise<Addresses> late;
    bool cancelled = true;
    auto captured = at_the_end([&] { cancelled = late.cancel(); });
    loop.service<Resolver>().set_loop_lookup([&](const std::string&) {
        const std::shared_ptr<void> kept = std::move(captured);
        return reactor::run_in_executor(loop, busy, [kept] { return Addresses(); });
    });
    late = resolve(loop, "a.test", 80, seconds(1));
    loop.run_for(seconds(1));
    loop.run_iterations(2);
    BOOST_TEST(!cancelled);
    BOOST_TEST(ended(late).find("resolve a.test") == 0u);
    BOOST_TEST(loop.timer_count() == 0u);
}

// Law 12.
REACTOR_LOOP_TEST_IN(ServiceTest, a_look_up_that_ends_cancelled_cancels_who_waits) {
    const Promise<Addresses> first = resolve(loop, "a.test", 80);
    const Promise<Addresses> second = resolve(loop, "a.test", 80);
    BOOST_TEST(answers[0].cancel("no more"));
    loop.run_iterations(2);
    BOOST_TEST(first.cancelled());
    BOOST_TEST(second.cancelled());
    BOOST_CHECK_EXCEPTION(
        second.result(), reactor::CancelledError,
        [](const reactor::CancelledError& error) { return error.message() == "no more"; });
    loop.service<Resolver>().set_loop_lookup(
        [](const std::string&) -> Promise<Addresses> { throw reactor::CancelledError(); });
    const Promise<Addresses> thrown = resolve(loop, "b.test", 80);
    loop.run_iterations(3);
    BOOST_TEST(thrown.cancelled());
}

REACTOR_LOOP_TEST_IN(ServiceTest, an_exit_comes_through) {
    Promise<Addresses> joined;
    loop.service<Resolver>().set_loop_lookup([&](const std::string& host) -> Promise<Addresses> {
        joined = resolve(loop, host, 80);
        throw reactor::LoopExit(3);
    });
    loop.call_soon([&] { resolve(loop, "a.test", 80); });
    BOOST_CHECK_EXCEPTION(loop.run_for(seconds(1)), reactor::LoopExit,
                          [](const reactor::LoopExit& exit) { return exit.code() == 3; });
    BOOST_REQUIRE(joined.done());
    BOOST_CHECK_THROW(joined.result(), reactor::LoopExit);
    // It has left nothing behind.
    loop.service<Resolver>().set_loop_lookup(
        [this](const std::string&) { return loop.create_promise<Addresses>(); });
    const Promise<Addresses> again = resolve(loop, "a.test", 80);
    loop.run_iterations(2);
    BOOST_TEST(ended(again) == "pending");
}

REACTOR_LOOP_TEST_IN(ServiceTest, a_loop_may_close_meanwhile) {
    const Promise<Addresses> pending = resolve(loop, "a.test", 80);
    loop.close();
    answers[0].set_result(Addresses());
    BOOST_TEST(ended(pending) == "pending");
}

BOOST_AUTO_TEST_SUITE_END()
