// SPDX-License-Identifier: BSL-1.0
#include <reactor/task.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>

#include "task_fixture.hpp"

namespace {

using namespace task_test;

std::string message_of(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const CancelledError& cancelled) {
        return cancelled.message();
    } catch (...) {
        return "no cancellation";
    }
}

/// Waits for `first`; on whatever comes of it does what the test says.
Next finish_with_result(Script& s, Promise<int> done) { return s.finish(done.result()); }

}  // namespace

BOOST_AUTO_TEST_SUITE(task_cancel)

REACTOR_LOOP_TEST_IN(TaskFixture, T_08_before_the_first_step_no_code_of_the_machine_runs) {
    bool ran = false;
    class Machine : public Task<int> {
    public:
        explicit Machine(bool& ran) : ran_(ran) {}

    private:
        Next start() override {
            ran_ = true;
            return finish(1);
        }
        Next finally() override {
            ran_ = true;
            return end();
        }
        bool& ran_;
    };
    auto task = loop.create_task<Machine>(ran);
    BOOST_TEST(task.cancel("m"));
    BOOST_TEST(!task.cancelled());
    BOOST_TEST(!task.done());
    iterate();
    BOOST_TEST(task.cancelled());
    BOOST_TEST(!ran);
    BOOST_TEST(message_of(task.error()) == "m");
}

REACTOR_LOOP_TEST_IN(TaskFixture, T_09_reaches_the_awaited_promise_at_once) {
    auto promise = loop.create_promise<int>();
    auto task = loop.create_task<Script>([&](Script& s) { return s.value_of(promise); });
    iterate();
    BOOST_TEST(task.cancel("why"));
    BOOST_TEST(promise.cancelled());
    BOOST_TEST(!task.done());
    iterate();
    BOOST_TEST(task.cancelled());
    BOOST_TEST(message_of(task.error()) == "why");
    BOOST_TEST(!task.cancel());
    BOOST_TEST(task.cancelling() == 1u);
}

REACTOR_LOOP_TEST_IN(TaskFixture, T_10_caught_it_becomes_whatever_the_state_makes_of_it) {
    auto p1 = loop.create_promise<int>();
    auto value = loop.create_task<Script>([&](Script& s) { return s.outcome_of(p1); },
                                          [](Script& s, Promise<int> done) {
                                              BOOST_TEST(done.cancelled());
                                              return s.finish(42);
                                          });
    auto p2 = loop.create_promise<int>();
    auto later = loop.create_promise<int>();
    auto goes_on = loop.create_task<Script>([&](Script& s) { return s.outcome_of(p2); },
                                            [&](Script& s, Promise<int> done) {
                                                return done.cancelled() ? s.outcome_of(later)
                                                                        : s.finish(done.result());
                                            });
    auto p3 = loop.create_promise<int>();
    auto fails = loop.create_task<Script>([&](Script& s) { return s.outcome_of(p3); },
                                          [](Script&, Promise<int>) -> Next { throw Fault("k"); });
    iterate();
    value.cancel();
    goes_on.cancel();
    fails.cancel();
    settle();
    BOOST_TEST(value.result() == 42);
    BOOST_TEST(!goes_on.done());
    later.set_result(7);
    settle();
    BOOST_TEST(goes_on.result() == 7);
    BOOST_TEST(goes_on.cancelling() == 1u);
    BOOST_TEST(!fails.cancelled());
    BOOST_TEST(text_of(fails.exception()) == "k");
}

REACTOR_LOOP_TEST_IN(TaskFixture, T_11_two_requests_deliver_one_error) {
    auto promise = loop.create_promise<int>();
    int delivered = 0;
    int yields = 0;
    auto task = loop.create_task<Script>(
        [&](Script& s) {
            if (delivered == 0) return s.outcome_of(promise);
            return ++yields == 3 ? s.finish(1) : s.begin_again();
        },
        [&](Script& s, Promise<int> done) {
            delivered += done.cancelled() ? 1 : 0;
            return s.begin_again();
        });
    iterate();
    BOOST_TEST(task.cancel());
    BOOST_TEST(task.cancel());
    settle();
    BOOST_TEST(task.result() == 1);
    BOOST_TEST(delivered == 1);
    BOOST_TEST(task.cancelling() == 2u);
}

REACTOR_LOOP_TEST_IN(TaskFixture, T_12_after_the_value_but_before_the_step_it_wins) {
    auto promise = loop.create_promise<int>();
    bool cancelled = false;
    auto task = loop.create_task<Script>([&](Script& s) { return s.outcome_of(promise); },
                                         [&](Script& s, Promise<int> done) {
                                             cancelled = done.cancelled();
                                             return finish_with_result(s, done);
                                         });
    auto plain = loop.create_promise<int>();
    auto value_only = loop.create_task<Script>([&](Script& s) { return s.value_of(plain); });
    iterate();
    loop.call_soon([&] {
        promise.set_result(9);
        plain.set_result(9);
        BOOST_TEST(task.cancel("late"));
        BOOST_TEST(value_only.cancel());
    });
    settle();
    BOOST_TEST(cancelled);
    BOOST_TEST(task.cancelled());
    BOOST_TEST(message_of(task.error()) == "late");
    BOOST_TEST(value_only.cancelled());
    BOOST_TEST(promise.result() == 9);
}

BOOST_FIXTURE_TEST_CASE(after_a_failure_but_before_the_step_the_failure_counts_as_read,
                        TaskFixture) {
    auto promise = loop.create_promise<int>();
    auto task = loop.create_task<Script>([&](Script& s) { return s.value_of(promise); });
    iterate();
    promise.set_exception(Fault("hidden"));
    task.cancel();
    settle();
    BOOST_TEST(task.cancelled());
    promise = Promise<int>();
}

REACTOR_LOOP_TEST_IN(TaskFixture, T_13_uncancel_takes_back_what_was_not_delivered) {
    auto promise = loop.create_promise<int>();
    auto task = loop.create_task<Script>([&](Script& s) { return s.value_of(promise); });
    iterate();
    loop.call_soon([&] {
        promise.set_result(9);
        task.cancel();
        BOOST_TEST(task.uncancel() == 0u);
    });
    settle();
    BOOST_TEST(task.result() == 9);
    BOOST_TEST(task.uncancel() == 0u);

    // It counts down and stops at zero; until then the cancellation is delivered.
    auto other = loop.create_promise<int>();
    auto counted = loop.create_task<Script>([&](Script& s) { return s.value_of(other); });
    iterate();
    for (int i = 0; i < 3; ++i) counted.cancel();
    BOOST_TEST(counted.uncancel() == 2u);
    BOOST_TEST(counted.cancelling() == 2u);
    BOOST_TEST(counted.uncancel() == 1u);
    settle();
    BOOST_TEST(counted.cancelled());
    BOOST_TEST(counted.uncancel() == 0u);
    BOOST_TEST(counted.uncancel() == 0u);
}

REACTOR_LOOP_TEST_IN(TaskFixture, T_17_runs_down_the_chain_at_once_and_comes_back_step_by_step) {
    auto promise = loop.create_promise<int>();
    auto inner = loop.create_task<Script>([&](Script& s) { return s.value_of(promise); });
    auto outer = loop.create_task<Script>([&](Script& s) { return s.value_of(inner); });
    iterate();
    BOOST_TEST(outer.cancel());
    BOOST_TEST(promise.cancelled());
    iterate();
    BOOST_TEST(inner.cancelled());
    BOOST_TEST(!outer.done());
    iterate();
    BOOST_TEST(outer.cancelled());
}

REACTOR_LOOP_TEST_IN(TaskFixture, T_18_of_one_reaches_all_who_wait_for_the_same_promise) {
    auto promise = loop.create_promise<int>();
    auto a = loop.create_task<Script>([&](Script& s) { return s.value_of(promise); });
    auto b = loop.create_task<Script>([&](Script& s) { return s.value_of(promise); });
    iterate();
    a.cancel();
    settle();
    BOOST_TEST(a.cancelled());
    BOOST_TEST(b.cancelled());
    BOOST_TEST(b.cancelling() == 0u);
}

BOOST_FIXTURE_TEST_CASE(hundred_thousand_nested_tasks_need_constant_stack, TaskFixture) {
    class Nest : public Task<int> {
    public:
        Nest(int depth, Promise<int> last) : depth_(depth), last_(std::move(last)) {}

    private:
        Next start() override {
            Promise<int> last = std::move(last_);
            if (depth_ == 0) return await(std::move(last), &Nest::got);
            return await(loop().create_task<Nest>(depth_ - 1, std::move(last)), &Nest::got);
        }
        Next got(int value) { return finish(value + 1); }
        int depth_;
        Promise<int> last_;
    };
    const int depth = 100000;
    const std::size_t before = live();
    {
        auto promise = loop.create_promise<int>();
        auto task = loop.create_task<Nest>(depth, promise);
        settle();
        promise.set_result(0);
        settle();
        BOOST_TEST(task.result() == depth + 1);
    }
    {
        auto promise = loop.create_promise<int>();
        auto task = loop.create_task<Nest>(depth, promise);
        settle();
        BOOST_TEST(task.cancel());
        BOOST_TEST(promise.cancelled());
        settle();
        BOOST_TEST(task.cancelled());
    }
    std::size_t reports = 0;
    loop.set_exception_handler([&](EventLoop&, const reactor::Report&) { ++reports; });
    {
        auto promise = loop.create_promise<int>();
        loop.create_task<Nest>(depth, promise);
        settle();
        BOOST_TEST(reports == 0u);
    }
    BOOST_TEST(reports == static_cast<std::size_t>(depth) + 1);
    BOOST_TEST(live() == before);
}

BOOST_AUTO_TEST_SUITE_END()
