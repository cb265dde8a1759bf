// SPDX-License-Identifier: BSL-1.0
#include <reactor/as_completed.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <test/support/loop_test.hpp>

namespace {

using reactor::as_completed;
using reactor::BrokenPromise;
using reactor::EventLoop;
using reactor::Promise;
using reactor::StateError;
using reactor::TimeoutError;
using support::seconds;

using Some = std::vector<Promise<int>>;

bool has_callback(const reactor::AnyPromise& promise) {
    return reactor::detail::PromiseAccess::state(promise)->first != nullptr;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(in_the_order_of_completion)

REACTOR_LOOP_TEST(AC_01_the_kth_promise_follows_the_kth_completion) {
    const auto a = loop.create_promise<int>();
    const auto b = loop.create_promise<int>();
    const auto c = loop.create_promise<int>();
    const Some p = as_completed(Some{a, b, c});
    BOOST_REQUIRE(p.size() == 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        p[i].add_done_callback([this, i](const Promise<int>&) { say(std::to_string(i + 1))(); });
    }
    const auto error = std::make_exception_ptr(std::runtime_error("a"));
    b.set_result(2);
    BOOST_TEST(!p[0].done());
    loop.run_iterations(1);
    BOOST_TEST(p[0].result() == 2);
    BOOST_TEST(!p[1].done());
    a.set_exception(error);
    c.set_result(3);
    loop.run_iterations(2);
    BOOST_TEST((p[1].error() == error));
    BOOST_TEST(p[2].result() == 3);
    BOOST_TEST(heard() == "1 2 3");
}

REACTOR_LOOP_TEST(AC_02_what_does_not_come_in_time_fails) {
    const auto a = loop.create_promise<int>();
    const auto b = loop.create_promise<int>();
    auto c = loop.create_promise<int>();
    auto d = loop.create_promise<int>();
    Some p = as_completed(Some{a, b, c, d}, seconds(1));
    b.set_result(2);
    a.set_result(1);
    loop.run_for(seconds(1));
    BOOST_TEST(p[0].result() == 2);
    BOOST_TEST(p[1].result() == 1);
    BOOST_CHECK_THROW(p[2].result(), TimeoutError);
    BOOST_TEST(!c.done());
    BOOST_TEST(!has_callback(c));
    c.set_result(3);
    loop.run_iterations(2);
    BOOST_CHECK_THROW(p[2].result(), TimeoutError);
    p.clear();  // the time-out of the fourth, which nobody has read, is no news

    const Some in_time = as_completed(Some{c, b}, seconds(1));
    loop.run_iterations(2);
    BOOST_TEST(in_time[1].result() == 2);
    BOOST_TEST(loop.timer_count() == 0u);
}

REACTOR_LOOP_TEST(AC_03_inputs_that_are_done_at_the_call) {
    const auto a = loop.create_promise<int>();
    const auto b = loop.create_promise<int>();
    const auto c = loop.create_promise<int>();
    b.set_exception(std::runtime_error("b"));
    c.cancel();
    a.set_result(1);
    const Some p = as_completed(Some{a, b, c}, seconds(1));
    loop.run_iterations(2);
    BOOST_TEST(p[0].result() == 1);
    BOOST_CHECK_THROW(p[1].result(), std::runtime_error);
    BOOST_TEST(p[2].cancelled());
    BOOST_TEST(loop.timer_count() == 0u);
}

REACTOR_LOOP_TEST(nothing_and_the_same_several_times) {
    BOOST_TEST(as_completed(Some()).empty());
    const auto a = loop.create_promise<int>();
    const auto b = loop.create_promise<int>();
    const Some p = as_completed(Some{a, a, b, a});
    BOOST_TEST(p.size() == 2u);
    b.set_result(2);
    loop.run_iterations(1);
    a.set_result(1);
    loop.run_iterations(1);
    BOOST_TEST(p[0].result() == 2);
    BOOST_TEST(p[1].result() == 1);
}

REACTOR_LOOP_TEST(cancelling_a_result_cancels_nothing_else) {
    auto a = loop.create_promise<int>();
    const auto b = loop.create_promise<int>();
    const Some p = as_completed(Some{a, b});
    BOOST_TEST(p[0].cancel());
    BOOST_TEST(p[0].cancelled());
    a.set_exception(std::runtime_error("for nobody"));
    loop.run_iterations(1);
    a = Promise<int>();
    expect_report("Promise exception was never retrieved");
    BOOST_TEST(!p[1].done());
    b.set_result(2);
    loop.run_iterations(1);
    BOOST_TEST(p[1].result() == 2);

    const auto c = loop.create_promise<int>();
    const Some given_up = as_completed(Some{c}, seconds(1));
    BOOST_TEST(given_up[0].cancel());
    BOOST_TEST(!has_callback(c));
    BOOST_TEST(!c.done());
    BOOST_TEST(loop.timer_count() == 0u);
}

REACTOR_LOOP_TEST(results_that_nobody_holds_live_as_long_as_what_completes_them) {
    const auto a = loop.create_promise<std::unique_ptr<int>>();
    const auto b = loop.create_promise<std::unique_ptr<int>>();
    std::string order;
    for (const auto& next : as_completed(std::vector<Promise<std::unique_ptr<int>>>{a, b})) {
        next.then([&order](std::unique_ptr<int> value) { order += std::to_string(*value); });
    }
    b.set_result(new int(2));
    loop.run_iterations(1);
    a.set_result(new int(1));
    loop.run_iterations(2);
    BOOST_TEST(order == "21");
}

REACTOR_LOOP_TEST(a_promise_dropped_while_pending_counts_as_broken_then) {
    auto a = loop.create_promise<int>();
    const auto b = loop.create_promise<int>();
    const Some p = as_completed(Some{b, a});
    as_completed(Some{a, b});  // of nobody
    a = Promise<int>();
    BOOST_CHECK_THROW(p[0].result(), BrokenPromise);
    b.set_result(2);
    loop.run_iterations(1);
    BOOST_TEST(p[1].result() == 2);
}

REACTOR_LOOP_TEST(nothing_is_left_when_the_loop_closes) {
    const std::size_t before = loop.core().live();
    {
        const auto a = loop.create_promise<int>();
        const auto b = loop.create_promise<int>();
        const Some p = as_completed(Some{a, b}, seconds(1));
        a.set_result(1);
        loop.close();
        BOOST_TEST(p[1].cancel() == !p[1].done());
    }
    BOOST_TEST(loop.core().live() == before);
}

REACTOR_LOOP_TEST(refusals) {
    const auto a = loop.create_promise<int>();
    EventLoop other;
    BOOST_CHECK_THROW(as_completed(Some{a, Promise<int>()}), StateError);
    BOOST_CHECK_THROW(as_completed(Some{a, other.create_promise<int>()}), std::invalid_argument);
    loop.close();
    BOOST_CHECK_THROW(as_completed(Some{a}), StateError);
}

REACTOR_LOOP_TEST(a_dropped_promise_is_told_to_a_result_that_nobody_holds) {
    auto a = loop.create_promise<int>();
    const auto b = loop.create_promise<int>();
    std::string log;
    for (const auto& result : as_completed(Some{a, b})) {
        result.add_done_callback(
            [&log](const Promise<int>& done) { log += done.exception() ? "broken " : "value "; });
    }
    a = Promise<int>();
    loop.run_iterations(2);
    b.set_result(1);
    loop.run_iterations(3);
    BOOST_TEST(log == "broken value ");
}

BOOST_AUTO_TEST_SUITE_END()
