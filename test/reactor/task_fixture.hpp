// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_TASK_FIXTURE_HPP
#define REACTOR_TEST_TASK_FIXTURE_HPP

#include <reactor/promise.hpp>
#include <reactor/task.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <test/support/loop_test.hpp>

namespace task_test {

using reactor::CancelledError;
using reactor::Duration;
using reactor::EventLoop;
using reactor::Next;
using reactor::Promise;
using reactor::Task;
using reactor::TaskHandle;
using std::chrono::milliseconds;
using std::chrono::seconds;

class MovedClock final : public reactor::Clock {
public:
    reactor::TimePoint now() const noexcept override { return now_; }
    void set(reactor::TimePoint now) { now_ = now; }

private:
    reactor::TimePoint now_{seconds(1000)};
};

/// A loop in a time that the test moves, and what it reported. At the end nothing may be left that
/// the test did not ask for.
class TaskFixture {
public:
    /// On the selector of that name; empty: the default one.
    explicit TaskFixture(const std::string& selector = std::string())
        : owned_(new EventLoop(
              selector.empty() ? reactor::default_selector() : reactor::make_selector(selector),
              clock)),
          loop(*owned_) {
        loop.set_exception_handler(
            [this](EventLoop&, const reactor::Report& report) { reports_.push_back(report); });
    }
    ~TaskFixture() {
        close();
        for (const auto& report : reports_) BOOST_ERROR("unexpected report: " + report.text());
    }
    TaskFixture(const TaskFixture&) = delete;
    TaskFixture& operator=(const TaskFixture&) = delete;

    void iterate() { loop.run_once(Duration::zero()); }
    /// Runs what is queued, until nothing is.
    void settle() {
        while (loop.ready_count() != 0) iterate();
    }
    void advance(Duration by) {
        clock.set(clock.now() + by);
        iterate();
        settle();
    }
    /// Runs until neither callbacks nor timers are left.
    void run_until_idle() {
        settle();
        while (loop.timer_count() != 0) {
            clock.set(loop.core().timers.next_deadline());
            iterate();
            settle();
        }
    }
    void close() {
        if (owned_) owned_->close();
        owned_.reset();
    }
    std::vector<reactor::Report> take_reports() { return std::move(reports_); }
    std::size_t live() const { return loop.core().live(); }

    /// A promise that is done after a while, unless it is cancelled.
    Promise<void> after(Duration delay) {
        const Promise<void> promise = loop.create_promise<void>();
        loop.call_later(
            delay,
            [](Promise<void> late) {
                if (!late.done()) late.set_result();
            },
            promise);
        return promise;
    }

    MovedClock clock;

private:
    std::vector<reactor::Report> reports_;
    std::unique_ptr<EventLoop> owned_;

public:
    EventLoop& loop;
};

struct Fault : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline std::string text_of(const std::exception_ptr& error) {
    return error ? reactor::describe(error) : std::string();
}

template <class E, class F>
bool throws(F f) {
    try {
        f();
    } catch (const E&) {
        return true;
    } catch (...) {
    }
    return false;
}

/// A task written inside the test: how it begins, and what it makes of an outcome.
class Script : public Task<int> {
public:
    using Begin = std::function<Next(Script&)>;
    using Seen = std::function<Next(Script&, Promise<int>)>;

    explicit Script(Begin begin, Seen seen = nullptr)
        : begin_(std::move(begin)), seen_(std::move(seen)) {}

    Next start() override { return begin_(*this); }
    /// Waits for the value.
    Next value_of(Promise<int> promise) { return await(std::move(promise), &Script::value); }
    /// Waits for every outcome.
    Next outcome_of(Promise<int> promise) { return await(std::move(promise), &Script::outcome); }
    Next begin_again() { return yield(&Script::start); }

    using Task<int>::await;
    using Task<int>::cancel;
    using Task<int>::cancelling;
    using Task<int>::end;
    using Task<int>::finish;
    using Task<int>::loop;
    using Task<int>::uncancel;
    using Task<int>::yield;

private:
    Next value(int value) { return finish(value); }
    Next outcome(Promise<int> promise) { return seen_(*this, std::move(promise)); }

    Begin begin_;
    Seen seen_;
};

/// Writes its name and the number of its step, as often as it yields and once more.
class Stepper : public Task<void> {
public:
    Stepper(std::vector<std::string>& log, std::string name, int yields)
        : log_(log), name_(std::move(name)), left_(yields) {}

private:
    Next start() override {
        log_.push_back(name_ + std::to_string(++step_));
        return step_ > left_ ? finish() : yield(&Stepper::start);
    }

    std::vector<std::string>& log_;
    std::string name_;
    int left_;
    int step_ = 0;
};

}  // namespace task_test

#endif
