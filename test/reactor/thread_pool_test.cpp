// SPDX-License-Identifier: BSL-1.0
#include <reactor/executor.hpp>

#include <boost/test/unit_test.hpp>

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <reactor/combinators.hpp>

#include "executors.hpp"

namespace {

using executor_test::Executors;
using executor_test::Gate;
using reactor::Callback;
using reactor::Promise;
using reactor::StateError;
using reactor::ThreadPool;

}  // namespace

BOOST_AUTO_TEST_SUITE(thread_pool)

BOOST_FIXTURE_TEST_CASE(shutdown_without_any_job_starts_no_thread, Executors) {
    BOOST_TEST(shutdown_default_executor(loop).done());
    ThreadPool pool;
    BOOST_TEST(pool.thread_count() == 0u);
    BOOST_TEST(pool.shutdown(loop).done());
    BOOST_CHECK_THROW(pool.submit(Callback([] {})), StateError);
}

BOOST_FIXTURE_TEST_CASE(a_pool_that_closes_cancels_what_it_never_ran, Executors) {
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

BOOST_FIXTURE_TEST_CASE(threads_are_made_when_a_job_finds_none_idle, Executors) {
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

BOOST_FIXTURE_TEST_CASE(a_bounded_queue_refuses_the_job_that_does_not_fit, Executors) {
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

BOOST_FIXTURE_TEST_CASE(the_pools_threads_leave_signals_to_the_program, Executors) {
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

BOOST_AUTO_TEST_SUITE_END()
