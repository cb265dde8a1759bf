// SPDX-License-Identifier: BSL-1.0
#include <reactor/timeout.hpp>

#include <boost/test/unit_test.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "task_fixture.hpp"

namespace {

using namespace task_test;
using reactor::Timeout;
using reactor::TimeoutError;

/// A task with two limits, of which the test decides what happens where.
class Limited : public Task<int> {
public:
    using Do = std::function<Next(Limited&)>;
    using Caught = std::function<Next(Limited&, const CancelledError&)>;

    Limited(Do begin, Do then, Caught caught = nullptr)
        : begin_(std::move(begin)), then_(std::move(then)), caught_(std::move(caught)) {}

    Next wait(Promise<void> promise) {
        if (caught_) return await(std::move(promise), &Limited::next, &Limited::caught);
        return await(std::move(promise), &Limited::next);
    }
    Next take_turn() { return yield(&Limited::next); }

    using Task<int>::cancel;
    using Task<int>::cancelling;
    using Task<int>::finish;

    Timeout limit;
    Timeout inner;

private:
    Next start() override { return begin_(*this); }
    Next next() { return then_(*this); }
    Next caught(const CancelledError& e) {
        const Caught caught = std::move(caught_);
        caught_ = nullptr;
        return caught(*this, e);
    }

    Do begin_;
    Do then_;
    Caught caught_;
};

Next leave_and_finish(Limited& t) {
    t.limit.leave();
    return t.finish(1);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(timeout, TaskFixture)

BOOST_AUTO_TEST_CASE(time_up_fails_the_task_with_timeout_error) {  // TO-01
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

BOOST_AUTO_TEST_CASE(leave_in_a_clause_tells_whose_cancellation_it_was) {  // TO-01
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

BOOST_AUTO_TEST_CASE(left_in_time_it_has_no_effect) {  // TO-02
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
    task.cancel();
    run_until_idle();
    BOOST_TEST(task.cancelled());
}

BOOST_AUTO_TEST_CASE(without_deadline_it_never_fires) {  // TO-02
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

BOOST_AUTO_TEST_CASE(a_deadline_that_has_passed_is_over_in_the_next_iteration) {  // TO-03
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

BOOST_AUTO_TEST_CASE(another_error_is_left_as_it_is) {  // TO-04
    auto before = loop.create_task<Limited>(
        [](Limited& t) -> Next {
            t.limit.enter(seconds(1));
            throw Fault("K");
        },
        leave_and_finish);
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
    BOOST_TEST(text_of(reaction.exception()) == "K");
    BOOST_TEST(expired);
    BOOST_TEST(reaction.cancelling() == 0u);
}

BOOST_AUTO_TEST_CASE(cancellation_from_outside_passes_through) {  // TO-05
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
    iterate();
    task.cancel("outside");
    run_until_idle();
    BOOST_TEST(task.cancelled());
}

BOOST_AUTO_TEST_CASE(cancellation_from_outside_wins_over_the_limit) {  // TO-06, D5
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

BOOST_AUTO_TEST_CASE(expiry_and_value_in_one_pass_have_one_outcome) {  // D5
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

BOOST_AUTO_TEST_CASE(nested_limits_with_one_deadline) {  // TO-07
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

BOOST_AUTO_TEST_CASE(reschedule_moves_the_deadline) {  // TO-08
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

BOOST_AUTO_TEST_CASE(wrong_uses_throw_state_error) {  // TO-09
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
}

BOOST_AUTO_TEST_CASE(a_member_is_entered_again_once_left) {
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

BOOST_AUTO_TEST_CASE(a_cancellation_caught_before_is_not_the_limits) {  // TO-10
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

BOOST_AUTO_TEST_CASE(a_limit_ends_with_its_task) {
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
