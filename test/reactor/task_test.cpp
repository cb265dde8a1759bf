// SPDX-License-Identifier: BSL-1.0
#include <reactor/task.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>
#include <vector>

#include "task_fixture.hpp"

namespace {

using namespace task_test;

static_assert(sizeof(TaskHandle<int>) == sizeof(Promise<int>), "a copy as Promise loses nothing");
static_assert(!std::is_copy_constructible<Script>::value, "a machine is one object");
static_assert(!std::is_default_constructible<Next>::value, "only the verbs make a Next");

}  // namespace

BOOST_AUTO_TEST_SUITE(task)

REACTOR_LOOP_TEST_IN(TaskFixture, T_01_creation_only_queues_the_first_step) {
    std::string order;
    loop.call_soon([&] { order += "X"; });
    auto task = loop.create_task<Script>([&](Script& s) {
        order += "1";
        return s.finish(7);
    });
    loop.call_soon([&] { order += "Y"; });
    task.add_done_callback([&](const Promise<int>& done) {
        order += "d";
        BOOST_TEST(done.result() == 7);
    });
    BOOST_TEST(order == "");
    iterate();
    BOOST_TEST(order == "X1Y");
    BOOST_TEST(task.done());
    iterate();
    BOOST_TEST(order == "X1Yd");
}

REACTOR_LOOP_TEST_IN(TaskFixture, T_02_failure_nobody_reads_is_reported_once_with_the_task) {
    {
        auto task = loop.create_task<Script>(reactor::Options().label("reader"),
                                             [](Script&) -> Next { throw Fault("boom"); });
        settle();
        BOOST_TEST(task.done());
        BOOST_TEST(take_reports().empty());
    }
    const auto reports = take_reports();
    BOOST_TEST_REQUIRE(reports.size() == 1u);
    BOOST_TEST(reports[0].message == "Task exception was never retrieved");
    BOOST_TEST(text_of(reports[0].exception) == "boom");
    BOOST_TEST(reports[0].task.find("reader (task_test::Script)") == 0u);
    BOOST_TEST(reports[0].task.find("task_test.cpp:") != std::string::npos);

    auto read = loop.create_task<Script>([](Script&) -> Next { throw Fault("boom"); });
    settle();
    BOOST_TEST(text_of(read.exception()) == "boom");
}

REACTOR_LOOP_TEST_IN(TaskFixture, T_03_resumed_in_the_iteration_after_the_promise_is_done) {
    std::string order;
    auto promise = loop.create_promise<int>();
    auto task = loop.create_task<Script>([&](Script& s) { return s.outcome_of(promise); },
                                         [&](Script& s, Promise<int> done) {
                                             order += "resumed";
                                             return s.finish(done.result());
                                         });
    iterate();
    loop.call_soon([&] { promise.set_result(5); });
    iterate();
    BOOST_TEST(order == "");
    iterate();
    BOOST_TEST(order == "resumed");
    BOOST_TEST(task.result() == 5);

    // A failure comes through as well, and the promise's error counts as read.
    auto failed = loop.create_promise<int>();
    auto passes = loop.create_task<Script>([&](Script& s) { return s.value_of(failed); });
    std::string seen;
    auto looks = loop.create_task<Script>([&](Script& s) { return s.outcome_of(failed); },
                                          [&](Script& s, Promise<int> done) {
                                              seen = text_of(done.error());
                                              return s.finish(0);
                                          });
    iterate();
    loop.call_soon([&] { failed.set_exception(Fault("x")); });
    iterate();
    BOOST_TEST(!passes.done());
    iterate();
    failed = Promise<int>();
    BOOST_TEST(text_of(passes.exception()) == "x");
    BOOST_TEST(seen == "x");
}

REACTOR_LOOP_TEST_IN(TaskFixture, T_04_each_link_of_a_chain_takes_one_iteration) {
    auto promise = loop.create_promise<int>();
    std::string order;
    auto inner = loop.create_task<Script>([&](Script& s) { return s.outcome_of(promise); },
                                          [&](Script& s, Promise<int> done) {
                                              order += "B";
                                              return s.finish(done.result());
                                          });
    auto outer = loop.create_task<Script>([&](Script& s) { return s.outcome_of(inner); },
                                          [&](Script& s, Promise<int> done) {
                                              order += "A";
                                              return s.finish(done.result());
                                          });
    outer.add_done_callback([&](const Promise<int>&) { order += "d"; });
    iterate();
    loop.call_soon([&] { promise.set_result(5); });
    iterate();
    BOOST_TEST(order == "");
    iterate();
    BOOST_TEST(order == "B");
    iterate();
    BOOST_TEST(order == "BA");
    iterate();
    BOOST_TEST(order == "BAd");
    BOOST_TEST(outer.result() == 5);
}

REACTOR_LOOP_TEST_IN(TaskFixture, T_05_yielding_tasks_take_turns) {
    std::vector<std::string> log;
    auto a = loop.create_task<Stepper>(log, "A", 2);
    auto b = loop.create_task<Stepper>(log, "B", 2);
    for (const std::string step : {"1", "2", "3"}) {
        BOOST_TEST(!a.done());
        iterate();
        BOOST_TEST((log == std::vector<std::string>{"A" + step, "B" + step}));
        log.clear();
    }
    BOOST_TEST((a.done() && b.done()));
}

REACTOR_LOOP_TEST_IN(TaskFixture,
                     T_06_waiting_for_another_loop_or_itself_resumes_with_state_error) {
    EventLoop other;
    auto foreign = other.create_promise<int>();
    std::string seen;
    auto task = loop.create_task<Script>(
        [&](Script& s) { return s.outcome_of(foreign); },
        [&](Script& s, Promise<int> done) {
            BOOST_TEST(throws<reactor::StateError>([&] { done.result(); }));
            seen = text_of(done.exception());
            return s.finish(1);
        });
    iterate();
    BOOST_TEST(!task.done());
    iterate();
    BOOST_TEST(task.result() == 1);
    BOOST_TEST(seen.find("another event loop") != std::string::npos);

    TaskHandle<int> self;
    self = loop.create_task<Script>(
        [&](Script& s) { return s.outcome_of(self); },
        [](Script& s, Promise<int> done) {
            BOOST_TEST(throws<reactor::StateError>([&] { done.result(); }));
            return s.finish(2);
        });
    iterate();
    BOOST_TEST(!self.done());
    iterate();
    BOOST_TEST(self.result() == 2);
    TaskHandle<int> uncaught;
    uncaught = loop.create_task<Script>([&](Script& s) { return s.value_of(uncaught); });
    settle();
    BOOST_TEST(throws<reactor::StateError>([&] { uncaught.result(); }));
}

REACTOR_LOOP_TEST_IN(TaskFixture, T_07_outcome_cannot_be_set_from_outside) {
    auto task = loop.create_task<Script>([](Script& s) { return s.finish(1); });
    BOOST_TEST(throws<reactor::StateError>([&] { task.set_result(3); }));
    BOOST_TEST(throws<reactor::StateError>([&] { task.set_exception(Fault("no")); }));
    settle();
    BOOST_TEST(task.result() == 1);
}

REACTOR_LOOP_TEST_IN(TaskFixture, T_19_names_are_numbered_by_loop_labelled_or_set) {
    const auto nothing = [](Script& s) { return s.finish(0); };
    auto first = loop.create_task<Script>(nothing);
    const reactor::Options options = reactor::Options().label("No-op");
    auto labelled = loop.create_task<Script>(options, nothing);
    auto third = loop.create_task<Script>(nothing);
    BOOST_TEST(first.name() == "Task-1");
    BOOST_TEST(labelled.name() == "No-op");
    BOOST_TEST(third.name() == "Task-3");
    third.set_name("other");
    BOOST_TEST(third.name() == "other");
    settle();

    EventLoop second_loop;
    BOOST_TEST(second_loop.create_task<Script>(nothing).name() == "Task-1");
}

REACTOR_LOOP_TEST_IN(TaskFixture, T_20_current_task_is_set_for_each_step_only) {
    const auto current = [this] { return loop.core().current_task; };
    const void* inside = nullptr;
    auto task = loop.create_task<Script>([&](Script&) -> Next {
        inside = current();
        throw Fault("x");
    });
    loop.call_soon([&] { BOOST_TEST(!current()); });
    task.add_done_callback([&](const Promise<int>&) { BOOST_TEST(!current()); });
    settle();
    BOOST_TEST(inside != nullptr);
    BOOST_TEST(!current());
    BOOST_TEST(text_of(task.exception()) == "x");
}

BOOST_FIXTURE_TEST_CASE(state_is_the_function_that_waits, TaskFixture) {
    class Machine : public Task<void> {
    public:
        explicit Machine(Promise<int> promise) : promise_(std::move(promise)) {}

    private:
        Next start() override { return connect(); }
        Next connect() { return helper(&Machine::connected); }
        Next connected(int) { return yield(&Machine::last); }
        Next last() { return finish(); }
        Next helper(Next (Machine::*next)(int), reactor::Here here = reactor::Here()) {
            return await(std::move(promise_), next, here);
        }
        Promise<int> promise_;
    };
    auto promise = loop.create_promise<int>();
    auto task = loop.create_task<Machine>(promise);
    BOOST_TEST(task.state() == std::string("start"));
    iterate();
    BOOST_TEST(task.state() == std::string("connect"));
    BOOST_TEST(task.where().find("task_test.cpp:") != std::string::npos);
    promise.set_result(1);
    iterate();
    BOOST_TEST(task.state() == std::string("connected"));
    settle();
    BOOST_TEST(task.done());
}

BOOST_FIXTURE_TEST_CASE(empty_handle_refuses_questions, TaskFixture) {
    const TaskHandle<int> empty;
    BOOST_TEST(!empty);
    BOOST_TEST(throws<reactor::StateError>([&] { empty.state(); }));
    BOOST_TEST(throws<reactor::StateError>([&] { empty.name(); }));
    BOOST_TEST(throws<reactor::StateError>([&] { empty.uncancel(); }));
    BOOST_TEST(throws<reactor::StateError>([&] { empty.cancelling(); }));
}

BOOST_AUTO_TEST_SUITE_END()
