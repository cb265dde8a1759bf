// SPDX-License-Identifier: BSL-1.0
#include <reactor/task.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "task_fixture.hpp"

namespace {

using namespace task_test;

static_assert(sizeof(TaskHandle<int>) == sizeof(Promise<int>), "a copy as Promise loses nothing");
static_assert(!std::is_copy_constructible<Script>::value, "a machine is one object");
static_assert(!std::is_default_constructible<Next>::value, "only the verbs make a Next");

class Stepper : public Task<void> {
public:
    Stepper(std::vector<std::string>& log, std::string name, int yields)
        : log_(log), name_(std::move(name)), left_(yields) {}

private:
    Next start() override {
        log_.push_back(name_ + std::to_string(++step_));
        return step_ > left_ ? finish() : yield(&Stepper::start);
    }

    std::vector<std::string>& log_;
    std::string name_;
    int left_;
    int step_ = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(task, TaskFixture)

BOOST_AUTO_TEST_CASE(creation_only_queues_the_first_step) {  // T-01
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

BOOST_AUTO_TEST_CASE(failure_nobody_reads_is_reported_once_with_the_task) {  // T-02, D7
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

BOOST_AUTO_TEST_CASE(resumed_in_the_iteration_after_the_promise_is_done) {  // T-03, T-04
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

BOOST_AUTO_TEST_CASE(failure_of_the_promise_passes_through_and_counts_as_read) {  // T-03
    auto promise = loop.create_promise<int>();
    auto task = loop.create_task<Script>([&](Script& s) { return s.value_of(promise); });
    iterate();
    promise.set_exception(Fault("x"));
    settle();
    promise = Promise<int>();
    BOOST_TEST(text_of(task.exception()) == "x");
}

BOOST_AUTO_TEST_CASE(yielding_tasks_take_turns) {  // T-05
    std::vector<std::string> log;
    auto a = loop.create_task<Stepper>(log, "A", 2);
    auto b = loop.create_task<Stepper>(log, "B", 2);
    iterate();
    BOOST_TEST((log == std::vector<std::string>{"A1", "B1"}));
    settle();
    BOOST_TEST((log == std::vector<std::string>{"A1", "B1", "A2", "B2", "A3", "B3"}));
    BOOST_TEST((a.done() && b.done()));
}

BOOST_AUTO_TEST_CASE(waiting_for_another_loop_or_itself_resumes_with_state_error) {  // T-06
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
    settle();
    BOOST_TEST(task.result() == 1);
    BOOST_TEST(seen.find("another event loop") != std::string::npos);

    TaskHandle<int> self;
    self = loop.create_task<Script>([&](Script& s) { return s.value_of(self); });
    settle();
    BOOST_TEST(throws<reactor::StateError>([&] { self.result(); }));
}

BOOST_AUTO_TEST_CASE(outcome_cannot_be_set_from_outside) {  // T-07
    auto task = loop.create_task<Script>([](Script& s) { return s.finish(1); });
    BOOST_TEST(throws<reactor::StateError>([&] { task.set_result(3); }));
    BOOST_TEST(throws<reactor::StateError>([&] { task.set_exception(Fault("no")); }));
    settle();
    BOOST_TEST(task.result() == 1);
}

BOOST_AUTO_TEST_CASE(names_are_numbered_by_loop_labelled_or_set) {  // T-19
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

BOOST_AUTO_TEST_CASE(current_task_is_set_for_each_step_only) {  // T-20
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

BOOST_AUTO_TEST_CASE(state_is_the_function_that_waits) {
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

BOOST_AUTO_TEST_CASE(empty_handle_refuses_questions) {
    const TaskHandle<int> empty;
    BOOST_TEST(!empty);
    BOOST_TEST(throws<reactor::StateError>([&] { empty.state(); }));
    BOOST_TEST(throws<reactor::StateError>([&] { empty.name(); }));
    BOOST_TEST(throws<reactor::StateError>([&] { empty.uncancel(); }));
    BOOST_TEST(throws<reactor::StateError>([&] { empty.cancelling(); }));
}

BOOST_AUTO_TEST_CASE(machine_exists_only_through_create_task) {
    BOOST_TEST(throws<reactor::StateError>([] {
        std::vector<std::string> log;
        const Stepper on_the_stack(log, "A", 1);
    }));
    class Nested : public Task<int> {
    public:
        explicit Nested(std::vector<std::string>& log) : inner_(log, "inner", 1) {}

    private:
        Next start() override { return finish(1); }
        Stepper inner_;
    };
    std::vector<std::string> log;
    BOOST_TEST(throws<reactor::StateError>([&] { loop.create_task<Nested>(log); }));
}

BOOST_AUTO_TEST_CASE(loop_works_in_member_initialisers_which_may_make_tasks) {
    struct Side {
        explicit Side(EventLoop& l, std::vector<std::string>& log)
            : task(l.create_task<Stepper>(log, "side", 0)) {}
        TaskHandle<void> task;
    };
    class Machine : private Side, public Task<int> {
    public:
        explicit Machine(EventLoop& l, std::vector<std::string>& log)
            : Side(l, log), second_(loop().create_task<Stepper>(log, "second", 0)) {}

    private:
        Next start() override { return await(std::move(second_), &Machine::done); }
        Next done() { return finish(3); }
        TaskHandle<void> second_;
    };
    std::vector<std::string> log;
    BOOST_TEST(loop.run_until_complete<Machine>(loop, log) == 3);
    BOOST_TEST((log == std::vector<std::string>{"side1", "second1"}));
}

BOOST_AUTO_TEST_CASE(a_second_verb_or_none_fails_the_task) {
    auto twice = loop.create_task<Script>([](Script& s) -> Next {
        const Next first = s.begin_again();
        static_cast<void>(first);
        return s.finish(1);
    });
    class Keeper : public Task<int> {
    public:
        explicit Keeper(std::unique_ptr<Next>& kept) : kept_(kept) {}

    private:
        Next start() override {
            if (kept_) return std::move(*kept_);  // nothing said in this step
            kept_.reset(new Next(yield(&Keeper::start)));
            throw Fault("once");
        }
        std::unique_ptr<Next>& kept_;
    };
    std::unique_ptr<Next> kept;
    auto first = loop.create_task<Keeper>(kept);
    settle();
    auto none = loop.create_task<Keeper>(kept);
    settle();
    BOOST_TEST(throws<reactor::StateError>([&] { twice.result(); }));
    BOOST_TEST(text_of(first.exception()) == "once");
    BOOST_TEST(throws<reactor::StateError>([&] { none.result(); }));
}

BOOST_AUTO_TEST_CASE(verbs_are_refused_outside_of_the_tasks_own_states) {
    Script* machine = nullptr;
    auto promise = loop.create_promise<int>();
    auto task = loop.create_task<Script>([&](Script& s) {
        machine = &s;
        return s.value_of(promise);
    });
    iterate();
    loop.call_soon([&] {
        BOOST_TEST(throws<reactor::StateError>([&] {
            const Next next = machine->finish(1);
            static_cast<void>(next);
        }));
    });
    promise.set_result(2);
    settle();
    BOOST_TEST(task.result() == 2);
}

BOOST_AUTO_TEST_CASE(verbs_are_refused_in_the_constructor) {
    class Machine : public Task<int> {
    public:
        Machine() {
            const Next next = finish(1);
            static_cast<void>(next);
        }

    private:
        Next start() override { return finish(2); }
    };
    BOOST_TEST(throws<reactor::StateError>([&] { loop.create_task<Machine>(); }));
}

BOOST_AUTO_TEST_CASE(each_step_sees_what_the_steps_before_have_set) {  // C-09
    reactor::ContextVar<std::string> variable("v", "none");
    std::vector<std::string> seen;
    auto promise = loop.create_promise<int>();
    variable.set("a");
    auto task = loop.create_task<Script>(
        [&](Script& s) {
            seen.push_back(variable.get());
            variable.set("t");
            return s.outcome_of(promise);
        },
        [&](Script& s, Promise<int>) -> Next {
            seen.push_back(variable.get());
            variable.set("u");
            return s.yield([&s, &seen, &variable]() -> Next {
                seen.push_back(variable.get());
                return s.finish(0);
            });
        });
    variable.set("b");
    iterate();
    promise.set_result(1);
    settle();
    BOOST_TEST((seen == std::vector<std::string>{"a", "t", "u"}));
    BOOST_TEST(variable.get() == "b");
}

BOOST_AUTO_TEST_CASE(an_explicit_context_is_used_itself) {  // C-07
    reactor::ContextVar<int> variable("v", 0);
    reactor::Context context;
    std::vector<int> seen;
    const auto count = [&](Script& s) -> Next {
        variable.set(variable.get() + 1);
        seen.push_back(variable.get());
        return seen.size() % 2 != 0 ? s.begin_again() : s.finish(0);
    };
    const auto options = reactor::Options().context(context);
    auto first = loop.create_task<Script>(options, count);
    settle();
    auto second = loop.create_task<Script>(options, count);
    settle();
    BOOST_TEST((seen == std::vector<int>{1, 2, 3, 4}));
    BOOST_TEST_REQUIRE(context.get(variable));
    BOOST_TEST(*context.get(variable) == 4);
    BOOST_TEST(variable.get() == 0);
}

BOOST_AUTO_TEST_CASE(closed_loop_makes_no_tasks) {
    EventLoop closed;
    closed.close();
    BOOST_TEST(throws<reactor::StateError>(
        [&] { closed.create_task<Script>([](Script& s) { return s.finish(1); }); }));
}

BOOST_AUTO_TEST_SUITE_END()
