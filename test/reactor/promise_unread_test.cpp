// SPDX-License-Identifier: BSL-1.0
#include <reactor/promise.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <reactor/task.hpp>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::Promise;
using reactor::Report;
using reactor::StateError;

namespace {

bool ends_with(const std::string& text, const std::string& end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Waits for a promise that fails, and does not mind.
class Waits : public reactor::Task<int> {
public:
    explicit Waits(Promise<int> promise) : promise_(std::move(promise)) {}

private:
    reactor::Next start() override {
        return await(std::move(promise_), &Waits::got, &Waits::failed);
    }
    reactor::Next got(int value) { return finish(value); }
    reactor::Next failed(const std::runtime_error&) { return finish(-1); }
    Promise<int> promise_;
};

}  // namespace

// Errors that nobody has asked for.
BOOST_AUTO_TEST_SUITE(promise_unread)

REACTOR_LOOP_TEST(P_11_an_error_nobody_read_is_reported_once_when_the_promise_goes) {
    const std::exception_ptr e = std::make_exception_ptr(std::runtime_error("lost"));
    {
        const auto p = loop.create_promise<int>();
        const auto copy = p;
        p.set_exception(e);
        loop.run_iterations(1);
        BOOST_TEST(take_reports().empty());
    }
    const std::vector<Report> reports = take_reports();
    BOOST_REQUIRE(reports.size() == 1u);
    BOOST_TEST(ends_with(reports[0].message, "exception was never retrieved"));
    BOOST_TEST((reports[0].exception == e));
    BOOST_TEST(reports[0].promise.find("promise_unread_test.cpp:") != std::string::npos);
}

REACTOR_LOOP_TEST(P_12_nothing_is_reported_of_what_was_read_or_is_no_error) {
    const std::runtime_error e("read");
    {
        const auto by_exception = loop.create_promise<int>();
        by_exception.set_exception(e);
        by_exception.exception();
        const auto by_result = loop.create_promise<int>();
        by_result.set_exception(e);
        BOOST_CHECK_THROW(by_result.result(), std::runtime_error);
        const auto then_cancelled = loop.create_promise<int>();
        then_cancelled.set_exception(e);
        BOOST_TEST(!then_cancelled.cancel());  // given up: nobody is left to tell
        const auto awaited = loop.create_promise<int>();
        const auto task = loop.create_task<Waits>(awaited);
        loop.run_iterations(1);
        awaited.set_exception(e);
        loop.run_iterations(1);
        BOOST_TEST(task.result() == -1);
        loop.create_promise<int>();
        loop.create_promise<int>().cancel("m");
        loop.create_promise<int>().set_result(1);
    }
    BOOST_TEST(take_reports().empty());
    // Who only hears that it is done, and ignores the error, has not read it.
    {
        const auto heard_of = loop.create_promise<int>();
        heard_of.add_done_callback([this](const Promise<int>&) { say("done")(); });
        heard_of.set_exception(e);
    }
    loop.run_iterations(1);
    BOOST_TEST(heard() == "done");
    expect_report("Promise exception was never retrieved");
    BOOST_TEST(take_reports().empty());
}

REACTOR_LOOP_TEST(P_13_an_unread_error_is_reported_after_the_loops_close_too) {
    auto failed = loop.create_promise<int>();
    failed.set_exception(std::runtime_error("lost"));
    loop.close();
    BOOST_TEST(take_reports().empty());
    failed = Promise<int>();
    expect_report("Promise exception was never retrieved");
    BOOST_TEST(take_reports().empty());
}

REACTOR_LOOP_TEST(a_closed_loop_keeps_outcomes_but_takes_no_callbacks) {
    const auto pending = loop.create_promise<int>();
    const auto capture = std::make_shared<int>(1);
    pending.add_done_callback([capture](const Promise<int>&) { BOOST_ERROR("it must not run"); });
    loop.close();
    BOOST_TEST(capture.use_count() == 1);
    pending.set_result(5);
    BOOST_TEST(pending.result() == 5);
    BOOST_CHECK_THROW(pending.add_done_callback([](const Promise<int>&) {}), StateError);
    BOOST_CHECK_THROW(pending.then([](int) {}), StateError);
    const auto late = loop.create_promise<int>();
    BOOST_TEST(late.cancel());
    BOOST_TEST(late.cancelled());
}

// As with P-12, whose cancel() comes too late, and SH-04: who waited has let go in time.
REACTOR_LOOP_TEST(a_failure_counts_as_read_if_what_follows_it_is_cancelled_at_that_moment) {
    const std::exception_ptr e = std::make_exception_ptr(std::runtime_error("lost"));
    for (const bool returned : {false, true}) {
        const auto p = loop.create_promise<int>();
        const auto gate = loop.create_promise<void>();
        const auto follows =
            returned ? gate.then([p] { return p; }) : p.then([](int i) { return i; });
        gate.set_result();
        loop.run_iterations(2);
        p.set_exception(e);
        BOOST_TEST(follows.cancel());
        loop.run_iterations(2);
        BOOST_TEST(follows.cancelled());
    }
    BOOST_TEST(take_reports().empty());
}

BOOST_AUTO_TEST_SUITE_END()
