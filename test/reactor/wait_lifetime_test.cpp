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
    const std::size_t before = loop.core().live();
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
    BOOST_TEST(loop.core().live() == before);
}

// What waits again and again for something that lasts, such as the program's end, must not grow it.
REACTOR_LOOP_TEST(a_thousand_waits_leave_no_callback_on_what_lasts) {
    const auto lasts = loop.create_promise<int>();
    const std::size_t before = loop.core().live();
    for (int i = 0; i < 1000; ++i) {
        const auto now = loop.create_promise<int>();
        const auto waited = wait(Some{lasts, now}, seconds(1), ReturnWhen::first_completed);
        now.set_result(i);
        loop.run_iterations(1);
        BOOST_REQUIRE(waited.done());
    }
    BOOST_TEST(loop.core().live() == before);
}

// What each of them costs must not grow with how many wait: else this would take minutes.
REACTOR_LOOP_TEST(many_waits_for_one_promise_end_before_it) {
    constexpr int count = 100000;
    const auto common = loop.create_promise<int>();
    const std::size_t before = loop.core().live();
    std::vector<Promise<WaitResult<Promise<int>>>> waits;
    for (int i = 0; i < count; ++i) {
        waits.push_back(wait(Some{common}, seconds(1 + i % 100)));
    }
    for (int i = 0; i < count; ++i) {
        if (i % 10 == 9) BOOST_TEST_REQUIRE(waits[static_cast<std::size_t>(i)].cancel());
    }
    loop.run_for(seconds(100));
    for (const auto& ended : waits) BOOST_TEST_REQUIRE(ended.done());
    waits.clear();
    loop.run_until_idle();
    BOOST_TEST(loop.core().live() == before);
    BOOST_TEST(!common.done());
}

REACTOR_LOOP_TEST(those_that_still_wait_are_called_in_order) {
    const auto common = loop.create_promise<int>();
    std::vector<Promise<WaitResult<Promise<int>>>> waits;
    for (int i = 0; i < 6; ++i) {
        common.add_done_callback([this, i](const Promise<int>&) { say(std::to_string(i))(); });
        waits.push_back(wait(Some{common}));
        waits.back().add_done_callback([this, i](const Promise<WaitResult<Promise<int>>>& done) {
            if (!done.cancelled()) say("w" + std::to_string(i))();
        });
    }
    for (const std::size_t gone : {1u, 2u, 3u, 5u}) BOOST_TEST(waits[gone].cancel());
    BOOST_TEST(!waits[1].cancel());
    common.set_result(1);
    loop.run_until_idle();
    BOOST_TEST(heard() == "0 1 2 3 4 5 w0 w4");
}

BOOST_AUTO_TEST_SUITE_END()
