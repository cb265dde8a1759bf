// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_REACTOR_RUNNER_FIXTURE_HPP
#define REACTOR_TEST_REACTOR_RUNNER_FIXTURE_HPP

#include <reactor/combinators.hpp>
#include <reactor/runner.hpp>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>

#include <test/support/loop_test.hpp>

namespace runner_test {

using reactor::CancelledError;
using reactor::EventLoop;
using reactor::Next;
using std::chrono::hours;

/// What a runner is made with that makes its loop on one of the selectors.
struct RunnerTest {
    explicit RunnerTest(const std::string& name) : selector(name) {
        options.loop_factory = [name] {
            return std::unique_ptr<EventLoop>(new EventLoop(reactor::make_selector(name)));
        };
    }
    std::string selector;
    reactor::RunnerOptions options;
};

class Add : public reactor::Task<int> {
public:
    Add(int a, int b) : a_(a), b_(b) {}

private:
    Next start() override { return yield(&Add::sum); }
    Next sum() {
        if (a_ < 0) throw std::invalid_argument("negative");
        return finish(a_ + b_);
    }
    int a_;
    int b_;
};

/// Sleeps; what it does when it is cancelled takes one more iteration.
class Sleeper : public reactor::Task<int> {
public:
    enum End { escape, fail_in_clean_up, swallow, replace };
    Sleeper(End end, std::string& log) : end_(end), log_(log) {}

private:
    Next start() override {
        return await(reactor::sleep(hours(1)), &Sleeper::slept, &Sleeper::cancelled);
    }
    Next slept() { return finish(0); }
    Next cancelled(const CancelledError&) {
        if (end_ == swallow) return yield(&Sleeper::swallowed);
        if (end_ == replace) throw std::runtime_error("K");
        throw;
    }
    Next swallowed() {
        log_ += "s";
        return finish(7);
    }
    Next finally() override { return yield(&Sleeper::clean); }
    Next clean() {
        log_ += "c";
        if (end_ == fail_in_clean_up) throw std::runtime_error("K");
        return end();
    }
    End end_;
    std::string& log_;
};

}  // namespace runner_test

#endif
