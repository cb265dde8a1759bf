// SPDX-License-Identifier: BSL-1.0
#include <reactor/error.hpp>

#include <boost/test/unit_test.hpp>

#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>

#include <reactor/combinators.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>
#include <reactor/task.hpp>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::AnyPromise;
using reactor::CancelledError;
using reactor::EventLoop;
using reactor::InvalidStateError;
using reactor::LoopExit;
using reactor::Promise;
using reactor::StateError;

namespace {

template <class Base, class Derived>
using Is = std::is_base_of<Base, Derived>;

static_assert(Is<std::logic_error, StateError>::value, "misuse");
static_assert(Is<std::logic_error, InvalidStateError>::value, "misuse");
static_assert(Is<std::logic_error, reactor::BrokenPromise>::value, "misuse");
static_assert(Is<std::logic_error, reactor::LookupError>::value, "misuse");
static_assert(Is<std::system_error, reactor::TimeoutError>::value, "what the system did");
static_assert(Is<std::runtime_error, reactor::IncompleteReadError>::value, "what a peer did");
static_assert(Is<std::runtime_error, reactor::LimitOverrunError>::value, "what a peer did");
static_assert(!Is<std::exception, CancelledError>::value, "no legacy handler may swallow it");
static_assert(!Is<std::exception, LoopExit>::value, "no legacy handler may swallow it");
static_assert(Is<LoopExit, reactor::Interrupted>::value, "leaves the loop");

/// Legacy code that thinks it can handle everything.
template <class F>
bool swallowed(F f) {
    try {
        f();
    } catch (const std::exception&) {
        return true;
    } catch (...) {
        return false;
    }
    return false;
}

struct Fails : reactor::Task<int> {
    reactor::Next start() override { throw std::runtime_error("of a task"); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(law12_errors)

BOOST_AUTO_TEST_CASE(a_time_out_of_ours_and_one_of_the_system_are_one_clause) {
    for (const int ours : {0, 1}) {
        try {
            if (ours == 1) throw reactor::TimeoutError();
            throw std::system_error(ETIMEDOUT, std::system_category(), "connect");
        } catch (const std::system_error& error) {
            BOOST_TEST((error.code() == std::errc::timed_out));
        }
    }
    const reactor::IncompleteReadError incomplete("abc", 10);
    BOOST_TEST(incomplete.partial == "abc");
    BOOST_TEST(incomplete.expected == 10u);
    BOOST_TEST(std::string(incomplete.what()) == "the stream ended after 3 of 10 expected bytes");
    BOOST_TEST(reactor::LimitOverrunError("too long", 7).consumed == 7u);
    BOOST_TEST(reactor::Interrupted().code() == 130);
}

REACTOR_LOOP_TEST(legacy_handlers_swallow_neither_cancellation_nor_exit) {
    const auto promise = loop.create_promise<int>();
    promise.cancel("why");
    BOOST_TEST(!swallowed([&] { promise.result(); }));
    BOOST_TEST(swallowed([&] { loop.create_promise<int>().result(); }));
    loop.call_soon([] {
        BOOST_TEST(!swallowed([] { throw CancelledError(); }));
        try {
            throw LoopExit(7);
        } catch (const std::exception&) {
            BOOST_ERROR("swallowed");
        }
    });
    BOOST_CHECK_THROW(loop.run_until_idle(), LoopExit);
}

REACTOR_LOOP_TEST(cancellation_travels_as_a_state) {
    const auto promise = loop.create_promise<int>();
    const auto next = promise.then([](int) { return 1; });
    next.cancel();
    loop.run_iterations(3);
    for (const AnyPromise& cancelled : {AnyPromise(promise), AnyPromise(next)}) {
        BOOST_TEST(cancelled.cancelled());
        // No object was made and kept; each question makes its own.
        BOOST_TEST((cancelled.error() != cancelled.error()));
    }
}

REACTOR_LOOP_TEST(a_failure_that_nobody_read_is_reported_when_the_last_reference_goes) {
    auto promise = loop.create_promise<int>();
    const int line = __LINE__ - 1;
    auto copy = promise;
    promise.set_exception(std::runtime_error("unread"));
    promise = Promise<int>();
    loop.run_iterations(1);
    BOOST_TEST(take_reports().empty());
    copy = Promise<int>();
    const auto reports = take_reports();
    BOOST_REQUIRE(reports.size() == 1u);
    BOOST_TEST(reports[0].message == "Promise exception was never retrieved");
    BOOST_TEST(reactor::describe(reports[0].exception) == "unread");
    BOOST_TEST(reports[0].promise.find("law12_errors_test.cpp:" + std::to_string(line)) !=
               std::string::npos);

    loop.create_task<Fails>();
    loop.run_iterations(2);
    expect_report("Task exception was never retrieved");
}

REACTOR_LOOP_TEST(a_failure_that_somebody_read_is_not_reported) {
    for (int how = 0; how < 5; ++how) {
        const auto promise = loop.create_promise<int>();
        promise.set_exception(std::runtime_error("read"));
        if (how == 0) promise.error();
        if (how == 1) promise.exception();
        if (how == 2) BOOST_CHECK_THROW(promise.result(), std::runtime_error);
        if (how == 3) BOOST_CHECK_THROW(loop.run_until_complete(promise), std::runtime_error);
        if (how == 4) {
            promise.except([](const std::runtime_error&) { return 1; });
            loop.run_iterations(2);
        }
    }
    const auto value = loop.create_promise<int>();
    value.set_result(1);
    const auto cancelled = loop.create_promise<int>();
    cancelled.cancel();
}  // LoopFixture fails for any report

REACTOR_LOOP_TEST(misuse_is_told_from_what_the_system_did) {
    const auto promise = loop.create_promise<int>();
    BOOST_CHECK_THROW(promise.result(), InvalidStateError);
    promise.set_result(1);
    BOOST_CHECK_THROW(promise.set_result(2), InvalidStateError);
    BOOST_CHECK_THROW(promise.set_exception(std::runtime_error("late")), InvalidStateError);
    BOOST_CHECK_THROW(promise.set_exception(std::exception_ptr()), std::invalid_argument);
    BOOST_TEST(promise.take() == 1);
    BOOST_CHECK_THROW(promise.take(), InvalidStateError);
    BOOST_CHECK_THROW(Promise<int>().done(), StateError);
    BOOST_CHECK_THROW(loop.call_soon(static_cast<void (*)()>(nullptr)), std::invalid_argument);
    BOOST_CHECK_THROW(loop.call_every(seconds(0), [] {}), std::invalid_argument);
    BOOST_CHECK_THROW(loop.add_reader(1 << 20, [] {}), std::system_error);
    EventLoop closed;
    closed.close();
    try {
        closed.call_later(seconds(1), [] {});
        BOOST_ERROR("accepted");
    } catch (const StateError& error) {
        const std::string text = error.what();
        BOOST_TEST(text.find("call_later") == 0u);                     // the call
        BOOST_TEST(text.find("make a new one") != std::string::npos);  // the remedy
    }
}

REACTOR_LOOP_TEST(a_promise_that_nobody_can_complete_breaks_what_follows) {
    auto source = loop.create_promise<int>();
    const auto next = source.then([](int value) { return value; });
    source = Promise<int>();
    BOOST_CHECK_THROW(loop.run_until_complete(next), reactor::BrokenPromise);
}

BOOST_AUTO_TEST_CASE(describe_says_what_any_error_is) {
    const auto text = [](std::exception_ptr error) { return reactor::describe(error); };
    BOOST_TEST(text(nullptr) == "no error");
    BOOST_TEST(text(std::make_exception_ptr(std::runtime_error("e"))) == "e");
    BOOST_TEST(text(std::make_exception_ptr(CancelledError())) == "cancelled");
    BOOST_TEST(text(std::make_exception_ptr(CancelledError("why"))) == "cancelled: why");
    BOOST_TEST(text(std::make_exception_ptr(LoopExit(3))) ==
               "exit from the event loop with code 3");
    BOOST_TEST(text(std::make_exception_ptr(std::string("text"))) == "text");
    BOOST_TEST(text(std::make_exception_ptr(1)) == "an exception that is not a std::exception");
}

BOOST_AUTO_TEST_SUITE_END()
