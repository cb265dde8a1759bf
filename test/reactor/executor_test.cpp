// SPDX-License-Identifier: BSL-1.0
#include <reactor/executor.hpp>

#include <boost/test/unit_test.hpp>

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <reactor/combinators.hpp>
#include <reactor/context.hpp>

namespace {

using reactor::Callback;
using reactor::EventLoop;
using reactor::Promise;
using reactor::StateError;
using reactor::ThreadPool;

/// A loop that fails the test by a report.
struct Executors {
    Executors() {
        loop.set_exception_handler([](EventLoop&, const reactor::Report& report) {
            BOOST_ERROR("unexpected report: " + report.text());
        });
    }
    EventLoop loop;
};

/// Holds a job until it is opened; open in any order with the job's start.
class Gate {
public:
    Gate() : opened_(open_.get_future().share()), entered_(enter_.get_future()) {}
    void open() { open_.set_value(); }
    /// What the job calls.
    void pass() {
        enter_.set_value();
        opened_.wait();
    }
    void wait_until_entered() { entered_.wait(); }

private:
    std::promise<void> open_;
    std::promise<void> enter_;
    std::shared_future<void> opened_;
    std::future<void> entered_;
};

/// Runs every job inside submit().
struct AtOnce : reactor::Executor {
    void submit(Callback job) override { job(); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(executor, Executors)

BOOST_AUTO_TEST_CASE(runs_on_another_thread_and_delivers_on_the_loops) {  // TH-05
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

BOOST_AUTO_TEST_CASE(keeps_the_error_object) {  // TH-06
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

BOOST_AUTO_TEST_CASE(a_job_that_is_cancelled_before_its_start_is_never_called) {  // TH-07
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

BOOST_AUTO_TEST_CASE(the_result_of_a_job_that_is_cancelled_while_it_runs_is_dropped) {
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

BOOST_AUTO_TEST_CASE(close_of_the_loop_does_not_wait_for_jobs) {  // TH-08
    Gate returns;
    Gate throws;
    const auto value = std::make_shared<int>(1);
    {
        EventLoop closed;
        const auto first = closed.run_in_executor([&returns, value] {
            returns.pass();
            return value;
        });
        const auto second = closed.run_in_executor([&throws, value] {
            throws.pass();
            throw std::runtime_error("for nobody");
        });
        first.add_done_callback(
            [](const Promise<std::shared_ptr<int>>&) { BOOST_ERROR("called"); });
        returns.wait_until_entered();
        throws.wait_until_entered();
        closed.close();
        returns.open();
        while (value.use_count() > 2) std::this_thread::yield();
        BOOST_TEST(!first.done());
        BOOST_TEST(!second.done());
    }
    throws.open();
    while (value.use_count() > 1) std::this_thread::yield();
}

BOOST_AUTO_TEST_CASE(shutdown_of_the_default_executor_waits_for_its_jobs) {  // TH-09
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

BOOST_AUTO_TEST_CASE(shutdown_without_any_job_starts_no_thread) {
    BOOST_TEST(shutdown_default_executor(loop).done());
    ThreadPool pool;
    BOOST_TEST(pool.thread_count() == 0u);
    BOOST_TEST(pool.shutdown(loop).done());
    BOOST_CHECK_THROW(pool.submit(Callback([] {})), StateError);
}

BOOST_AUTO_TEST_CASE(a_pool_that_closes_cancels_what_it_never_ran) {
    Gate gate;
    std::unique_ptr<ThreadPool> pool(new ThreadPool(1));
    const auto runs = run_in_executor(loop, *pool, [&gate] { gate.pass(); });
    const auto waits = run_in_executor(loop, *pool, [] { BOOST_ERROR("called"); });
    gate.wait_until_entered();
    pool.reset();  // does not wait
    BOOST_CHECK_THROW(loop.run_until_complete(waits), reactor::CancelledError);
    gate.open();
    loop.run_until_complete(runs);
}

BOOST_AUTO_TEST_CASE(threads_are_made_when_a_job_finds_none_idle) {
    ThreadPool pool(2, "pool-of-two");
    Gate gates[3];
    std::vector<Promise<void>> jobs;
    for (std::size_t i = 0; i < 3; ++i) {
        jobs.push_back(run_in_executor(loop, pool, [&gates, i] { gates[i].pass(); }));
        BOOST_TEST(pool.thread_count() == std::min<std::size_t>(i + 1, 2));
    }
    for (Gate& gate : gates) gate.open();
    loop.run_until_complete(reactor::gather(jobs));
    BOOST_TEST(loop.run_until_complete(run_in_executor(loop, pool, [] {
        char name[16] = {};
        ::pthread_getname_np(::pthread_self(), name, sizeof name);
        return std::string(name);
    })) == "pool-of-two");
}

BOOST_AUTO_TEST_CASE(a_bounded_queue_refuses_the_job_that_does_not_fit) {
    ThreadPool pool(1, "bounded", 1);
    Gate gate;
    const auto runs = run_in_executor(loop, pool, [&gate] { gate.pass(); });
    gate.wait_until_entered();
    const auto waits = run_in_executor(loop, pool, [] {});
    try {
        run_in_executor(loop, pool, [] { BOOST_ERROR("called"); });
        BOOST_ERROR("accepted");
    } catch (const std::system_error& error) {
        BOOST_TEST(error.code().value() == EAGAIN);
    }
    gate.open();
    loop.run_until_complete(reactor::gather(runs, waits));
}

BOOST_AUTO_TEST_CASE(a_job_sees_an_empty_context_or_a_copy) {  // C-10
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

BOOST_AUTO_TEST_CASE(an_executor_that_runs_at_once_does_not_complete_inline) {  // law 1
    AtOnce at_once;
    const auto promise = run_in_executor(loop, at_once, [] { return 5; });
    BOOST_TEST(!promise.done());
    BOOST_TEST(loop.run_until_complete(promise) == 5);
}

BOOST_AUTO_TEST_CASE(the_pools_threads_leave_signals_to_the_program) {
    const auto blocked = loop.run_until_complete(loop.run_in_executor([] {
        ::sigset_t set;
        ::pthread_sigmask(SIG_BLOCK, nullptr, &set);
        return ::sigismember(&set, SIGINT) == 1 && ::sigismember(&set, SIGCHLD) == 1 &&
               ::sigismember(&set, SIGSEGV) == 0;
    }));
    BOOST_TEST(blocked);
    ::sigset_t own;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &own);
    BOOST_TEST(::sigismember(&own, SIGINT) == 0);
}

BOOST_AUTO_TEST_CASE(a_future_of_another_thread_becomes_a_promise) {
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

BOOST_AUTO_TEST_CASE(ten_thousand_jobs_all_come_back) {
    int sum = 0;
    std::vector<Promise<int>> jobs;
    for (int i = 0; i < 10000; ++i) {
        jobs.push_back(loop.run_in_executor([i] { return i; }));
    }
    for (const int value : loop.run_until_complete(reactor::gather(jobs))) sum += value;
    BOOST_TEST(sum == 10000 / 2 * 9999);
}

BOOST_AUTO_TEST_CASE(an_unread_error_is_reported_and_names_the_call) {
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
