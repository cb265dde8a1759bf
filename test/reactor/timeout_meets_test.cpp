// SPDX-License-Identifier: BSL-1.0
#include <reactor/timeout.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <utility>

#include "limited.hpp"

namespace {

using namespace task_test;
using reactor::Timeout;
using reactor::TimeoutError;

}  // namespace

// The limit's expiry meets other errors and cancellations.
BOOST_AUTO_TEST_SUITE(timeout_meets)

REACTOR_LOOP_TEST_IN(TaskFixture, TO_04_another_error_is_left_as_it_is) {
    auto limit = std::make_shared<Timeout>();  // outlives its task, to be asked
    auto before = loop.create_task<Script>([limit](Script&) -> Next {
        limit->enter(seconds(1));
        throw Fault("K");
    });
    bool expired = false;
    auto reaction = loop.create_task<Limited>(
        [this](Limited& t) {
            t.limit.enter(milliseconds(10));
            return t.wait(after(seconds(9)));
        },
        leave_and_finish,
        [&](Limited& t, const CancelledError&) -> Next {
            expired = t.limit.expired();
            throw Fault("K");
        });
    run_until_idle();
    BOOST_TEST(text_of(before.exception()) == "K");
    BOOST_TEST(!limit->expired());
    BOOST_TEST(!limit->active());
    BOOST_TEST(text_of(reaction.exception()) == "K");
    BOOST_TEST(expired);
    BOOST_TEST(reaction.cancelling() == 0u);
}

REACTOR_LOOP_TEST_IN(TaskFixture, TO_05_cancellation_from_outside_passes_through) {
    auto task = loop.create_task<Limited>(
        [this](Limited& t) {
            t.limit.enter(seconds(10));
            return t.wait(after(seconds(20)));
        },
        leave_and_finish,
        [](Limited& t, const CancelledError&) -> Next {
            BOOST_TEST(!t.limit.expired());
            BOOST_TEST(!t.limit.leave());
            throw;
        });
    auto by_itself = loop.create_task<Limited>(
        [this](Limited& t) {
            t.limit.enter(seconds(10));
            t.cancel("inside");
            return t.wait(after(seconds(20)));
        },
        leave_and_finish,
        [](Limited& t, const CancelledError& e) -> Next {
            BOOST_TEST(e.message() == "inside");
            BOOST_TEST(!t.limit.expired());
            throw;
        });
    iterate();
    task.cancel("outside");
    run_until_idle();
    BOOST_TEST(task.cancelled());
    BOOST_TEST(by_itself.cancelled());
}

REACTOR_LOOP_TEST_IN(TaskFixture, TO_06_cancellation_from_outside_wins_over_the_limit) {
    bool expired = false;
    auto task = loop.create_task<Limited>(
        [this](Limited& t) {
            t.limit.enter(milliseconds(10));
            return t.wait(after(seconds(10)));
        },
        leave_and_finish,
        [&](Limited& t, const CancelledError&) -> Next {
            expired = t.limit.expired();
            throw;
        });
    iterate();
    loop.call_later(milliseconds(10), [&] { task.cancel(); });
    advance(milliseconds(10));
    BOOST_TEST(task.cancelled());
    BOOST_TEST(task.cancelling() == 1u);
    BOOST_TEST(expired);
    run_until_idle();
}

BOOST_FIXTURE_TEST_CASE(expiry_and_value_in_one_pass_have_one_outcome, TaskFixture) {  // D5
    auto witness = std::make_shared<int>(1);
    const std::weak_ptr<int> alive = witness;
    class Machine : public Task<int> {
    public:
        explicit Machine(Promise<std::shared_ptr<int>> promise) : promise_(std::move(promise)) {}

    private:
        Next start() override {
            limit_.enter(milliseconds(10));
            return await(std::move(promise_), &Machine::got);
        }
        Next got(std::shared_ptr<int> value) { return finish(*value); }
        Promise<std::shared_ptr<int>> promise_;
        Timeout limit_;
    };
    for (const bool value_first : {true, false}) {
        auto promise = loop.create_promise<std::shared_ptr<int>>();
        loop.call_later(milliseconds(value_first ? 9 : 11), [promise, witness] {
            if (!promise.done()) promise.set_result(witness);
        });
        auto task = loop.create_task<Machine>(std::move(promise));
        iterate();
        advance(milliseconds(20));  // both are due
        // The limit is up before the task has seen the value: it counts.
        BOOST_TEST(throws<TimeoutError>([&] { task.result(); }));
    }
    witness.reset();
    BOOST_TEST(alive.expired());
    BOOST_TEST(loop.timer_count() == 0u);
}

REACTOR_LOOP_TEST_IN(TaskFixture, TO_10_a_cancellation_caught_before_is_not_the_limits) {
    auto expires = loop.create_task<Limited>(
        [this](Limited& t) { return t.wait(after(seconds(1))); }, leave_and_finish,
        [this](Limited& t, const CancelledError&) {
            t.limit.enter(seconds(0));
            return t.wait(after(seconds(5)));
        });
    auto cancelled = loop.create_task<Limited>(
        [this](Limited& t) { return t.wait(after(seconds(1))); }, leave_and_finish,
        [this](Limited& t, const CancelledError&) {
            t.limit.enter(seconds(1));
            return t.wait(after(seconds(5)));
        });
    iterate();
    expires.cancel();
    cancelled.cancel();
    settle();
    cancelled.cancel();
    run_until_idle();
    BOOST_TEST(throws<TimeoutError>([&] { expires.result(); }));
    BOOST_TEST(expires.cancelling() == 1u);
    BOOST_TEST(cancelled.cancelled());
}

BOOST_AUTO_TEST_SUITE_END()
