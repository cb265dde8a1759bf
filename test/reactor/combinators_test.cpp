// SPDX-License-Identifier: BSL-1.0
#include <reactor/combinators.hpp>

#include <boost/test/unit_test.hpp>

#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

using reactor::BrokenPromise;
using reactor::EventLoop;
using reactor::gather;
using reactor::Promise;
using reactor::Report;
using reactor::StateError;

namespace {

struct Fixture {
    Fixture() {
        loop.set_exception_handler(
            [this](EventLoop&, const Report& report) { reports.push_back(report); });
    }
    void turn(int n = 1) {
        for (int i = 0; i < n; ++i) loop.run_once(reactor::Duration::zero());
    }
    Promise<int> pending() { return loop.create_promise<int>(); }

    std::vector<Report> reports;
    EventLoop loop;
};

}  // namespace

// Whose the values are, and what is left of a gather. What it does: gather_test.
BOOST_FIXTURE_TEST_SUITE(gathering, Fixture)

BOOST_AUTO_TEST_CASE(values_are_moved_if_nobody_else_can_read_them) {
    std::vector<Promise<std::unique_ptr<int>>> many;
    std::vector<int*> values;
    for (int i = 0; i < 3; ++i) {
        many.push_back(loop.create_promise<std::unique_ptr<int>>());
        values.push_back(new int(i));
    }
    const auto all = gather(many);
    for (std::size_t i = 0; i < 3; ++i) many[i].set_result(values[i]);
    turn();
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(all.result()[i].get() == values[i]);

    auto text = loop.create_promise<std::string>();
    auto done = loop.create_promise<std::string>();
    text.set_result(std::string(100, 't'));
    const char* const before = text.result().data();
    const auto at_call = gather(std::move(text));
    BOOST_TEST(static_cast<const void*>(std::get<0>(at_call.result()).data()) == before);
    const auto later = gather(done);
    done.set_result(std::string(100, 'd'));
    const char* const there = done.result().data();
    done = Promise<std::string>();
    turn();
    BOOST_TEST(static_cast<const void*>(std::get<0>(later.result()).data()) == there);
}

BOOST_AUTO_TEST_CASE(a_child_dropped_while_pending_breaks_the_result) {
    auto a = pending();
    const auto b = pending();
    const auto held = gather(a, b);
    gather(a, b);  // held by nobody
    b.set_result(1);
    turn();
    a = Promise<int>();
    BOOST_CHECK_THROW(held.result(), BrokenPromise);
    BOOST_CHECK_THROW(gather(pending()).result(), BrokenPromise);
    BOOST_TEST(reports.empty());
}

BOOST_AUTO_TEST_CASE(nothing_is_left_of_a_gather_that_was_given_up) {
    const std::size_t before = loop.core().live();
    {
        const auto a = pending();
        gather(a, pending(), a);
        const auto all = gather(a, a);
        BOOST_TEST(all.cancel());
    }
    turn(2);
    BOOST_TEST(loop.core().live() == before);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(sleeping, Fixture)

BOOST_AUTO_TEST_CASE(sleep_is_done_after_its_delay_and_nobody_has_to_hold_it) {
    bool rested = false;
    reactor::sleep(loop, std::chrono::milliseconds(1)).then([&] { rested = true; });
    loop.run_until_complete(reactor::sleep(loop, std::chrono::milliseconds(2)));
    BOOST_TEST(rested);
    loop.call_soon([&] {
        const auto here = reactor::sleep(std::chrono::milliseconds(0));
        BOOST_TEST(&here.loop() == &loop);
    });
    turn();
    BOOST_CHECK_THROW(reactor::sleep(std::chrono::seconds(1)), StateError);
}

BOOST_AUTO_TEST_CASE(cancelling_a_sleep_cancels_its_timer) {
    const auto nap = reactor::sleep(loop, std::chrono::hours(1));
    const auto follower = nap.then([] {});
    BOOST_TEST(loop.timer_count() == 1u);
    BOOST_TEST(follower.cancel());
    BOOST_TEST(nap.cancelled());
    BOOST_TEST(loop.timer_count() == 0u);
    turn();
    BOOST_TEST(follower.cancelled());
}

BOOST_AUTO_TEST_CASE(odd_delays) {
    using Seconds = std::chrono::duration<double>;
    BOOST_CHECK_THROW(reactor::sleep(loop, Seconds(std::numeric_limits<double>::quiet_NaN())),
                      std::invalid_argument);
    const auto never = reactor::sleep(loop, Seconds(std::numeric_limits<double>::infinity()));
    loop.run_until_complete(reactor::sleep(loop, Seconds(-5)));
    BOOST_TEST(!never.done());
    const auto early = reactor::sleep(loop, std::chrono::hours(1));
    early.set_result();  // whoever completes it by hand leaves only its timer to come to nothing
    BOOST_TEST(never.cancel());
    loop.close();
    BOOST_CHECK_THROW(reactor::sleep(loop, Seconds(1)), StateError);
}

BOOST_AUTO_TEST_CASE(a_sleep_may_outlive_its_loop) {
    Promise<void> nap;
    {
        EventLoop own;
        nap = reactor::sleep(own, std::chrono::hours(1));
    }
    BOOST_TEST(!nap.done());
    BOOST_TEST(nap.cancel());
    BOOST_TEST(nap.cancelled());
}

BOOST_AUTO_TEST_SUITE_END()
