// SPDX-License-Identifier: BSL-1.0
#include <reactor/wait.hpp>

#include <boost/test/unit_test.hpp>

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <reactor/combinators.hpp>
#include <reactor/task.hpp>
#include <test/support/loop_test.hpp>

namespace {

using reactor::AnyPromise;
using reactor::EventLoop;
using reactor::Promise;
using reactor::ReturnWhen;
using reactor::StateError;
using reactor::wait;
using support::milliseconds;
using support::seconds;

using Some = std::vector<Promise<int>>;

bool has_callback(const AnyPromise& promise) {
    return reactor::detail::PromiseAccess::state(promise)->first != nullptr;
}

/// A task that waits for what it is given.
class Waits : public reactor::Task<int> {
public:
    explicit Waits(Promise<int> promise) : promise_(std::move(promise)) {}

private:
    Next start() override { return await(promise_, &Waits::done); }
    Next done(int value) { return finish(value); }

    Promise<int> promise_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(wait_for_some)

REACTOR_LOOP_TEST(W_01_all_completed) {
    const auto a = loop.create_promise<int>();
    auto b = loop.create_promise<int>();
    const auto c = loop.create_promise<int>();
    auto all = wait(Some{a, b, c});
    a.set_result(1);
    b.set_exception(std::runtime_error("unread"));
    loop.run_iterations(2);
    BOOST_TEST(!all.done());
    c.cancel();
    loop.run_iterations(1);
    BOOST_TEST((all.result().done == Some{a, b, c}));
    BOOST_TEST(all.result().pending.empty());
    all = Promise<reactor::WaitResult<Promise<int>>>();
    b = Promise<int>();
    expect_report("Promise exception was never retrieved");
}

REACTOR_LOOP_TEST(W_02_first_completed_with_all_that_is_done_by_then) {
    const auto a = loop.create_promise<int>();
    const auto b = loop.create_promise<int>();
    const auto c = loop.create_promise<int>();
    const auto first = wait(Some{c, b, a}, ReturnWhen::first_completed);
    loop.call_soon([&] {
        a.set_result(1);
        b.set_result(2);
    });
    loop.run_iterations(1);
    BOOST_TEST(!first.done());
    loop.run_iterations(1);
    BOOST_TEST((first.result().done == Some{b, a}));
    BOOST_TEST((first.result().pending == Some{c}));
    BOOST_TEST(!has_callback(c));
}

REACTOR_LOOP_TEST(W_02_first_exception_and_a_cancellation_is_none) {
    const auto a = loop.create_promise<int>();
    const auto b = loop.create_promise<int>();
    const auto c = loop.create_promise<int>();
    const auto first = wait(Some{a, b, c}, ReturnWhen::first_exception);
    const auto none = wait(Some{a, c}, ReturnWhen::first_exception);
    a.cancel();
    loop.run_until_idle();
    BOOST_TEST(!first.done());
    b.set_exception(std::runtime_error("b"));
    loop.run_iterations(1);
    BOOST_TEST((first.result().done == Some{a, b}));
    BOOST_TEST((first.result().pending == Some{c}));
    c.set_result(3);
    loop.run_iterations(1);
    BOOST_TEST((none.result().done == Some{a, c}));
    BOOST_CHECK_THROW(b.result(), std::runtime_error);
}

REACTOR_LOOP_TEST(W_03_time_out_is_no_error) {
    const auto a = loop.create_promise<int>();
    const auto b = loop.create_promise<int>();
    const auto waited = wait(Some{a, b}, seconds(2));
    BOOST_TEST(has_callback(b));
    a.set_result(1);
    loop.run_for(seconds(2) - reactor::Duration(1));
    BOOST_TEST(!waited.done());
    loop.run_for(reactor::Duration(1));
    BOOST_TEST((waited.result().done == Some{a}));
    BOOST_TEST((waited.result().pending == Some{b}));
    BOOST_TEST(!b.done());
    BOOST_TEST(!has_callback(b));

    // In time: nothing is left of the limit.
    const auto in_time = wait(Some{a, b}, seconds(2));
    b.set_result(2);
    loop.run_iterations(1);
    BOOST_TEST(in_time.result().pending.empty());
    BOOST_TEST(loop.timer_count() == 0u);
}

REACTOR_LOOP_TEST(W_04_nothing_and_the_same_several_times) {
    BOOST_CHECK_THROW(wait(Some()), std::invalid_argument);
    BOOST_CHECK_THROW(wait(Some(), seconds(1)), std::invalid_argument);
    const auto a = loop.create_promise<int>();
    const auto b = loop.create_promise<int>();
    const auto waited = wait(Some{a, b, a, b, b}, ReturnWhen::first_completed);
    b.set_result(1);
    loop.run_iterations(1);
    BOOST_TEST((waited.result().done == Some{b}));
    BOOST_TEST((waited.result().pending == Some{a}));
}

REACTOR_LOOP_TEST(W_05_cancel_reaches_the_wait_alone) {
    const auto x = loop.create_promise<int>();
    const auto waited = wait(Some{x}, seconds(1));
    BOOST_TEST(waited.cancel("m"));
    BOOST_TEST(waited.cancelled());
    BOOST_TEST(!waited.cancel());
    BOOST_TEST(!x.done());
    BOOST_TEST(!has_callback(x));
    BOOST_TEST(loop.timer_count() == 0u);
    loop.run_iterations(2);
    x.set_result(1);
    loop.run_iterations(1);
    BOOST_TEST(waited.cancelled());

    // Through a task that waits for it.
    const auto y = loop.create_promise<int>();
    const auto follower = wait(Some{y}).then([] {});
    BOOST_TEST(follower.cancel());
    loop.run_iterations(1);
    BOOST_TEST(follower.cancelled());
    BOOST_TEST(!y.done());
    BOOST_TEST(!has_callback(y));
}

REACTOR_LOOP_TEST(W_06_no_time_at_all) {
    const auto x = loop.create_promise<int>();
    const auto y = loop.create_promise<int>();
    y.set_result(1);
    for (const auto limit : {milliseconds(0), milliseconds(-5)}) {
        const auto waited = wait(Some{x, y}, limit);
        loop.run_iterations(2);
        BOOST_TEST((waited.result().done == Some{y}));
        BOOST_TEST((waited.result().pending == Some{x}));
    }
}

REACTOR_LOOP_TEST(what_has_come_already_is_given_at_once) {
    const auto a = loop.create_promise<int>();
    const auto b = loop.create_promise<int>();
    const auto c = loop.create_promise<int>();
    a.set_result(1);
    b.set_exception(std::runtime_error("b"));
    BOOST_TEST((wait(Some{a, b}).result().done == Some{a, b}));
    const auto first = wait(Some{c, a}, ReturnWhen::first_completed);
    BOOST_TEST((first.result().pending == Some{c}));
    BOOST_TEST(wait(Some{c, b}, ReturnWhen::first_exception).done());
    BOOST_TEST(!has_callback(c));
    const auto not_yet = wait(Some{c, a}, ReturnWhen::first_exception);
    BOOST_TEST(!not_yet.done());
    BOOST_TEST(not_yet.cancel());
    BOOST_CHECK_THROW(b.result(), std::runtime_error);
}

REACTOR_LOOP_TEST(promises_of_several_types_and_tasks) {
    const auto number = loop.create_promise<int>();
    const auto text = loop.create_promise<std::string>();
    const auto any = wait(std::vector<AnyPromise>{number, text}, ReturnWhen::first_completed);
    text.set_result("t");
    loop.run_iterations(1);
    BOOST_TEST((any.result().done == std::vector<AnyPromise>{text}));

    // Handles that nobody else holds come back, to be cancelled.
    std::vector<reactor::TaskHandle<int>> tasks{loop.create_task<Waits>(number)};
    const auto late = wait(std::move(tasks), seconds(1));
    loop.run_for(seconds(1));
    BOOST_REQUIRE(late.result().pending.size() == 1u);
    BOOST_TEST(late.result().pending[0].state() == "start");
    BOOST_TEST(late.result().pending[0].cancel());
    loop.run_until_idle();
    BOOST_TEST(late.result().pending[0].cancelled());
}

REACTOR_LOOP_TEST(refusals_name_the_call_and_the_place) {
    const auto a = loop.create_promise<int>();
    const auto message = [](const std::exception& e) { return std::string(e.what()); };
    BOOST_CHECK_EXCEPTION(wait(Some{a, Promise<int>()}), StateError, [&](const StateError& e) {
        return message(e).find("wait: promise 2 of 2 is empty") == 0;
    });
    EventLoop other;
    BOOST_CHECK_EXCEPTION(
        wait(Some{a, other.create_promise<int>()}), std::invalid_argument,
        [&](const std::exception& e) { return message(e).find("wait: promise 2 of 2") == 0; });
    const std::chrono::duration<double> nan(std::numeric_limits<double>::quiet_NaN());
    BOOST_CHECK_THROW(wait(Some{a}, nan), std::invalid_argument);
    loop.close();
    BOOST_CHECK_THROW(wait(Some{a}), StateError);
}

BOOST_AUTO_TEST_SUITE_END()
