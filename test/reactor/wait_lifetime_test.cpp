// SPDX-License-Identifier: BSL-1.0
#include <reactor/wait.hpp>

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <test/support/loop_test.hpp>

namespace {

using reactor::BrokenPromise;
using reactor::Promise;
using reactor::ReturnWhen;
using reactor::wait;
using reactor::WaitResult;
using support::seconds;

using Some = std::vector<Promise<int>>;

}  // namespace

BOOST_AUTO_TEST_SUITE(what_a_wait_leaves)

REACTOR_LOOP_TEST(a_promise_dropped_while_pending_breaks_the_wait) {
    auto a = loop.create_promise<int>();
    const auto b = loop.create_promise<int>();
    const auto held = wait(Some{a, b}, seconds(1), ReturnWhen::first_completed);
    const auto follower = wait(Some{a, b}, ReturnWhen::first_completed).then([] {});
    wait(Some{a, b}, ReturnWhen::first_completed);  // of nobody
    a = Promise<int>();
    BOOST_CHECK_THROW(held.result(), BrokenPromise);
    loop.run_iterations(1);
    BOOST_CHECK_THROW(follower.result(), BrokenPromise);
    BOOST_TEST(loop.timer_count() == 0u);
    b.set_result(1);
    loop.run_iterations(1);
    Some last(1, loop.create_promise<int>());
    BOOST_CHECK_THROW(wait(std::move(last)).result(), BrokenPromise);
}

REACTOR_LOOP_TEST(a_wait_that_its_loop_leaves_behind_holds_nothing) {
    const std::size_t before = loop.core().live;
    Promise<WaitResult<Promise<int>>> waited;
    {
        const auto value = std::make_shared<int>();
        const auto a = loop.create_promise<int>();
        const auto b = loop.create_promise<int>();
        waited = wait(Some{a, b}, seconds(5));
        a.set_result(1);
        loop.run_iterations(1);
        waited.then([value] {});
        loop.close();
        BOOST_TEST(value.use_count() == 1);
        b.set_result(2);
    }
    waited = Promise<WaitResult<Promise<int>>>();
    BOOST_TEST(loop.core().live == before);
}

// What waits again and again for something that lasts, such as the program's end, must not grow it.
REACTOR_LOOP_TEST(a_thousand_waits_leave_no_callback_on_what_lasts) {
    const auto lasts = loop.create_promise<int>();
    const std::size_t before = loop.core().live;
    for (int i = 0; i < 1000; ++i) {
        const auto now = loop.create_promise<int>();
        const auto waited = wait(Some{lasts, now}, seconds(1), ReturnWhen::first_completed);
        now.set_result(i);
        loop.run_iterations(1);
        BOOST_REQUIRE(waited.done());
    }
    BOOST_TEST(loop.core().live == before);
}

BOOST_AUTO_TEST_SUITE_END()
