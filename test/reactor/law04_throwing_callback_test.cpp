// SPDX-License-Identifier: BSL-1.0
#include <reactor/event_loop.hpp>

#include <boost/test/unit_test.hpp>

#include <exception>
#include <stdexcept>
#include <vector>

#include <pthread.h>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::EventLoop;
using reactor::LogLevel;
using reactor::LoopExit;
using reactor::Report;

namespace {

[[noreturn]] void fail() { throw std::runtime_error("broken"); }

bool begins_with(const std::string& text, const std::string& prefix) {
    return text.compare(0, prefix.size(), prefix) == 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(law04_throwing_callback)

REACTOR_LOOP_TEST(L_24_a_throwing_callback_is_reported_and_the_batch_goes_on) {
    loop.call_soon(say("A"));
    loop.call_soon(fail);
    loop.call_soon(say("C"));
    loop.run_iterations(1);
    BOOST_TEST(heard() == "A C");
    expect_report("Exception in callback");
    BOOST_TEST(take_reports().empty());
}

REACTOR_LOOP_TEST(L_24_LoopExit_leaves_the_loop_and_keeps_the_rest_of_the_batch) {
    loop.call_soon([this] {
        say("A")();
        loop.stop();
    });
    loop.call_soon([] { throw LoopExit(3); });
    loop.call_soon(say("C"));
    BOOST_CHECK_EXCEPTION(loop.run_forever(), LoopExit,
                          [](const LoopExit& exit) { return exit.code() == 3; });
    BOOST_TEST(heard() == "A");
    BOOST_TEST(!loop.is_running());
    BOOST_TEST(reactor::running_loop() == nullptr);
    // The stop of the batch that LoopExit left is forgotten: this run goes beyond one iteration.
    loop.call_soon([this] { loop.call_soon([this] { loop.stop(); }); });
    loop.run_forever();
    BOOST_TEST(heard() == "C");
    BOOST_TEST(loop.ready_count() == 0u);
}

REACTOR_LOOP_TEST(A6_each_kind_of_callback_fails_alone_and_is_reported_once) {
    SocketPair pair;
    pair.send();
    loop.call_soon(say("f1"));
    loop.call_soon(fail);
    loop.call_soon([] { throw 7; });
    loop.call_soon(say("f4"));
    const reactor::Handle reader = loop.add_reader(pair.mine, fail);
    loop.add_writer(pair.mine, say("writer"));
    loop.call_later(seconds(-2), fail);
    loop.call_later(seconds(-1), say("timer"));
    loop.run_iterations(1);
    BOOST_TEST(heard() == "f1 f4 writer timer");
    BOOST_TEST(take_reports().size() == 4u);
    loop.remove_reader(pair.mine);
    loop.remove_writer(pair.mine);
    loop.run_iterations(1);
    loop.call_soon([this] { loop.stop(); });
    loop.run_forever();  // no harm done: it can be stopped and run again
}

REACTOR_LOOP_TEST(a_throwing_call_every_goes_on_ticking) {
    reactor::TimerHandle every = loop.call_every(seconds(1), fail);
    loop.run_for(seconds(3));
    BOOST_TEST(take_reports().size() == 3u);
    every.cancel();
}

REACTOR_LOOP_TEST(IO_09_a_throwing_reader_stays_registered) {
    SocketPair pair;
    pair.send();
    loop.add_reader(pair.mine, fail);
    loop.run_iterations(3);
    BOOST_TEST(take_reports().size() == 3u);
    BOOST_TEST(loop.remove_reader(pair.mine));
}

REACTOR_LOOP_TEST(LoopExit_from_a_watch_or_a_repeating_timer_leaves_them_registered) {
    SocketPair pair;
    pair.send();
    loop.add_reader(pair.mine, [] { throw LoopExit(1); });
    reactor::TimerHandle every = loop.call_every(seconds(1), [] { throw LoopExit(2); });
    BOOST_CHECK_THROW(loop.run_once(), LoopExit);
    BOOST_CHECK_THROW(loop.run_once(), LoopExit);
    BOOST_TEST(loop.remove_reader(pair.mine));
    BOOST_CHECK_THROW(loop.run_forever(), LoopExit);
    BOOST_CHECK_THROW(loop.run_forever(), LoopExit);
    BOOST_TEST(every.cancel());
}

REACTOR_LOOP_TEST(E_01_the_handler_gets_message_exception_and_handle) {
    const std::exception_ptr failure = std::make_exception_ptr(std::runtime_error("broken"));
    const reactor::Handle handle = loop.call_soon(reactor::Options().label("parser"),
                                                  [&] { std::rethrow_exception(failure); });
    int logged = 0;
    int called = 0;
    loop.set_log([&](LogLevel, const std::string&) { ++logged; });
    loop.set_exception_handler([&](EventLoop& which, const Report& report) {
        ++called;
        BOOST_TEST(&which == &loop);
        BOOST_TEST(begins_with(report.message, "Exception in callback parser"));
        BOOST_TEST((report.exception == failure));
        BOOST_TEST((report.handle == handle));
    });
    loop.run_iterations(1);
    BOOST_TEST(called == 1);
    BOOST_TEST(logged == 0);
}

REACTOR_LOOP_TEST(E_02_the_default_handler_logs_the_report_in_order) {
    loop.set_exception_handler(nullptr);
    std::vector<std::string> logged;
    loop.set_log([&](LogLevel level, const std::string& text) {
        BOOST_TEST((level == LogLevel::error));
        logged.push_back(text);
    });
    Report report("M", std::make_exception_ptr(std::runtime_error("E")));
    report.details.emplace_back("zeta", "1");
    report.details.emplace_back("alpha", "2");
    loop.call_exception_handler(report);
    loop.call_exception_handler(Report(""));
    const std::vector<std::string> expected = {"M\nalpha: 2\nzeta: 1\nE",
                                               "Unhandled exception in event loop"};
    BOOST_TEST(logged == expected, boost::test_tools::per_element());
}

REACTOR_LOOP_TEST(E_03_a_handler_can_be_set_asked_for_and_taken_away) {
    loop.set_exception_handler(nullptr);
    BOOST_TEST(!loop.exception_handler());
    int called = 0;
    int logged = 0;
    loop.set_log([&](LogLevel, const std::string&) { ++logged; });
    loop.set_exception_handler([&](EventLoop& which, const Report&) {
        BOOST_TEST(&which == &loop);
        ++called;
        which.set_exception_handler(nullptr);  // while it runs
        ++called;
    });
    BOOST_TEST(static_cast<bool>(loop.exception_handler()));
    loop.call_soon(fail);
    loop.run_iterations(1);
    BOOST_TEST(called == 2);
    BOOST_TEST(logged == 0);
    loop.call_soon(fail);
    loop.run_iterations(1);
    BOOST_TEST(called == 2);
    BOOST_TEST(logged == 1);
}

struct ThrowingDefault : reactor::testing::TestLoop {
    using TestLoop::TestLoop;
    void default_exception_handler(const Report&) override { throw 1; }
};

BOOST_AUTO_TEST_CASE_TEMPLATE(E_04_handlers_that_throw_end_in_one_last_record, S, EverySelector) {
    for (const bool custom : {false, true}) {
        ThrowingDefault loop{std::string(S::name())};
        std::vector<std::string> logged;
        loop.set_log([&](LogLevel, const std::string& text) { logged.push_back(text); });
        if (custom) loop.set_exception_handler([](EventLoop&, const Report&) { throw 2; });
        bool went_on = false;
        loop.call_soon(fail);
        loop.call_soon([&went_on] { went_on = true; });
        loop.run_iterations(1);
        BOOST_TEST(went_on);
        BOOST_REQUIRE(logged.size() == 1u);
        BOOST_TEST(begins_with(logged[0], "Exception in default exception handler"));
        BOOST_TEST((logged[0].find("custom exception handler") != std::string::npos) == custom);
    }
}

REACTOR_LOOP_TEST(a_custom_handler_that_throws_is_logged_with_what_it_was_told) {
    std::vector<std::string> logged;
    loop.set_log([&](LogLevel, const std::string& text) { logged.push_back(text); });
    loop.set_exception_handler([](EventLoop&, const Report&) { throw 2; });
    loop.call_soon(fail);
    loop.run_iterations(1);
    BOOST_REQUIRE(logged.size() == 1u);
    BOOST_TEST(begins_with(logged[0], "Unhandled error in exception handler"));
    BOOST_TEST(logged[0].find("broken") != std::string::npos);
}

REACTOR_LOOP_TEST(E_05_a_handler_may_pass_on_to_the_default_one) {
    std::vector<std::string> logged;
    loop.set_log([&](LogLevel, const std::string& text) { logged.push_back(text); });
    loop.set_exception_handler(
        [](EventLoop& which, const Report& report) { which.default_exception_handler(report); });
    loop.call_soon(fail);
    loop.run_iterations(1);
    BOOST_REQUIRE(logged.size() == 1u);
    BOOST_TEST(begins_with(logged[0], "Exception in callback"));
}

REACTOR_LOOP_TEST(LoopExit_may_come_out_of_the_handler) {
    loop.set_exception_handler([](EventLoop&, const Report&) { throw LoopExit(4); });
    loop.call_soon(fail);
    loop.call_soon(say("kept"));
    BOOST_CHECK_THROW(loop.run_forever(), LoopExit);
    loop.run_iterations(1);
    BOOST_TEST(heard() == "kept");
}

// The sanitizers do not know thread cancellation (and see a reference to null in libstdc++'s way of
// catching it).
#if defined(__has_feature)
#define REACTOR_HAS_FEATURE(x) __has_feature(x)
#else
#define REACTOR_HAS_FEATURE(x) 0
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !REACTOR_HAS_FEATURE(address_sanitizer) && !REACTOR_HAS_FEATURE(thread_sanitizer)

// Swallowing the exception with which glibc unwinds a cancelled thread would abort the process.
REACTOR_LOOP_TEST(a_thread_can_be_cancelled_inside_a_callback_or_a_handler) {
    for (const bool in_handler : {false, true}) {
        bool unwound = false;
        bool ended = false;
        const auto cancel_here = [&unwound] {
            struct Note {
                bool& flag;
                ~Note() { flag = true; }
            } note{unwound};
            ::pthread_cancel(::pthread_self());
            ::pthread_testcancel();
        };
        std::thread thread([&] {
            EventLoop own(reactor::make_selector(loop.selector_name()));
            own.set_exception_handler([&](EventLoop&, const Report&) { cancel_here(); });
            if (in_handler) {
                own.call_soon(fail);
            } else {
                own.call_soon(cancel_here);
            }
            own.run_once();
            ended = true;
        });
        thread.join();
        BOOST_TEST(unwound);
        BOOST_TEST(!ended);
    }
}

#endif

BOOST_AUTO_TEST_SUITE_END()
