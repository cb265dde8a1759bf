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

BOOST_FIXTURE_TEST_SUITE(task_cancel, TaskFixture)

BOOST_AUTO_TEST_CASE(before_the_first_step_no_code_of_the_machine_runs) {  // T-08
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

BOOST_AUTO_TEST_CASE(reaches_the_awaited_promise_at_once) {  // T-09
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

BOOST_AUTO_TEST_CASE(caught_it_becomes_whatever_the_state_makes_of_it) {  // T-10
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

BOOST_AUTO_TEST_CASE(two_requests_deliver_one_error) {  // T-11
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

BOOST_AUTO_TEST_CASE(after_the_value_but_before_the_step_it_wins) {  // T-12, D5
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

BOOST_AUTO_TEST_CASE(after_a_failure_but_before_the_step_the_failure_counts_as_read) {
    auto promise = loop.create_promise<int>();
    auto task = loop.create_task<Script>([&](Script& s) { return s.value_of(promise); });
    iterate();
    promise.set_exception(Fault("hidden"));
    task.cancel();
    settle();
    BOOST_TEST(task.cancelled());
    promise = Promise<int>();
}

BOOST_AUTO_TEST_CASE(uncancel_takes_back_what_was_not_delivered) {  // T-13
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
}

BOOST_AUTO_TEST_CASE(own_request_cancels_what_the_same_step_awaits) {  // T-14
    auto promise = loop.create_promise<int>();
    std::string message;
    auto task = loop.create_task<Script>(
        [&](Script& s) {
            BOOST_TEST(s.cancel("mine"));
            return s.outcome_of(promise);
        },
        [&](Script& s, Promise<int> done) {
            message = message_of(done.error());
            return finish_with_result(s, done);
        });
    iterate();
    BOOST_TEST(promise.cancelled());
    BOOST_TEST(!task.done());
    iterate();
    BOOST_TEST(message == "mine");
    BOOST_TEST(task.cancelled());
}

BOOST_AUTO_TEST_CASE(own_request_beats_a_value_but_not_an_error) {  // T-15
    auto value = loop.create_task<Script>([](Script& s) {
        s.cancel();
        return s.finish(12);
    });
    auto error = loop.create_task<Script>([](Script& s) -> Next {
        s.cancel();
        throw Fault("e");
    });
    int runs = 0;
    auto turn = loop.create_task<Script>([&](Script& s) {
        if (++runs > 1) return s.finish(1);
        s.cancel();
        return s.begin_again();
    });
    settle();
    BOOST_TEST(value.cancelled());
    BOOST_TEST(!error.cancelled());
    BOOST_TEST(text_of(error.exception()) == "e");
    BOOST_TEST(turn.cancelled());
    BOOST_TEST(runs == 1);
}

BOOST_AUTO_TEST_CASE(own_request_taken_back_has_no_effect) {  // T-16
    auto task = loop.create_task<Script>([](Script& s) {
        s.cancel();
        BOOST_TEST(s.cancelling() == 1u);
        s.uncancel();
        return s.finish(3);
    });
    settle();
    BOOST_TEST(task.result() == 3);
}

BOOST_AUTO_TEST_CASE(runs_down_the_chain_at_once_and_comes_back_step_by_step) {  // T-17
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

BOOST_AUTO_TEST_CASE(of_one_reaches_all_who_wait_for_the_same_promise) {  // T-18
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

BOOST_AUTO_TEST_CASE(from_the_machines_destructor_is_too_late) {
    class Machine : public Task<int> {
    public:
        explicit Machine(TaskHandle<int>& own, bool& took) : own_(own), took_(took) {}
        ~Machine() override { took_ = own_.cancel(); }

    private:
        Next start() override { return finish(1); }
        TaskHandle<int>& own_;
        bool& took_;
    };
    TaskHandle<int> task;
    bool took = true;
    task = loop.create_task<Machine>(task, took);
    settle();
    BOOST_TEST(!took);
    BOOST_TEST(task.result() == 1);
}

BOOST_AUTO_TEST_CASE(hundred_thousand_nested_tasks_need_constant_stack) {
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
