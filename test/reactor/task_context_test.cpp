// SPDX-License-Identifier: BSL-1.0
#include <reactor/task.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

#include <reactor/context.hpp>

#include "task_fixture.hpp"

namespace {

using namespace task_test;

}  // namespace

BOOST_AUTO_TEST_SUITE(task_context)

REACTOR_LOOP_TEST_IN(TaskFixture, C_09_each_step_sees_what_the_steps_before_have_set) {
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

REACTOR_LOOP_TEST_IN(TaskFixture, C_07_an_explicit_context_is_used_itself_by_tasks) {
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

BOOST_FIXTURE_TEST_CASE(a_broken_wait_keeps_the_tasks_own_context, TaskFixture) {
    reactor::ContextVar<int> variable("v", 0);
    auto promise = loop.create_promise<int>();
    int seen = -1;
    variable.set(1);
    auto task = loop.create_task<Script>([&](Script& s) { return s.outcome_of(promise); },
                                         [&](Script& s, Promise<int> done) {
                                             seen = variable.get();
                                             return s.finish(done.error() ? 5 : 0);
                                         });
    iterate();
    variable.set(2);
    promise = Promise<int>();
    settle();
    BOOST_TEST(task.result() == 5);
    BOOST_TEST(seen == 1);
}

BOOST_AUTO_TEST_SUITE_END()
