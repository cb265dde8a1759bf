// SPDX-License-Identifier: BSL-1.0
#include <reactor/timeout.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>

#include "limited.hpp"

namespace {

using namespace task_test;
using reactor::Timeout;
using reactor::TimeoutError;

}  // namespace

BOOST_AUTO_TEST_SUITE(timeout)

REACTOR_LOOP_TEST_IN(TaskFixture, TO_01_time_up_fails_the_task_with_timeout_error) {
    const auto begin = clock.now();
    auto task = loop.create_task<Limited>(
        [this](Limited& t) {
            t.limit.enter(milliseconds(10));
            return t.wait(after(seconds(10)));
        },
        leave_and_finish);
    iterate();
    advance(milliseconds(9));
    BOOST_TEST(!task.done());
    advance(milliseconds(1));
    BOOST_TEST(throws<TimeoutError>([&] { task.result(); }));
    BOOST_TEST(!task.cancelled());
    BOOST_TEST(task.cancelling() == 0u);
    BOOST_TEST((clock.now() - begin == milliseconds(10)));
    run_until_idle();
}

REACTOR_LOOP_TEST_IN(TaskFixture, TO_01_leave_in_a_clause_tells_whose_cancellation_it_was) {
    bool mine = false;
    bool expired = false;
    auto task = loop.create_task<Limited>(
        [this](Limited& t) {
            t.limit.enter(milliseconds(10));
            return t.wait(after(seconds(10)));
        },
        leave_and_finish,
        [&](Limited& t, const CancelledError&) -> Next {
            expired = t.limit.expired();
            mine = t.limit.leave();
            BOOST_TEST(t.cancelling() == 0u);
            BOOST_TEST(t.limit.expired());
            return t.finish(5);
        });
    run_until_idle();
    BOOST_TEST(task.result() == 5);
    BOOST_TEST(mine);
    BOOST_TEST(expired);
}

REACTOR_LOOP_TEST_IN(TaskFixture, TO_02_left_in_time_it_has_no_effect) {
    reactor::TimePoint deadline;
    auto task = loop.create_task<Limited>(
        [this](Limited& t) {
            t.limit.enter(seconds(10));
            return t.wait(after(milliseconds(10)));
        },
        [&](Limited& t) {
            BOOST_TEST(!t.limit.leave());
            BOOST_TEST(!t.limit.expired());
            deadline = t.limit.when();
            return t.wait(after(seconds(20)));
        });
    const auto begin = clock.now();
    iterate();
    advance(milliseconds(10));
    BOOST_TEST((deadline - begin == seconds(10)));
    BOOST_TEST(loop.timer_count() == 1u);  // the sleep's; the limit's is cancelled
    advance(seconds(11));
    BOOST_TEST(!task.done());
    task.cancel();
    run_until_idle();
    BOOST_TEST(task.cancelled());
}

REACTOR_LOOP_TEST_IN(TaskFixture, TO_02_without_deadline_it_never_fires) {
    auto task = loop.create_task<Limited>(
        [this](Limited& t) {
            t.limit.enter(reactor::forever());
            BOOST_TEST((t.limit.when() == reactor::never()));
            BOOST_TEST(loop.timer_count() == 0u);
            return t.wait(after(seconds(100000)));
        },
        leave_and_finish);
    run_until_idle();
    BOOST_TEST(task.result() == 1);
}

REACTOR_LOOP_TEST_IN(TaskFixture, TO_03_a_deadline_that_has_passed_is_over_in_the_next_iteration) {
    auto yields = loop.create_task<Limited>(
        [](Limited& t) {
            t.limit.enter(seconds(0));
            BOOST_TEST(!t.limit.expired());
            return t.take_turn();
        },
        leave_and_finish);
    auto leaves = loop.create_task<Limited>(
        [](Limited& t) {
            t.limit.enter_at(reactor::TimePoint());
            BOOST_TEST(!t.limit.leave());
            BOOST_TEST(!t.limit.expired());
            return t.finish(2);
        },
        leave_and_finish);
    iterate();
    BOOST_TEST(leaves.result() == 2);
    BOOST_TEST(!yields.done());
    iterate();
    BOOST_TEST(throws<TimeoutError>([&] { yields.result(); }));
}

REACTOR_LOOP_TEST_IN(TaskFixture, TO_07_nested_limits_with_one_deadline) {
    bool inner_was_mine = true;
    bool both = false;
    auto task = loop.create_task<Limited>(
        [this](Limited& t) {
            t.limit.enter(seconds(1));
            t.inner.enter(seconds(1));
            return t.wait(after(seconds(9)));
        },
        leave_and_finish,
        [&](Limited& t, const CancelledError&) -> Next {
            both = t.limit.expired() && t.inner.expired();
            inner_was_mine = t.inner.leave();
            throw;
        });
    run_until_idle();
    BOOST_TEST(both);
    BOOST_TEST(!inner_was_mine);
    BOOST_TEST(throws<TimeoutError>([&] { task.result(); }));
    BOOST_TEST(task.cancelling() == 0u);
}

REACTOR_LOOP_TEST_IN(TaskFixture, TO_08_reschedule_moves_the_deadline) {
    Limited* machine = nullptr;
    auto task = loop.create_task<Limited>(
        [&](Limited& t) {
            machine = &t;
            t.limit.enter(seconds(1));
            return t.wait(after(seconds(100)));
        },
        leave_and_finish);
    iterate();
    const auto begin = clock.now();
    machine->limit.reschedule_at(begin + seconds(5));
    BOOST_TEST((machine->limit.when() == begin + seconds(5)));
    advance(seconds(2));
    machine->limit.reschedule(reactor::forever());
    BOOST_TEST((machine->limit.when() == reactor::never()));
    advance(seconds(10));
    BOOST_TEST(!task.done());
    machine->limit.reschedule(seconds(-1));
    BOOST_TEST(!machine->limit.expired());
    iterate();
    BOOST_TEST(machine->limit.expired());
    settle();
    BOOST_TEST(throws<TimeoutError>([&] { task.result(); }));
    run_until_idle();
}

REACTOR_LOOP_TEST_IN(TaskFixture, TO_09_wrong_uses_throw_state_error) {
    using reactor::StateError;
    Timeout outside;
    BOOST_TEST(throws<StateError>([&] { outside.enter(seconds(1)); }));
    BOOST_TEST(throws<StateError>([&] { outside.leave(); }));
    Limited* machine = nullptr;
    auto task = loop.create_task<Limited>(
        [&](Limited& t) {
            machine = &t;
            BOOST_TEST(throws<StateError>([&] { t.limit.reschedule(seconds(1)); }));
            t.limit.enter(seconds(1));
            BOOST_TEST(throws<StateError>([&] { t.limit.enter(seconds(1)); }));
            return t.wait(after(seconds(10)));
        },
        leave_and_finish,
        [](Limited& t, const CancelledError&) {
            BOOST_TEST(throws<StateError>([&] { t.limit.reschedule(seconds(1)); }));
            BOOST_TEST(t.limit.leave());
            BOOST_TEST(throws<StateError>([&] { t.limit.leave(); }));
            BOOST_TEST(throws<StateError>([&] { t.limit.reschedule(seconds(1)); }));
            return t.finish(1);
        });
    iterate();
    BOOST_TEST(throws<StateError>([&] { machine->limit.leave(); }));
    run_until_idle();
    BOOST_TEST(task.result() == 1);

    auto in_time = loop.create_task<Limited>(
        [](Limited& t) {
            t.limit.enter(seconds(1));
            BOOST_TEST(!t.limit.leave());
            BOOST_TEST(throws<StateError>([&] { t.limit.leave(); }));
            BOOST_TEST(throws<StateError>([&] { t.limit.reschedule(seconds(1)); }));
            return t.finish(2);
        },
        leave_and_finish);
    run_until_idle();
    BOOST_TEST(in_time.result() == 2);
}

BOOST_FIXTURE_TEST_CASE(a_member_is_entered_again_once_left, TaskFixture) {
    int rounds = 0;
    auto task = loop.create_task<Limited>(
        [&](Limited& t) {
            t.limit.enter(seconds(2));
            return t.wait(after(seconds(1)));
        },
        [&](Limited& t) {
            t.limit.leave();
            if (++rounds == 3) return t.finish(rounds);
            t.limit.enter(seconds(2));
            return t.wait(after(seconds(rounds == 2 ? 5 : 1)));
        });
    run_until_idle();
    BOOST_TEST(throws<TimeoutError>([&] { task.result(); }));
    BOOST_TEST(rounds == 2);
}

BOOST_FIXTURE_TEST_CASE(a_limit_ends_with_its_task, TaskFixture) {
    auto shared = std::make_shared<Timeout>();
    auto promise = loop.create_promise<int>();
    loop.create_task<Script>([&promise, shared](Script& s) {
        shared->enter(seconds(1));
        return s.value_of(promise);
    });
    iterate();
    BOOST_TEST(shared->active());
    promise = Promise<int>();  // the task goes with it
    BOOST_TEST(!shared->active());
    BOOST_TEST(loop.timer_count() == 0u);
    BOOST_TEST(take_reports().size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
