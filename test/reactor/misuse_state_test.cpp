// SPDX-License-Identifier: BSL-1.0
#include <reactor/event_loop.hpp>

#include <boost/test/unit_test.hpp>

#include <exception>
#include <future>
#include <memory>
#include <string>

#include <signal.h>

#include <reactor/combinators.hpp>
#include <reactor/executor.hpp>
#include <reactor/promise.hpp>
#include <reactor/runner.hpp>
#include <reactor/scope.hpp>
#include <reactor/signals.hpp>
#include <reactor/std_future.hpp>
#include <reactor/task.hpp>
#include <reactor/timeout.hpp>

#include "misuse.hpp"
#include <test/support/loop_test.hpp>

using namespace support;
using misuse::Call;
using reactor::EventLoop;
using reactor::Next;
using reactor::Options;
using reactor::Promise;
using reactor::Scope;
using reactor::StateError;
using reactor::TaskHandle;

// Calls in the wrong state: on a closed loop, from another thread, inside a run. One table of all
// that a user can call.

namespace {

struct Forty : reactor::Task<int> {
    Next start() override { return finish(40); }
};

/// One of everything that belongs to a loop.
struct Everything {
    explicit Everything(EventLoop& l)
        : loop(l),
          scope(l),
          promise(l.create_promise<int>()),
          task(l.create_task<Forty>()),
          timer(l.call_later(hours(1), [] {})) {
        bound.reset(new std::function<void()>(scope.bind([] {})));
    }

    /// What needs an open loop.
    std::vector<Call> needs_open_loop() {
        return {
            {"call_soon", [this] { loop.call_soon(nothing); }},
            {"call_soon", [this] { loop.call_soon(Options(), nothing); }},
            {"call_later", [this] { loop.call_later(seconds(1), nothing); }},
            {"call_at", [this] { loop.call_at(loop.time(), nothing); }},
            {"call_every", [this] { loop.call_every(seconds(1), nothing); }},
            {"add_reader", [this] { loop.add_reader(pair.mine, nothing); }},
            {"add_writer", [this] { loop.add_writer(pair.mine, nothing); }},
            {"add_urgent_reader", [this] { loop.add_urgent_reader(pair.mine, nothing); }},
            {"create_task", [this] { loop.create_task<Forty>(); }},
            {"create_task", [this] { loop.create_task<Forty>(Options().label("n")); }},
            {"run_in_executor", [this] { loop.run_in_executor(nothing); }},
            {"run_in_executor", [this] { run_in_executor(loop, pool, nothing); }},
            {"default_executor", [this] { reactor::default_executor(loop); }},
            {"shutdown_default_executor", [this] { reactor::shutdown_default_executor(loop); }},
            {"ThreadPool::shutdown", [this] { pool.shutdown(loop); }},
            {"add_signal_handler", [this] { loop.add_signal_handler(SIGUSR1, nothing); }},
            {"service", [this] { loop.service<Service>(); }},
            {"sleep", [this] { reactor::sleep(loop, seconds(1)); }},
            {"gather", [this] { reactor::gather(promise, promise); }},
            {"wait_for", [this] { reactor::wait_for(promise, seconds(1)); }},
            {"TimerHandle::reschedule", [this] { timer.reschedule(loop.time()); }},
            {"add_done_callback", [this] { promise.add_done_callback(done); }},
            {"then", [this] { promise.then(nothing); }},
            {"except", [this] { promise.except([](std::exception_ptr) { return 1; }); }},
            {"from_future", [this] { reactor::from_future(loop, std::future<int>()); }},
            {"from_future", [this] { reactor::from_future(loop, pool, std::future<int>()); }},
            {"to_std_future", [this] { reactor::to_std_future(promise); }},
            {"call_soon", [this] { scope.call_soon(nothing); }},
            {"call_later", [this] { scope.call_later(seconds(1), nothing); }},
            {"call_at", [this] { scope.call_at(loop.time(), nothing); }},
            {"call_every", [this] { scope.call_every(seconds(1), nothing); }},
            {"add_reader", [this] { scope.add_reader(pair.mine, nothing); }},
            {"add_writer", [this] { scope.add_writer(pair.mine, nothing); }},
            {"add_done_callback", [this] { promise.add_done_callback(scope, done); }},
        };
    }
    /// What a closed loop answers, but no wrong thread.
    std::vector<Call> needs_the_thread() {
        return {
            {"remove_reader", [this] { loop.remove_reader(pair.mine); }},
            {"remove_writer", [this] { loop.remove_writer(pair.mine); }},
            {"remove_urgent_reader", [this] { loop.remove_urgent_reader(pair.mine); }},
            {"remove_signal_handler", [this] { loop.remove_signal_handler(SIGUSR1); }},
            {"stop", [this] { loop.stop(); }},
            {"set_exception_handler",
             [this] { loop.set_exception_handler(reactor::ExceptionHandler()); }},
            {"set_log", [this] { loop.set_log(nullptr); }},
            {"set_debug", [this] { loop.set_debug(false); }},
            {"set_slow_callback_duration",
             [this] { loop.set_slow_callback_duration(loop.slow_callback_duration()); }},
            {"done", [this] { promise.done(); }},
            {"cancelled", [this] { promise.cancelled(); }},
            {"remove_done_callback", [this] { promise.remove_done_callback(reactor::DoneKey()); }},
            {"done", [this] { task.done(); }},
            {"bind", [this] { scope.bind(nothing); }},
            {"create_promise", [this] { loop.create_promise<int>(); }},
            {"cancel", [this] { loop_promise.cancel(); }},
        };
    }

    struct Service {
        explicit Service(EventLoop&) {}
    };

    EventLoop& loop;
    SocketPair pair;
    Scope scope;
    reactor::ThreadPool pool{1};
    Promise<int> promise;
    Promise<int> loop_promise = promise;
    TaskHandle<int> task;
    reactor::TimerHandle timer;
    std::unique_ptr<std::function<void()>> bound;
    const std::function<void()> nothing = [] {};
    const std::function<void(const Promise<int>&)> done = [](const Promise<int>&) {};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(misuse_state)

REACTOR_LOOP_TEST(a_closed_loop_refuses_by_name_and_says_what_to_do) {
    Everything all(loop);
    loop.close();
    misuse::expect<StateError>(all.needs_open_loop(), "the event loop is closed: make a new one");
    const std::vector<Call> runs = {
        {"run_forever", [&] { loop.run_forever(); }},
        {"run_once", [&] { loop.run_once(); }},
        {"call_soon_threadsafe", [&] { loop.call_soon_threadsafe([] {}); }},
    };
    misuse::expect<StateError>(runs, "the event loop is closed: make a new one");
    BOOST_CHECK_THROW(loop.run_until_complete(all.promise), StateError);
    BOOST_CHECK_THROW(loop.run_until_complete<Forty>(), StateError);
    for (const Call& call : all.needs_the_thread()) BOOST_CHECK_NO_THROW(call.make());
    BOOST_TEST(!loop.poster().post([] {}));
    loop.stop_threadsafe();
    loop.close();  // again: no effect
    BOOST_TEST(loop.ready_count() == 0u);
    BOOST_TEST(loop.timer_count() == 0u);
    BOOST_TEST(loop.watch_count() == 0u);
}

REACTOR_LOOP_TEST(another_thread_is_refused_by_name_and_told_what_to_use) {
    Everything all(loop);
    std::vector<std::string> wrong;
    std::vector<Call> calls = all.needs_open_loop();
    for (const Call& call : all.needs_the_thread()) calls.push_back(call);
    calls.push_back({"result", [&] { all.promise.result(); }});
    calls.push_back({"take", [&] { all.promise.take(); }});
    calls.push_back({"error", [&] { all.promise.error(); }});
    calls.push_back({"exception", [&] { all.promise.exception(); }});
    calls.push_back({"set_result", [&] { all.promise.set_result(1); }});
    calls.push_back({"set_exception", [&] { all.promise.set_exception(std::runtime_error("")); }});
    calls.push_back({"a callable made by Scope::bind()", [&] { (*all.bound)(); }});
    const std::size_t before = loop.ready_count();
    loop.call_soon([&] {
        on_another_thread([&] {
            wrong = misuse::faults<StateError>(calls, "use call_soon_threadsafe() or a poster()");
        });
        BOOST_TEST(loop.ready_count() == 0u);  // none had an effect
    });
    BOOST_TEST(before == 1u);
    loop.run_iterations(1);
    for (const std::string& text : wrong) BOOST_ERROR(text);
    BOOST_TEST(!all.promise.done());
    BOOST_TEST(all.task.done());
    BOOST_TEST(loop.timer_count() == 1u);
    BOOST_TEST(loop.watch_count() == 0u);
    // What runs a loop, or ends it, needs no advice about posting.
    const std::vector<Call> runs = {
        {"run_forever", [&] { loop.run_forever(); }},
        {"run_once", [&] { loop.run_once(); }},
        {"close", [&] { loop.close(); }},
    };
    loop.call_soon([&] {
        on_another_thread([&] { wrong = misuse::faults<StateError>(runs, "the event loop runs"); });
    });
    loop.run_iterations(1);
    for (const std::string& text : wrong) BOOST_ERROR(text);
    BOOST_TEST(!loop.is_closed());
    all.timer.cancel();
    all.promise.cancel();
}

REACTOR_LOOP_TEST(no_callback_runs_a_loop_inside_a_loop) {
    reactor::testing::TestLoop other(loop.selector_name());
    const Promise<int> promise = loop.create_promise<int>();
    const Promise<int> others = other.create_promise<int>();
    reactor::Runner runner;
    const auto sleeps = [](EventLoop& l) { return reactor::sleep(l, seconds(0)); };
    int checked = 0;
    loop.call_soon([&] {
        const std::vector<Call> same = {
            {"run_forever", [&] { loop.run_forever(); }},
            {"run_once", [&] { loop.run_once(); }},
            {"close", [&] { loop.close(); }},
        };
        misuse::expect<StateError>(same, "the event loop runs");
        const std::vector<Call> foreign = {
            {"run_forever", [&] { other.run_forever(); }},
            {"run_once", [&] { other.run_once(); }},
        };
        misuse::expect<StateError>(foreign, "run this one on a thread of its own");
        const std::vector<Call> runners = {
            {"Runner::run", [&] { runner.run(sleeps); }},
            {"Runner::run", [&] { reactor::run<Forty>(); }},
        };
        misuse::expect<StateError>(runners, "a callback cannot run another one");
        BOOST_CHECK_THROW(loop.run_until_complete(promise), StateError);
        BOOST_CHECK_THROW(other.run_until_complete(others), StateError);
        BOOST_CHECK_THROW(loop.run_until_complete<Forty>(), StateError);
        other.close();  // it does not run: fine
        ++checked;
    });
    loop.call_soon(say("went on"));
    loop.run_iterations(1);
    BOOST_TEST(checked == 1);
    BOOST_TEST(heard() == "went on");
    BOOST_TEST(loop.is_closed() == false);
    // The refused runs left nothing behind: this one ends by its own promise.
    loop.call_soon([&] { promise.set_result(4); });
    BOOST_TEST(loop.run_until_complete(promise) == 4);
}

REACTOR_LOOP_TEST(empty_handles_and_promises_answer_or_say_so) {
    reactor::Handle handle;
    reactor::TimerHandle timer;
    BOOST_TEST(!handle.cancel());
    BOOST_TEST(!handle.cancelled());
    BOOST_TEST(!timer.reschedule(loop.time()));
    BOOST_TEST((timer.when() == reactor::never()));
    BOOST_TEST(timer.missed_ticks() == 0u);
    BOOST_TEST(handle.name() == "");
    Promise<int> moved = loop.create_promise<int>();
    const Promise<int> taken = std::move(moved);
    for (const Promise<int>& empty : {Promise<int>(), moved}) {
        const std::vector<Call> calls = {
            {"done", [&] { empty.done(); }},
            {"cancelled", [&] { empty.cancelled(); }},
            {"cancel", [&] { empty.cancel(); }},
            {"result", [&] { empty.result(); }},
            {"take", [&] { empty.take(); }},
            {"error", [&] { empty.error(); }},
            {"exception", [&] { empty.exception(); }},
            {"set_result", [&] { empty.set_result(1); }},
            {"set_exception", [&] { empty.set_exception(std::runtime_error("")); }},
            {"loop", [&] { empty.loop(); }},
            {"then", [&] { empty.then([] {}); }},
            {"except", [&] { empty.except([](std::exception_ptr) { return 1; }); }},
            {"add_done_callback", [&] { empty.add_done_callback([](const Promise<int>&) {}); }},
            {"remove_done_callback", [&] { empty.remove_done_callback(reactor::DoneKey()); }},
        };
        misuse::expect<StateError>(calls, "the promise is empty: get one from create_promise()");
        BOOST_CHECK_THROW(reactor::gather(empty), StateError);
        BOOST_CHECK_THROW(reactor::wait_for(empty, seconds(1)), StateError);
        BOOST_CHECK_THROW(loop.run_until_complete(empty), StateError);
    }
    taken.cancel();
}

BOOST_AUTO_TEST_CASE(a_scope_that_outlives_its_loop_says_so) {
    std::unique_ptr<EventLoop> loop(new EventLoop);
    Scope scope(*loop);
    const reactor::TimePoint when = loop->time();
    loop.reset();
    const auto nothing = [] {};
    const std::vector<Call> calls = {
        {"call_soon", [&] { scope.call_soon(nothing); }},
        {"call_later", [&] { scope.call_later(seconds(1), nothing); }},
        {"call_at", [&] { scope.call_at(when, nothing); }},
        {"call_every", [&] { scope.call_every(seconds(1), nothing); }},
        {"add_reader", [&] { scope.add_reader(0, nothing); }},
        {"add_writer", [&] { scope.add_writer(0, nothing); }},
        {"loop", [&] { scope.loop(); }},
    };
    misuse::expect<StateError>(calls, "a scope must end before its loop");
}

BOOST_AUTO_TEST_CASE(a_closed_runner_and_a_factory_of_nothing_say_so) {
    reactor::Runner runner;
    runner.get_loop();
    runner.close();
    const std::vector<Call> closed = {
        {"Runner::run", [&] { runner.run<Forty>(); }},
        {"Runner::get_loop", [&] { runner.get_loop(); }},
    };
    misuse::expect<StateError>(closed, "make a new one");
    reactor::RunnerOptions options;
    options.loop_factory = [] { return std::unique_ptr<EventLoop>(); };
    reactor::Runner nothing(options);
    const std::vector<Call> calls = {{"Runner::get_loop", [&] { nothing.get_loop(); }}};
    misuse::expect<StateError>(calls, "return a loop, or give no factory");
}

BOOST_AUTO_TEST_SUITE_END()
