// SPDX-License-Identifier: BSL-1.0
#include <reactor/runner.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <reactor/combinators.hpp>
#include <reactor/executor.hpp>

#include "runner_fixture.hpp"

namespace {

using namespace runner_test;
using reactor::Context;
using reactor::Options;
using reactor::Promise;
using reactor::Runner;
using reactor::RunnerOptions;
using reactor::StateError;

/// Gives the variable's value and sets it.
class Exchange : public reactor::Task<int> {
public:
    Exchange(reactor::ContextVar<int>& variable, int value) : variable_(variable), value_(value) {}

private:
    Next start() override {
        const int before = variable_.get();
        variable_.set(value_);
        return finish(before);
    }
    reactor::ContextVar<int>& variable_;
    int value_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(runner)

REACTOR_LOOP_TEST_IN(RunnerTest, R_01_one_loop_for_all_runs) {
    int made = 0;
    RunnerOptions counting = options;
    counting.debug = true;
    counting.loop_factory = [this, &made] {
        ++made;
        return options.loop_factory();
    };
    Runner runner(counting);
    BOOST_TEST(made == 0);
    EventLoop& loop = runner.get_loop();
    BOOST_TEST(loop.debug());
    BOOST_TEST(loop.selector_name() == selector);
    BOOST_TEST(!loop.is_running());
    BOOST_TEST(runner.run<Add>(1, 2) == 3);
    BOOST_TEST(!loop.is_running());
    BOOST_CHECK_THROW(runner.run<Add>(-1, 2), std::invalid_argument);
    BOOST_TEST(&runner.get_loop() == &loop);
    BOOST_TEST(!loop.is_running());
    BOOST_TEST(!loop.is_closed());
    BOOST_TEST(made == 1);

    Runner plain;  // without a factory, and without debug mode
    BOOST_TEST(plain.run<Add>(2, 2) == 4);
    BOOST_TEST(!plain.get_loop().debug());
}

BOOST_AUTO_TEST_CASE(runs_functions_that_return_promises) {
    Runner runner;
    BOOST_TEST(runner.run([](EventLoop& loop) {
        BOOST_TEST((reactor::running_loop() == &loop));
        return loop.create_task<Add>(3, 4);
    }) == 7);
    auto pointer = runner.run([](EventLoop& loop) {
        const auto promise = loop.create_promise<std::unique_ptr<int>>();
        promise.set_result(new int(5));
        return promise;
    });
    BOOST_TEST(*pointer == 5);
    runner.run([](EventLoop& loop) { return reactor::sleep(loop, hours(0)); });
    BOOST_CHECK_THROW(
        runner.run([](EventLoop&) -> Promise<void> { throw std::runtime_error("f"); }),
        std::runtime_error);
    BOOST_TEST(reactor::run<Add>(5, 6) == 11);
    BOOST_TEST(reactor::run([](EventLoop& loop) { return loop.create_task<Add>(1, 1); }) == 2);
}

REACTOR_LOOP_TEST_IN(RunnerTest, R_02_a_closed_runner_stays_closed) {
    bool closed = false;
    struct Witness {
        bool* closed;
        explicit Witness(EventLoop&) : closed(nullptr) {}
        ~Witness() { *closed = true; }
    };
    Runner runner(options);
    runner.run<Add>(1, 2);
    EventLoop& loop = runner.get_loop();
    loop.service<Witness>().closed = &closed;
    runner.close();
    BOOST_TEST(closed);
    BOOST_TEST(loop.is_closed());
    runner.close();
    BOOST_CHECK_THROW(runner.run<Add>(1, 2), StateError);
    BOOST_CHECK_THROW(runner.get_loop(), StateError);
}

REACTOR_LOOP_TEST_IN(RunnerTest, R_03_closing_before_the_first_use_does_nothing) {
    Runner runner(options);
    runner.close();
    BOOST_TEST(runner.run<Add>(1, 2) == 3);
}

REACTOR_LOOP_TEST_IN(RunnerTest, R_04_a_callback_cannot_run_another_loop) {
    Runner runner(options);
    Runner inner(options);
    bool started = false;
    EventLoop& loop = runner.get_loop();
    loop.call_soon([&] {
        const auto body = [&started](EventLoop& l) {
            started = true;
            return reactor::sleep(l, hours(0));
        };
        BOOST_CHECK_THROW(inner.run(body), StateError);
        BOOST_CHECK_THROW(runner.run(body), StateError);
        BOOST_CHECK_THROW(runner.close(), StateError);
    });
    runner.run<Add>(1, 2);
    BOOST_TEST(!started);
    BOOST_TEST(inner.run<Add>(1, 2) == 3);
}

REACTOR_LOOP_TEST_IN(RunnerTest, R_05_close_ends_what_still_runs_and_reports_what_fails) {
    std::vector<reactor::Report> reports;
    std::string log;
    bool job_ended = false;
    Runner runner(options);
    EventLoop& loop = runner.get_loop();
    loop.set_exception_handler(
        [&](EventLoop&, const reactor::Report& report) { reports.push_back(report); });
    const int result = runner.run([&](EventLoop& l) {
        for (const auto end : {Sleeper::escape, Sleeper::fail_in_clean_up, Sleeper::swallow}) {
            l.create_task<Sleeper>(end, log);
        }
        l.run_in_executor([&job_ended] {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            job_ended = true;
        });
        return l.create_task<Add>(1, 2);
    });
    BOOST_TEST(result == 3);
    BOOST_TEST(log.empty());
    runner.close();
    BOOST_TEST(log == "ccsc");
    BOOST_TEST(job_ended);
    BOOST_REQUIRE(reports.size() == 1u);
    BOOST_TEST(reports[0].message.find("shutdown") != std::string::npos);
    BOOST_TEST(reactor::describe(reports[0].exception) == "K");
    BOOST_TEST(reports[0].task.find("Sleeper") != std::string::npos);
}

REACTOR_LOOP_TEST_IN(RunnerTest, R_06_all_runs_share_one_context) {
    reactor::ContextVar<int> variable("variable", -1);
    Runner runner(options);
    BOOST_TEST(runner.run<Exchange>(variable, 1) == -1);
    BOOST_TEST(runner.run<Exchange>(variable, 2) == 1);
    Context own;
    BOOST_TEST(runner.run<Exchange>(Options().context(own), variable, 3) == -1);
    BOOST_TEST(*own.get(variable) == 3);
    BOOST_TEST(runner.run<Exchange>(Options().label("named"), variable, 4) == 2);
    const auto exchange = [&](EventLoop& loop) {
        const auto before = loop.create_promise<int>();
        before.set_result(variable.get());
        variable.set(5);
        return before;
    };
    BOOST_TEST(runner.run(exchange) == 4);
    BOOST_TEST(runner.run(Options().context(own), exchange) == 3);
    BOOST_TEST(variable.get() == -1);
}

BOOST_AUTO_TEST_SUITE_END()
