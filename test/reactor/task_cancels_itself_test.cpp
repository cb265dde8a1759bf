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

}  // namespace

// A task that asks for its own cancellation.
BOOST_AUTO_TEST_SUITE(task_cancels_itself)

REACTOR_LOOP_TEST_IN(TaskFixture, T_14_own_request_cancels_what_the_same_step_awaits) {
    auto promise = loop.create_promise<int>();
    std::string message;
    auto task = loop.create_task<Script>(
        [&](Script& s) {
            BOOST_TEST(s.cancel("mine"));
            return s.outcome_of(promise);
        },
        [&](Script& s, Promise<int> done) {
            message = message_of(done.error());
            return s.finish(done.result());
        });
    iterate();
    BOOST_TEST(promise.cancelled());
    BOOST_TEST(!task.done());
    iterate();
    BOOST_TEST(message == "mine");
    BOOST_TEST(task.cancelled());
}

REACTOR_LOOP_TEST_IN(TaskFixture, T_15_own_request_beats_a_value_but_not_an_error) {
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

REACTOR_LOOP_TEST_IN(TaskFixture, T_16_own_request_taken_back_has_no_effect) {
    auto task = loop.create_task<Script>([](Script& s) {
        s.cancel();
        BOOST_TEST(s.cancelling() == 1u);
        s.uncancel();
        return s.finish(3);
    });
    settle();
    BOOST_TEST(task.result() == 3);
}

BOOST_FIXTURE_TEST_CASE(from_the_machines_destructor_is_too_late, TaskFixture) {
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

BOOST_AUTO_TEST_SUITE_END()
