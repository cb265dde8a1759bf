// SPDX-License-Identifier: BSL-1.0
#include <reactor/task.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "task_fixture.hpp"

namespace {

using namespace task_test;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(task_rules, TaskFixture)

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

BOOST_AUTO_TEST_CASE(closed_loop_makes_no_tasks) {
    EventLoop closed;
    closed.close();
    BOOST_TEST(throws<reactor::StateError>(
        [&] { closed.create_task<Script>([](Script& s) { return s.finish(1); }); }));
}

BOOST_AUTO_TEST_SUITE_END()
