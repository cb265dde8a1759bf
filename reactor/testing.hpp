// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TESTING_HPP
#define REACTOR_TESTING_HPP

#include <reactor/event_loop.hpp>
#include <reactor/report.hpp>
#include <reactor/testing_clock.hpp>
#include <reactor/testing_selector.hpp>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

/// How a LoopFixture fails a test; `text` is a std::string. Boost.Test's BOOST_ERROR if that was
/// included before, else a line on standard error and abort(). Define it yourself for another
/// framework, before this header: with Catch2 `#define REACTOR_TESTING_FAIL(text)
/// FAIL_CHECK(text)`.
#ifndef REACTOR_TESTING_FAIL
#ifdef BOOST_ERROR
#define REACTOR_TESTING_FAIL(text) BOOST_ERROR(text)
#else
#define REACTOR_TESTING_FAIL(text) \
    (static_cast<void>(std::fprintf(stderr, "%s\n", (text).c_str())), std::abort())
#endif
#endif

namespace reactor {

/// What tests of programs on this library need: virtual time, scripted readiness, a loop on them, a
/// fixture that notices what a test leaves behind.
namespace testing {

namespace detail {

// What a TestLoop's EventLoop is made of: in a base, so that it is there before.
struct VirtualParts {
    VirtualParts(const std::string& selector, TimePoint start);

    VirtualClock clock_;
    std::unique_ptr<VirtualSelector> made_;
    VirtualSelector& selector_;
};

}  // namespace detail

/// An event loop in virtual time: it never sleeps, and real descriptors work. Owned by the test and
/// used on its thread; everything else as for EventLoop.
class TestLoop : private detail::VirtualParts, public EventLoop {
public:
    /// On the selector of that name; empty: the default one.
    explicit TestLoop(const std::string& selector = std::string(),
                      TimePoint start = VirtualClock().now());

    VirtualClock& clock() noexcept { return clock_; }
    VirtualSelector& selector() noexcept { return selector_; }

    /// `count` iterations without time passing, whether or not there is anything to do.
    void run_iterations(std::size_t count);
    /// Iterations without time passing until nothing is queued, ready or due. Throws StateError if
    /// that does not come to an end.
    void run_until_idle();
    /// Iterations until `length` has passed, with what is due at its end. The selector's patience
    /// is limited to 20 ms in it: a test that waits for another thread or process says what for, by
    /// run_until_complete(). Throws StateError if time does not pass because there is always
    /// something ready.
    void run_for(Duration length);

private:
    bool busy();
};

/// How many descriptors the process has open.
std::size_t open_descriptors();

namespace detail {

static inline void fail_test(const std::string& text) { REACTOR_TESTING_FAIL(text); }

}  // namespace detail

/// A fixture with a loop in virtual time, which fails a test that leaves callbacks, timers, watches
/// or open descriptors behind, or reports that it did not ask for. Also usable as a local variable.
class LoopFixture {
public:
    using Fail = void (*)(const std::string& text);

    /// On the selector of that name; empty: the default one.
    explicit LoopFixture(const std::string& selector = std::string(),
                         Fail fail = &detail::fail_test);
    /// Checks, unless the test ends by an exception.
    ~LoopFixture();
    LoopFixture(const LoopFixture&) = delete;
    LoopFixture& operator=(const LoopFixture&) = delete;

    /// What came to the loop's exception handler since the last call.
    std::vector<Report> take_reports();
    /// Takes the first report whose message begins with `prefix`; fails the test if there is none.
    /// Returns its message.
    std::string expect_report(const std::string& prefix);

private:
    void check();

    const Fail fail_;
    const std::size_t descriptors_before_;

public:
    TestLoop loop;

private:
    std::vector<Report> reports_;
};

}  // namespace testing
}  // namespace reactor

#endif
