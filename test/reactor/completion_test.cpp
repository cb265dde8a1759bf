// SPDX-License-Identifier: BSL-1.0
#include <reactor/promise.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <reactor/combinators.hpp>
#include <reactor/executor.hpp>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::EventLoop;
using reactor::InvalidStateError;
using reactor::Promise;

// When callbacks of a promise run (python/cpython#75218, nodejs/node#13050,
// savoirfairelinux/opendht#884), and what becomes of an outcome that comes too late
// (mosquito/aio-pika#133, python/asyncio#123).

BOOST_AUTO_TEST_SUITE(completion)

REACTOR_LOOP_TEST(whoever_completes_under_a_mutex_does_not_dead_lock) {
    std::mutex mutex;  // not recursive: a callback on the spot would never get it
    const auto locking = [&](const char* word) {
        return [this, &mutex, word](const Promise<int>&) {
            const std::lock_guard<std::mutex> lock(mutex);
            say(word)();
        };
    };
    const Promise<int> value = loop.create_promise<int>();
    const Promise<int> error = loop.create_promise<int>();
    const Promise<int> cancelled = loop.create_promise<int>();
    value.add_done_callback(locking("first"));
    value.add_done_callback(locking("second"));
    error.add_done_callback(locking("error"));
    cancelled.add_done_callback(locking("cancelled"));
    {
        const std::lock_guard<std::mutex> lock(mutex);
        value.set_result(1);
        error.set_exception(std::runtime_error("e"));
        BOOST_TEST(cancelled.cancel());
        value.add_done_callback(locking("late"));  // on a promise that is done
        BOOST_TEST(heard() == "");
    }
    loop.run_iterations(1);
    BOOST_TEST(heard() == "first second error cancelled late");
    BOOST_TEST(static_cast<bool>(error.error()));
}

REACTOR_LOOP_TEST(a_callback_added_inside_a_callback_runs_in_the_next_iteration) {
    const Promise<int> done = loop.create_promise<int>();
    std::mutex mutex;
    done.add_done_callback([&](const Promise<int>& promise) {
        const std::lock_guard<std::mutex> lock(mutex);
        promise.add_done_callback([&](const Promise<int>& again) {
            const std::lock_guard<std::mutex> inner(mutex);
            BOOST_TEST(again.result() == 1);
            say("inner")();
        });
        say("outer")();
    });
    done.add_done_callback([&](const Promise<int>&) { say("next")(); });
    done.set_result(1);
    loop.run_iterations(1);
    BOOST_TEST(heard() == "outer next");
    loop.run_iterations(1);
    BOOST_TEST(heard() == "inner");
}

REACTOR_LOOP_TEST(completed_from_another_thread_callbacks_run_on_the_loops) {
    loop.selector().set_patience(seconds(60));
    for (const bool by_poster : {false, true}) {
        const Promise<int> promise = loop.create_promise<int>();
        std::thread::id ran_on;
        std::mutex mutex;
        promise.add_done_callback([&](const Promise<int>&) {
            const std::lock_guard<std::mutex> lock(mutex);
            ran_on = std::this_thread::get_id();
            say("first")();
        });
        promise.add_done_callback([&](const Promise<int>&) { say("second")(); });
        const reactor::Poster poster = loop.poster();
        std::thread other([&] {
            const std::lock_guard<std::mutex> lock(mutex);
            const auto complete = [promise] { promise.set_result(3); };
            if (by_poster) {
                BOOST_REQUIRE(poster.post(complete));
            } else {
                loop.call_soon_threadsafe(complete);
            }
        });
        BOOST_TEST(loop.run_until_complete(promise) == 3);
        other.join();
        loop.run_iterations(1);
        BOOST_TEST(heard() == "first second");
        BOOST_TEST((ran_on == std::this_thread::get_id()));
    }
}

REACTOR_LOOP_TEST(a_second_outcome_is_an_error_at_once_and_changes_nothing) {
    const auto set_value = [](const Promise<int>& p) { p.set_result(2); };
    const auto set_error = [](const Promise<int>& p) { p.set_exception(std::logic_error("late")); };
    const Promise<int> value = loop.create_promise<int>();
    const Promise<int> error = loop.create_promise<int>();
    const Promise<int> cancelled = loop.create_promise<int>();
    int told = 0;
    for (const Promise<int>& promise : {value, error, cancelled}) {
        promise.add_done_callback([&told](const Promise<int>&) { ++told; });
    }
    value.set_result(1);
    error.set_exception(std::runtime_error("first"));
    cancelled.cancel();
    for (const Promise<int>& promise : {value, error, cancelled}) {
        BOOST_CHECK_THROW(set_value(promise), InvalidStateError);
        BOOST_CHECK_THROW(set_error(promise), InvalidStateError);
        BOOST_TEST(!promise.cancel());
    }
    loop.run_iterations(2);
    BOOST_TEST(told == 3);
    BOOST_TEST(value.result() == 1);
    BOOST_CHECK_THROW(error.result(), std::runtime_error);
    BOOST_TEST(cancelled.cancelled());
}

// What a cancelled job comes back with, a value or an error, is dropped without a word, and what
// it carries is let go.
BOOST_AUTO_TEST_CASE_TEMPLATE(the_late_outcome_of_a_cancelled_job_is_dropped, S, EverySelector) {
    for (const bool fails : {false, true}) {
        EventLoop loop(reactor::make_selector(S::name()));
        loop.set_exception_handler([](EventLoop&, const reactor::Report& report) {
            BOOST_ERROR("reported: " << report.text());
        });
        std::weak_ptr<int> carried;
        std::atomic<bool> begun{false}, go{false};
        const auto job = loop.run_in_executor([&]() -> std::shared_ptr<int> {
            const auto made = std::make_shared<int>(5);
            carried = made;
            begun = true;
            while (!go) std::this_thread::yield();
            if (fails) throw std::runtime_error("too late");
            return made;
        });
        while (!begun) std::this_thread::yield();
        int told = 0;
        job.add_done_callback([&](const Promise<std::shared_ptr<int>>& done) {
            ++told;
            BOOST_TEST(done.cancelled());
        });
        BOOST_TEST(job.cancel());
        go = true;
        loop.run_until_complete(reactor::shutdown_default_executor(loop));
        loop.run_once(reactor::Duration::zero());
        BOOST_TEST(told == 1);
        BOOST_TEST(job.cancelled());
        BOOST_TEST(carried.expired());
    }
}

BOOST_AUTO_TEST_SUITE_END()
