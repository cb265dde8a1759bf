// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_REACTOR_EXECUTORS_HPP
#define REACTOR_TEST_REACTOR_EXECUTORS_HPP

#include <reactor/executor.hpp>

#include <future>
#include <string>

#include <test/support/loop_test.hpp>

namespace executor_test {

/// A loop that fails the test by a report.
struct Executors {
    explicit Executors(const std::string& selector = std::string())
        : loop(selector.empty() ? reactor::default_selector() : reactor::make_selector(selector)) {
        loop.set_exception_handler([](reactor::EventLoop&, const reactor::Report& report) {
            BOOST_ERROR("unexpected report: " + report.text());
        });
    }
    reactor::EventLoop loop;
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

}  // namespace executor_test

#endif
