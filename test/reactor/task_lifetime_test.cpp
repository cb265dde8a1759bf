// SPDX-License-Identifier: BSL-1.0
#include <reactor/task.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include <test/support/allocations.hpp>

#include "task_fixture.hpp"

namespace {

using namespace task_test;

/// Waits for the promise it is given, and may keep it, which makes a cycle: the promise keeps the
/// task, its machine the promise.
class Waiter : public Task<int> {
public:
    Waiter(Promise<int> promise, bool keep, std::shared_ptr<int> witness, std::string* log)
        : promise_(std::move(promise)), keep_(keep), witness_(std::move(witness)), log_(log) {}

private:
    Next start() override {
        return keep_ ? await(promise_, &Waiter::got) : await(std::move(promise_), &Waiter::got);
    }
    Next got(int value) { return finish(value); }
    Next finally() override {
        if (log_) *log_ += "finally";
        return end();
    }

    Promise<int> promise_;
    bool keep_;
    std::shared_ptr<int> witness_;
    std::string* log_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(task_lifetime)

REACTOR_LOOP_TEST_IN(TaskFixture, T_21_a_task_nobody_holds_lives_as_long_as_what_it_waits_for) {
    std::string log;
    auto witness = std::make_shared<int>(1);
    const std::weak_ptr<int> alive = witness;
    const std::size_t before = live();
    auto promise = loop.create_promise<int>();
    auto task = loop.create_task<Waiter>(promise, false, std::move(witness), &log);
    task.set_name("forgotten");
    iterate();
    task = TaskHandle<int>();
    BOOST_TEST(!alive.expired());
    BOOST_TEST(take_reports().empty());
    promise = Promise<int>();
    BOOST_TEST(alive.expired());
    BOOST_TEST(live() == before);
    BOOST_TEST(log == "");  // finally() could not wait for anything: it does not run
    const auto reports = take_reports();
    BOOST_TEST_REQUIRE(reports.size() == 1u);
    BOOST_TEST(reports[0].message == "Task was destroyed but it is pending!");
    BOOST_TEST(reports[0].task.find("forgotten (") == 0u);
    BOOST_TEST(reports[0].task.find("waiting in start at ") != std::string::npos);
}

REACTOR_LOOP_TEST_IN(TaskFixture, T_21_a_task_nobody_holds_ends_normally_when_its_promise_does) {
    std::string log;
    auto promise = loop.create_promise<int>();
    loop.create_task<Waiter>(promise, false, nullptr, &log);
    iterate();
    promise.set_result(4);
    promise = Promise<int>();
    settle();
    BOOST_TEST(log == "finally");
}

BOOST_FIXTURE_TEST_CASE(a_failing_task_nobody_holds_is_reported_once, TaskFixture) {  // D7
    auto promise = loop.create_promise<int>();
    loop.create_task<Waiter>(promise, false, nullptr, nullptr);
    iterate();
    promise.set_exception(Fault("step 3"));
    settle();
    const auto reports = take_reports();
    BOOST_TEST_REQUIRE(reports.size() == 1u);
    BOOST_TEST(reports[0].message == "Task exception was never retrieved");
}

BOOST_FIXTURE_TEST_CASE(a_held_task_goes_on_with_broken_promise, TaskFixture) {
    std::string log;
    auto promise = loop.create_promise<int>();
    auto task = loop.create_task<Waiter>(promise, false, nullptr, &log);
    iterate();
    promise = Promise<int>();
    BOOST_TEST(!task.done());
    settle();
    BOOST_TEST(throws<reactor::BrokenPromise>([&] { task.result(); }));
    BOOST_TEST(log == "finally");
}

BOOST_FIXTURE_TEST_CASE(machine_is_gone_before_the_promise_is_done, TaskFixture) {
    auto witness = std::make_shared<int>(1);
    const std::weak_ptr<int> alive = witness;
    auto promise = loop.create_promise<int>();
    auto task = loop.create_task<Waiter>(promise, true, std::move(witness), nullptr);
    bool gone = false;
    task.add_done_callback([&](const Promise<int>&) { gone = alive.expired(); });
    iterate();
    promise.set_result(1);
    settle();
    BOOST_TEST(gone);
    BOOST_TEST(task.result() == 1);
}

BOOST_FIXTURE_TEST_CASE(close_destroys_pending_machines_and_breaks_cycles, TaskFixture) {  // D8
    std::string log;
    auto witness = std::make_shared<int>(1);
    const std::weak_ptr<int> alive = witness;
    auto held = loop.create_promise<int>();
    TaskHandle<int> task = loop.create_task<Waiter>(held, false, witness, &log);
    loop.create_task<Waiter>(loop.create_promise<int>(), true, witness, &log);  // a cycle
    iterate();
    loop.create_task<Waiter>(held, false, witness, &log);  // not started
    witness.reset();
    BOOST_TEST(!alive.expired());
    close();
    BOOST_TEST(alive.expired());
    BOOST_TEST(log == "");
    BOOST_TEST(!task.done());
    BOOST_TEST(task.state() == std::string("start"));
    BOOST_TEST(task.cancel());  // nothing will run it any more
    BOOST_TEST(task.cancelled());
}

BOOST_FIXTURE_TEST_CASE(close_reports_pending_tasks_in_debug_mode, TaskFixture) {
    loop.set_debug(true);
    loop.create_task<Waiter>(loop.create_promise<int>(), true, nullptr, nullptr);
    iterate();
    close();
    const auto reports = take_reports();
    BOOST_TEST_REQUIRE(reports.size() == 1u);
    BOOST_TEST(reports[0].message == "Task was destroyed but it is pending!");
}

BOOST_FIXTURE_TEST_CASE(a_constructor_that_throws_leaves_nothing, TaskFixture) {
    class Throwing : public Task<int> {
    public:
        Throwing() { throw Fault("no"); }

    private:
        Next start() override { return finish(1); }
    };
    const std::size_t before = live();
    BOOST_TEST(throws<Fault>([&] { loop.create_task<Throwing>(); }));
    BOOST_TEST(live() == before);
    BOOST_TEST(loop.ready_count() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_million_steps_on_a_done_promise_allocate_nothing, TaskFixture) {
    class Many : public Task<int> {
    public:
        Many(Promise<int> one, int steps, long& warm)
            : one_(std::move(one)), steps_(steps), warm_(warm) {}

    private:
        Next start() override { return await(one_, &Many::got, &Many::failed); }
        Next got(int one) {
            sum_ += one;
            if (sum_ == 100) warm_ = support::allocation_count();
            if (sum_ == steps_) return finish(sum_);
            return sum_ % 2 == 0 ? start() : yield(&Many::start);
        }
        Next failed(const Fault&) { throw; }
        Promise<int> one_;
        int steps_;
        long& warm_;
        int sum_ = 0;
    };
    auto one = loop.create_promise<int>();
    one.set_result(1);
    long warm = 0;
    auto task = loop.create_task<Many>(one, 1000000, warm);
    settle();
    BOOST_TEST(task.result() == 1000000);
    // Under the tools that look for errors in the use of memory the pools are off on purpose.
    if (reactor::detail::pooling_wanted()) BOOST_TEST(support::allocation_count() == warm);
}

BOOST_FIXTURE_TEST_CASE(waking_a_waiting_task_allocates_nothing, TaskFixture) {
    class Server : public Task<int> {
    public:
        Server(Promise<int>& next, int& served) : next_(next), served_(served) {}

    private:
        Next start() override {
            next_ = loop().create_promise<int>();
            return await(next_, &Server::got);
        }
        Next got(const int& value) {
            served_ += value;
            return start();
        }
        Promise<int>& next_;
        int& served_;
    };
    Promise<int> next;
    int served = 0;
    auto task = loop.create_task<Server>(next, served);
    settle();
    long warm = 0;
    for (int i = 0; i < 1000; ++i) {
        if (i == 100) warm = support::allocation_count();
        Promise<int> due = std::move(next);
        due.set_result(1);
        due = Promise<int>();
        settle();
    }
    BOOST_TEST(served == 1000);
    if (reactor::detail::pooling_wanted()) BOOST_TEST(support::allocation_count() == warm);
    task.cancel();
    settle();
    BOOST_TEST(task.cancelled());
}

BOOST_AUTO_TEST_SUITE_END()
