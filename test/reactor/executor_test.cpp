// SPDX-License-Identifier: BSL-1.0
#include <reactor/executor.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <reactor/combinators.hpp>
#include <reactor/context.hpp>

#include "executors.hpp"

namespace {

using executor_test::Executors;
using executor_test::Gate;
using reactor::Callback;
using reactor::EventLoop;
using reactor::Promise;
using reactor::StateError;
using reactor::ThreadPool;

/// Runs every job inside submit().
struct AtOnce : reactor::Executor {
    void submit(Callback job) override { job(); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(executor)

REACTOR_LOOP_TEST_IN(Executors, TH_05_runs_on_another_thread_and_delivers_on_the_loops) {
    const auto here = std::this_thread::get_id();
    const auto promise = loop.run_in_executor(
        [](int a, std::unique_ptr<int> b) {
            return std::make_pair(std::this_thread::get_id(), a + *b);
        },
        40, std::unique_ptr<int>(new int(2)));
    std::thread::id called_on;
    promise.add_done_callback([&](const Promise<std::pair<std::thread::id, int>>&) {
        called_on = std::this_thread::get_id();
    });
    const auto result = loop.run_until_complete(promise);
    BOOST_TEST((result.first != here));
    BOOST_TEST(result.second == 42);
    BOOST_TEST((called_on == here));
    std::string text = "x";
    loop.run_until_complete(loop.run_in_executor([](std::string& t) { t += "y"; }, std::ref(text)));
    BOOST_TEST(text == "xy");
}

REACTOR_LOOP_TEST_IN(Executors, TH_06_keeps_the_error_object) {
    struct Own : std::runtime_error {
        Own() : std::runtime_error("own") {}
    };
    std::exception_ptr thrown;
    const auto promise = loop.run_in_executor([&thrown] {
        try {
            throw Own();
        } catch (...) {
            thrown = std::current_exception();
            throw;
        }
    });
    BOOST_CHECK_THROW(loop.run_until_complete(promise), Own);
    BOOST_TEST((promise.error() == thrown));
    const auto cancelled =
        loop.run_in_executor([] { throw reactor::CancelledError("by the job"); });
    BOOST_CHECK_THROW(loop.run_until_complete(cancelled), reactor::CancelledError);
    BOOST_TEST(cancelled.cancelled());
}

REACTOR_LOOP_TEST_IN(Executors, TH_07_a_job_that_is_cancelled_before_its_start_is_never_called) {
    ThreadPool pool(1);
    Gate gate;
    auto capture = std::make_shared<int>(0);
    const std::weak_ptr<int> kept = capture;
    const auto first = run_in_executor(loop, pool, [&gate] { gate.pass(); });
    const auto second = run_in_executor(
        loop, pool, [](std::shared_ptr<int>) { BOOST_ERROR("called"); }, capture);
    capture.reset();
    gate.wait_until_entered();
    BOOST_TEST(!kept.expired());
    BOOST_TEST(second.cancel());
    BOOST_TEST(kept.expired());
    BOOST_TEST(second.cancelled());
    loop.run_once(reactor::Duration::zero());
    loop.run_once(reactor::Duration::zero());
    gate.open();
    loop.run_until_complete(first);
    BOOST_TEST(loop.run_until_complete(run_in_executor(loop, pool, [] { return 3; })) == 3);
    BOOST_TEST(pool.thread_count() == 1u);
}

BOOST_FIXTURE_TEST_CASE(the_result_of_a_job_that_is_cancelled_while_it_runs_is_dropped, Executors) {
    ThreadPool pool(1);
    Gate gate;
    const auto value = std::make_shared<int>(1);
    const auto promise = run_in_executor(loop, pool, [&gate, value] {
        gate.pass();
        return value;
    });
    gate.wait_until_entered();
    BOOST_TEST(promise.cancel());
    gate.open();
    loop.run_until_complete(pool.shutdown(loop));
    loop.run_once(reactor::Duration::zero());
    BOOST_TEST(promise.cancelled());
    BOOST_TEST(value.use_count() == 1);
}

REACTOR_LOOP_TEST_IN(Executors, TH_08_close_of_the_loop_does_not_wait_for_jobs) {
    Gate returns;
    Gate throws;
    const auto value = std::make_shared<int>(1);
    const auto called = [](const reactor::AnyPromise&) { BOOST_ERROR("called"); };
    const auto first = loop.run_in_executor([&returns, value] {
        returns.pass();
        return value;
    });
    const auto second = loop.run_in_executor([&throws, value] {
        throws.pass();
        throw std::runtime_error("for nobody");
    });
    first.add_done_callback(called);
    second.add_done_callback(called);
    returns.wait_until_entered();
    throws.wait_until_entered();
    loop.close();  // with both of them running: it does not wait
    BOOST_TEST(loop.is_closed());
    returns.open();
    throws.open();
    while (value.use_count() > 1) std::this_thread::yield();
    BOOST_TEST(!first.done());
    BOOST_TEST(!second.done());
}

BOOST_FIXTURE_TEST_CASE(shutdown_of_the_default_executor_waits_for_its_jobs, Executors) {  // TH-09
    Gate gate;
    std::atomic<bool> ended{false};
    const auto job = loop.run_in_executor([&] {
        gate.pass();
        ended = true;
    });
    gate.wait_until_entered();
    const auto shut = shutdown_default_executor(loop);
    loop.run_once(reactor::Duration::zero());
    BOOST_TEST(!shut.done());
    gate.open();
    loop.run_until_complete(shut);
    BOOST_TEST(ended.load());
    loop.run_until_complete(job);
    BOOST_CHECK_THROW(loop.run_in_executor([] {}), StateError);
    ThreadPool own;
    BOOST_TEST(loop.run_until_complete(run_in_executor(loop, own, [] { return 1; })) == 1);
    BOOST_TEST(shutdown_default_executor(loop).done());
}

REACTOR_LOOP_TEST_IN(Executors, C_10_a_job_sees_an_empty_context_or_a_copy) {
    reactor::ContextVar<std::string> variable("variable", "unset");
    ThreadPool pool(1);
    variable.set("x");
    const auto read_and_set = [&variable] {
        const std::string seen = variable.get();
        variable.set("y");
        return seen;
    };
    for (int i = 0; i < 2; ++i) {  // on the same thread: the second sees nothing of the first
        BOOST_TEST(loop.run_until_complete(run_in_executor(loop, pool, read_and_set)) == "unset");
    }
    BOOST_CHECK_THROW(reactor::to_thread(read_and_set), StateError);  // which loop?
    Promise<std::string> copied;
    loop.call_soon([&] { copied = reactor::to_thread(read_and_set); });
    loop.run_once();
    BOOST_TEST(loop.run_until_complete(copied) == "x");
    BOOST_TEST(variable.get() == "x");
    AtOnce at_once;
    BOOST_TEST(loop.run_until_complete(run_in_executor(loop, at_once, read_and_set)) == "unset");
    BOOST_TEST(variable.get() == "x");
}

BOOST_FIXTURE_TEST_CASE(an_executor_that_runs_at_once_does_not_complete_inline,
                        Executors) {  // law 1
    AtOnce at_once;
    const auto promise = run_in_executor(loop, at_once, [] { return 5; });
    BOOST_TEST(!promise.done());
    BOOST_TEST(loop.run_until_complete(promise) == 5);
}

BOOST_FIXTURE_TEST_CASE(a_future_of_another_thread_becomes_a_promise, Executors) {
    std::promise<int> source;
    const auto promise = reactor::from_future(loop, source.get_future());
    source.set_value(9);
    BOOST_TEST(loop.run_until_complete(promise) == 9);
    std::promise<void> fails;
    const auto failed = reactor::from_future(loop, fails.get_future());
    fails.set_exception(std::make_exception_ptr(std::runtime_error("failed")));
    BOOST_CHECK_THROW(loop.run_until_complete(failed), std::runtime_error);
    BOOST_CHECK_THROW(reactor::from_future(loop, std::future<int>()), std::future_error);
}

BOOST_FIXTURE_TEST_CASE(ten_thousand_jobs_all_come_back, Executors) {
    int sum = 0;
    std::vector<Promise<int>> jobs;
    for (int i = 0; i < 10000; ++i) {
        jobs.push_back(loop.run_in_executor([i] { return i; }));
    }
    for (const int value : loop.run_until_complete(reactor::gather(jobs))) sum += value;
    BOOST_TEST(sum == 10000 / 2 * 9999);
}

BOOST_FIXTURE_TEST_CASE(an_unread_error_is_reported_and_names_the_call, Executors) {
    std::vector<std::string> reports;
    loop.set_exception_handler(
        [&](EventLoop&, const reactor::Report& report) { reports.push_back(report.text()); });
    loop.run_in_executor([] { throw std::runtime_error("unread"); });
    loop.run_until_complete(shutdown_default_executor(loop));
    loop.run_once(reactor::Duration::zero());
    BOOST_REQUIRE(reports.size() == 1u);
    BOOST_TEST(reports[0].find("run_in_executor") != std::string::npos);
    BOOST_TEST(reports[0].find("unread") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
