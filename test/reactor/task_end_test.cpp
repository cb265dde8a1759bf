// SPDX-License-Identifier: BSL-1.0
#include <reactor/task.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "task_fixture.hpp"

namespace {

using namespace task_test;

/// Ends as the test says, and cleans up by waiting for `cleaning`.
class Closing : public Task<int> {
public:
    enum class How { value, error, waits, replaces, throws, fails };
    Closing(How how, Promise<int> work, Promise<void> cleaning, std::string& log)
        : how_(how), work_(std::move(work)), cleaning_(std::move(cleaning)), log_(log) {}

private:
    Next start() override {
        if (how_ == How::error) throw Fault("first");
        if (how_ == How::waits) return await(std::move(work_), &Closing::got);
        return finish(7);
    }
    Next got(int value) { return finish(value); }
    Next finally() override {
        log_ += error() ? "E" : "V";
        if (!cleaning_) return end();
        return await(std::move(cleaning_), &Closing::cleaned);
    }
    Next cleaned() {
        log_ += "c";
        if (how_ == How::replaces) return finish(9);
        if (how_ == How::throws) throw Fault("second");
        if (how_ == How::fails) return fail(Fault("third"));
        return end();
    }

    How how_;
    Promise<int> work_;
    Promise<void> cleaning_;
    std::string& log_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(task_end)

BOOST_FIXTURE_TEST_CASE(finally_runs_on_every_end_and_may_wait, TaskFixture) {
    std::string log;
    const auto run = [&](Closing::How how, bool cancel_work, bool cancel_cleaning) {
        log.clear();
        auto work = loop.create_promise<int>();
        auto cleaning = loop.create_promise<void>();
        auto task = loop.create_task<Closing>(how, work, cleaning, log);
        settle();
        if (cancel_work) task.cancel();
        settle();
        BOOST_TEST(!task.done());
        if (cancel_cleaning) {
            BOOST_TEST(task.cancel());
        } else {
            cleaning.set_result();
        }
        settle();
        return task;
    };
    BOOST_TEST(run(Closing::How::value, false, false).result() == 7);
    BOOST_TEST(log == "Vc");
    BOOST_TEST(text_of(run(Closing::How::error, false, false).exception()) == "first");
    BOOST_TEST(log == "Ec");
    BOOST_TEST(run(Closing::How::waits, true, false).cancelled());
    BOOST_TEST(log == "Ec");
    BOOST_TEST(run(Closing::How::replaces, false, false).result() == 9);
    BOOST_TEST(text_of(run(Closing::How::throws, false, false).exception()) == "second");
    BOOST_TEST(text_of(run(Closing::How::fails, false, false).exception()) == "third");
    BOOST_TEST(run(Closing::How::value, false, true).cancelled());
    BOOST_TEST(log == "V");
    BOOST_TEST(run(Closing::How::error, false, true).cancelled());
}

BOOST_FIXTURE_TEST_CASE(end_before_finally_is_refused, TaskFixture) {
    auto task = loop.create_task<Script>([](Script& s) { return s.end(); });
    settle();
    BOOST_TEST(throws<reactor::StateError>([&] { task.result(); }));
}

BOOST_FIXTURE_TEST_CASE(fail_ends_as_a_throw_would, TaskFixture) {
    class Machine : public Task<void> {
    public:
        explicit Machine(std::exception_ptr error) : error_(std::move(error)) {}

    private:
        Next start() override { return fail(error_); }
        std::exception_ptr error_;
    };
    auto fault = loop.create_task<Machine>(std::make_exception_ptr(Fault("f")));
    auto cancelled = loop.create_task<Machine>(std::make_exception_ptr(CancelledError("c")));
    auto null = loop.create_task<Machine>(std::exception_ptr());
    settle();
    BOOST_TEST(text_of(fault.exception()) == "f");
    BOOST_TEST(cancelled.cancelled());
    BOOST_TEST(throws<std::invalid_argument>([&] { null.result(); }));
}

BOOST_FIXTURE_TEST_CASE(finally_hears_of_a_cancellation_in_the_last_state, TaskFixture) {
    class Machine : public Task<int> {
    public:
        Machine(Promise<void> cleaning, bool at_end, bool& failed)
            : cleaning_(std::move(cleaning)), at_end_(at_end), failed_(failed) {}

    private:
        Next start() override {
            if (!at_end_) cancel("last");
            return finish(1);
        }
        Next finally() override {
            failed_ = error() != nullptr;
            return await(std::move(cleaning_), &Machine::cleaned);
        }
        Next cleaned() {
            if (at_end_) cancel("last");
            return end();
        }
        Promise<void> cleaning_;
        bool at_end_;
        bool& failed_;
    };
    for (const bool at_end : {false, true}) {
        auto cleaning = loop.create_promise<void>();
        bool failed = false;
        auto task = loop.create_task<Machine>(cleaning, at_end, failed);
        settle();
        BOOST_TEST(failed == !at_end);
        BOOST_TEST(!cleaning.cancelled());
        cleaning.set_result();
        settle();
        BOOST_TEST(task.cancelled());
    }
}

BOOST_FIXTURE_TEST_CASE(throwing_after_a_verb_lets_go_of_what_it_was_given, TaskFixture) {
    using Value = std::shared_ptr<int>;
    class Machine : public Task<Value> {
    public:
        Machine(Promise<int> work, Promise<void> cleaning, Value value)
            : work_(std::move(work)), cleaning_(std::move(cleaning)), value_(std::move(value)) {}

    private:
        Next start() override {
            const Next next =
                work_ ? await(std::move(work_), &Machine::got) : finish(std::move(value_));
            static_cast<void>(next);
            throw Fault("after");
        }
        Next got(int) { return finish(Value()); }
        Next finally() override { return await(std::move(cleaning_), &Machine::cleaned); }
        Next cleaned() { return end(); }
        Promise<int> work_;
        Promise<void> cleaning_;
        Value value_;
    };
    auto cleaning = loop.create_promise<void>();
    Value value = std::make_shared<int>(1);
    const std::weak_ptr<int> alive = value;
    const std::size_t before = live();
    auto waits = loop.create_task<Machine>(loop.create_promise<int>(), cleaning, Value());
    auto ends = loop.create_task<Machine>(Promise<int>(), cleaning, std::move(value));
    settle();
    BOOST_TEST(live() == before + 4);  // two tasks and their wake-ups: the first promise is gone
    cleaning.set_result();
    settle();
    BOOST_TEST(text_of(waits.exception()) == "after");
    BOOST_TEST(text_of(ends.exception()) == "after");
    BOOST_TEST(alive.expired());
}

BOOST_FIXTURE_TEST_CASE(throwing_after_a_verb_forgets_what_it_said, TaskFixture) {
    auto promise = loop.create_promise<int>();
    auto task = loop.create_task<Script>([&](Script& s) -> Next {
        const Next next = s.value_of(promise);
        static_cast<void>(next);
        throw Fault("after");
    });
    auto finished = loop.create_task<Script>([](Script& s) -> Next {
        const Next next = s.finish(1);
        static_cast<void>(next);
        throw Fault("after finish");
    });
    settle();
    BOOST_TEST(text_of(task.exception()) == "after");
    BOOST_TEST(text_of(finished.exception()) == "after finish");
    promise.set_result(1);
    settle();
}

REACTOR_LOOP_TEST_IN(TaskFixture, T_22_loop_exit_leaves_the_run_call_and_is_the_tasks_outcome) {
    class Leaver : public Task<int> {
    public:
        explicit Leaver(std::string& log) : log_(log) {}

    private:
        Next start() override { throw reactor::LoopExit(3); }
        Next finally() override {
            log_ += "finally";
            return end();
        }
        std::string& log_;
    };
    std::string log;
    auto task = loop.create_task<Leaver>(log);
    BOOST_TEST(throws<reactor::LoopExit>([&] { loop.run_until_complete(task); }));
    BOOST_TEST(task.done());
    BOOST_TEST(!task.cancelled());
    BOOST_TEST(throws<reactor::LoopExit>([&] { task.result(); }));
    BOOST_TEST(!loop.core().current_task);
    BOOST_TEST(log == "");

    BOOST_TEST(throws<reactor::LoopExit>([&] { loop.run_until_complete<Leaver>(log); }));
    // Nothing is left that would stop a later run.
    int after = 0;
    loop.call_soon([&] {
        ++after;
        loop.call_soon([&] {
            ++after;
            loop.stop();
        });
    });
    loop.run_forever();
    BOOST_TEST(after == 2);
}

BOOST_AUTO_TEST_SUITE_END()
