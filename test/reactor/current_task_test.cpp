// SPDX-License-Identifier: BSL-1.0
#include <reactor/any_task.hpp>

#include <boost/test/unit_test.hpp>

#include <reactor/detail/births.hpp>
#include <reactor/task.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::all_tasks;
using reactor::AnyTask;
using reactor::current_task;
using reactor::EventLoop;
using reactor::Next;
using reactor::Options;
using reactor::Promise;
using reactor::StateError;
using reactor::Task;
using reactor::TaskHandle;

namespace tasks {

/// Waits for a promise that it does not keep, and notes which task it is told that it is.
class Waiter : public Task<int> {
public:
    explicit Waiter(Promise<int> promise, std::vector<AnyTask>* current = nullptr,
                    std::shared_ptr<int> witness = nullptr)
        : promise_(std::move(promise)), current_(current), witness_(std::move(witness)) {}
    ~Waiter() override { note(); }

private:
    Next start() override {
        note();
        return await(std::move(promise_), &Waiter::got, &Waiter::failed);
    }
    Next got(int value) {
        note();
        if (value < 0) throw std::runtime_error("negative");
        return finish(value);
    }
    Next failed(std::exception_ptr) {
        note();
        throw;
    }
    void note() {
        if (current_) current_->push_back(current_task());
    }

    Promise<int> promise_;
    std::vector<AnyTask>* current_;
    std::shared_ptr<int> witness_;
};

}  // namespace tasks

using tasks::Waiter;

BOOST_AUTO_TEST_SUITE(current_task_and_all_tasks)

REACTOR_LOOP_TEST(T_20_the_task_is_current_in_its_steps_and_nowhere_else) {
    std::vector<AnyTask> in_steps;
    std::vector<bool> elsewhere;
    const auto look = [&] { elsewhere.push_back(static_cast<bool>(current_task(loop))); };
    look();  // outside of the loop
    Promise<int> promise = loop.create_promise<int>();
    auto task = loop.create_task<Waiter>(promise, &in_steps);
    task.add_done_callback([&](const Promise<int>&) { look(); });
    loop.call_soon(look);
    loop.call_soon([&] { on_another_thread(look); });
    promise.set_result(3);
    loop.run_until_idle();
    BOOST_TEST(task.result() == 3);
    BOOST_TEST((elsewhere == std::vector<bool>(4, false)));
    BOOST_TEST((in_steps == std::vector<AnyTask>(3, task)));  // two states and the destructor
}

REACTOR_LOOP_TEST(T_20_it_is_none_again_after_a_step_that_throws) {
    std::vector<AnyTask> in_steps;
    Promise<int> promise = loop.create_promise<int>();
    auto task = loop.create_task<Waiter>(promise, &in_steps);
    bool after = true;
    task.add_done_callback([&](const Promise<int>& done) {
        after = static_cast<bool>(current_task(loop));
        BOOST_CHECK_THROW(done.result(), std::runtime_error);
    });
    promise.set_result(-1);
    loop.run_until_idle();
    BOOST_TEST(in_steps.size() == 3u);
    BOOST_TEST(!after);
    BOOST_TEST(!current_task(loop));
}

REACTOR_LOOP_TEST(T_20_another_thread_is_told_none_while_a_step_runs) {
    class Asker : public Task<bool> {
        Next start() override {
            bool current = true;
            EventLoop& mine = loop();
            on_another_thread([&] { current = static_cast<bool>(current_task(mine)); });
            return finish(current);
        }
    };
    BOOST_TEST(!loop.run_until_complete<Asker>());
}

REACTOR_LOOP_TEST(T_20_it_is_per_loop) {
    EventLoop other;
    class Asker : public Task<bool> {
    public:
        explicit Asker(EventLoop& l) : other_(l) {}

    private:
        Next start() override { return finish(static_cast<bool>(current_task(other_))); }
        EventLoop& other_;
    };
    BOOST_TEST(!loop.run_until_complete<Asker>(std::ref(other)));
    BOOST_CHECK_THROW(current_task(), StateError);  // no loop runs here
}

REACTOR_LOOP_TEST(T_21_a_task_nobody_holds_is_listed_until_what_it_waits_for_is_dropped) {
    auto witness = std::make_shared<int>(1);
    const std::weak_ptr<int> alive = witness;
    Promise<int> promise = loop.create_promise<int>();
    auto task = loop.create_task<Waiter>(Options().label("forgotten"), promise, nullptr,
                                         std::move(witness));
    loop.run_iterations(1);
    task = TaskHandle<int>();
    BOOST_TEST(!alive.expired());
    BOOST_TEST_REQUIRE(all_tasks(loop).size() == 1u);
    BOOST_TEST(all_tasks(loop)[0].name() == "forgotten");
    BOOST_TEST(take_reports().empty());
    promise = Promise<int>();
    BOOST_TEST(alive.expired());
    BOOST_TEST(all_tasks(loop).empty());
    const auto reports = take_reports();
    BOOST_TEST_REQUIRE(reports.size() == 1u);
    BOOST_TEST(reports[0].message == "Task was destroyed but it is pending!");
    BOOST_TEST(reports[0].task.find("forgotten (tasks::Waiter)") == 0u);
}

REACTOR_LOOP_TEST(T_21_a_task_nobody_holds_ends_normally_when_its_promise_has_a_value) {
    auto witness = std::make_shared<int>(1);
    const std::weak_ptr<int> alive = witness;
    Promise<int> promise = loop.create_promise<int>();
    loop.create_task<Waiter>(promise, nullptr, std::move(witness));
    loop.run_iterations(1);
    BOOST_TEST(all_tasks(loop).size() == 1u);
    promise.set_result(4);
    loop.run_until_idle();
    BOOST_TEST(alive.expired());
    BOOST_TEST(all_tasks(loop).empty());
}

REACTOR_LOOP_TEST(T_21_a_task_that_is_just_going_is_not_listed) {
    std::size_t reports = 0;
    std::size_t listed = 0;
    loop.set_exception_handler([&](EventLoop& reporting, const reactor::Report&) {
        ++reports;
        listed += all_tasks(reporting).size();
    });
    Promise<int> promise = loop.create_promise<int>();
    loop.create_task<Waiter>(promise);
    loop.run_iterations(1);
    promise = Promise<int>();
    BOOST_TEST(reports == 1u);
    BOOST_TEST(listed == 0u);
}

REACTOR_LOOP_TEST(all_tasks_lists_what_is_not_done_in_the_order_of_creation) {
    std::size_t inside = 0;
    loop.call_soon([&] { inside = all_tasks().size(); });
    Promise<int> promise = loop.create_promise<int>();
    const Promise<int> no_task = promise.then([](int value) { return value; });
    TaskHandle<int> first = loop.create_task<Waiter>(promise);
    TaskHandle<int> second = loop.create_task<Waiter>(loop.create_promise<int>());
    TaskHandle<int> third = loop.create_task<Waiter>(promise);
    const std::vector<AnyTask> expected = {first, second, third};
    BOOST_TEST((all_tasks(loop) == expected));
    second.cancel();
    loop.run_until_idle();
    BOOST_TEST(inside == 3u);
    BOOST_TEST(all_tasks(loop).size() == 2u);
    for (const AnyTask& task : all_tasks(loop)) BOOST_TEST(task.cancel());
    loop.run_until_idle();
    BOOST_TEST(first.cancelled());
    BOOST_TEST(third.cancelled());
    BOOST_TEST(all_tasks(loop).empty());
}

REACTOR_LOOP_TEST(an_any_task_tells_what_its_handle_tells) {
    Promise<int> promise = loop.create_promise<int>();
    loop.set_debug(true);
    const int line = __LINE__ + 1;
    auto task = loop.create_task<Waiter>(Options().label("page"), promise);
    const AnyTask any = task;
    const std::string place = std::string(__FILE__) + ":" + std::to_string(line);
    BOOST_TEST(any.name() == "page");
    BOOST_TEST(any.type() == "tasks::Waiter");
    BOOST_TEST(any.status() == "not started");
    BOOST_TEST(any.made_at() == place);
    loop.run_for(milliseconds(2500));
    BOOST_TEST((any.age() == milliseconds(2500)));
    BOOST_TEST(any.state() == std::string("start"));
    BOOST_TEST(any.where() == task.where());
    any.set_name("renamed");
    BOOST_TEST(task.name() == "renamed");
    BOOST_TEST(any.text() == "renamed (tasks::Waiter) waiting in start at " + task.where() +
                                 ", made at " + place + ", 2.500 s old");
    any.cancel("enough");
    BOOST_TEST(any.cancelling() == 1u);
    BOOST_TEST(any.text().find(", cancellation requested") != std::string::npos);
    BOOST_TEST(any.uncancel() == 0u);
    loop.run_until_idle();
    BOOST_TEST(any.cancelled());
    BOOST_TEST(any.status() == "done, waited last in start at " + task.where());
    BOOST_TEST((any.age() < reactor::Duration::zero()));
    BOOST_TEST((std::unordered_set<reactor::AnyPromise>{any}.count(task) == 1u));
    BOOST_CHECK_EXCEPTION(AnyTask().name(), StateError, [](const StateError& error) {
        return std::string(error.what()).find("name: ") == 0;
    });
}

REACTOR_LOOP_TEST(ages_are_known_of_what_debug_mode_has_seen_made) {
    Promise<int> promise = loop.create_promise<int>();
    const AnyTask before = loop.create_task<Waiter>(promise);
    loop.set_debug(true);
    const AnyTask within = loop.create_task<Waiter>(promise);
    // What is done or dropped is forgotten.
    BOOST_TEST_REQUIRE(loop.core().births != nullptr);
    const std::size_t known = loop.core().births->count();
    for (int i = 0; i < 100; ++i) loop.create_promise<int>().set_result(i);
    for (int i = 0; i < 100; ++i) loop.create_promise<int>();
    BOOST_TEST(loop.core().births->count() == known);
    loop.set_debug(false);
    const AnyTask after = loop.create_task<Waiter>(promise);
    loop.run_for(seconds(1));
    BOOST_TEST((before.age() < reactor::Duration::zero()));
    BOOST_TEST((within.age() == seconds(1)));
    BOOST_TEST((after.age() < reactor::Duration::zero()));
    loop.close();
    BOOST_TEST((within.age() < reactor::Duration::zero()));
    BOOST_TEST(within.status() == "given up, since its loop was closed");
}

REACTOR_LOOP_TEST(tasks_are_printed_as_a_table) {
    Promise<int> promise = loop.create_promise<int>();
    auto short_name =
        loop.create_task<Waiter>(Options(reactor::Here("", "", 0)).label("a"), promise);
    auto long_name =
        loop.create_task<Waiter>(Options(reactor::Here("f", "x.cpp", 4)).label("long"), promise);
    BOOST_TEST(text(all_tasks(loop)) ==
               "a     tasks::Waiter  not started\n"
               "long  tasks::Waiter  not started, made at x.cpp:4\n");
    promise.set_result(1);
    loop.run_until_idle();
    BOOST_TEST(text(all_tasks(loop)) == "");
}

BOOST_AUTO_TEST_SUITE_END()
