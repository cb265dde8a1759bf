// SPDX-License-Identifier: BSL-1.0
#include <reactor/runner.hpp>

#include <boost/test/unit_test.hpp>

#include <signal.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <reactor/combinators.hpp>
#include <reactor/executor.hpp>

namespace {

using reactor::CancelledError;
using reactor::Context;
using reactor::EventLoop;
using reactor::Next;
using reactor::Options;
using reactor::Promise;
using reactor::Runner;
using reactor::RunnerOptions;
using reactor::StateError;
using std::chrono::hours;

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

bool sigint_is_default() {
    struct ::sigaction now;
    ::sigaction(SIGINT, nullptr, &now);
    return now.sa_handler == SIG_DFL;
}

/// Sends SIGINT once the main task sleeps. From a timer and not from another thread: at that time
/// the loop is inside of its wait or just behind it.
void interrupt_soon(EventLoop& loop, int times = 1) {
    loop.call_later(std::chrono::milliseconds(1), [times] {
        for (int i = 0; i < times; ++i) ::raise(SIGINT);
    });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(runner)

BOOST_AUTO_TEST_CASE(one_loop_for_all_runs) {
    int made = 0;
    RunnerOptions options;
    options.debug = true;
    options.loop_factory = [&made] {
        ++made;
        return reactor::new_event_loop();
    };
    Runner runner(options);
    BOOST_TEST(made == 0);
    EventLoop& loop = runner.get_loop();
    BOOST_TEST(loop.debug());
    BOOST_TEST(runner.run<Add>(1, 2) == 3);
    BOOST_CHECK_THROW(runner.run<Add>(-1, 2), std::invalid_argument);
    BOOST_TEST(&runner.get_loop() == &loop);
    BOOST_TEST(!loop.is_running());
    BOOST_TEST(!loop.is_closed());
    BOOST_TEST(made == 1);
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

BOOST_AUTO_TEST_CASE(a_closed_runner_stays_closed) {
    std::unique_ptr<EventLoop> kept = reactor::new_event_loop();
    EventLoop& loop = *kept;
    RunnerOptions options;
    bool closed = false;
    options.loop_factory = [&kept] { return std::move(kept); };
    struct Witness {
        bool* closed;
        explicit Witness(EventLoop&) : closed(nullptr) {}
        ~Witness() { *closed = true; }
    };
    Runner runner(options);
    runner.run<Add>(1, 2);
    loop.service<Witness>().closed = &closed;
    runner.close();
    BOOST_TEST(closed);
    BOOST_TEST(loop.is_closed());
    runner.close();
    BOOST_CHECK_THROW(runner.run<Add>(1, 2), StateError);
    BOOST_CHECK_THROW(runner.get_loop(), StateError);
}

BOOST_AUTO_TEST_CASE(closing_before_the_first_use_does_nothing) {
    Runner runner;
    runner.close();
    BOOST_TEST(runner.run<Add>(1, 2) == 3);
}

BOOST_AUTO_TEST_CASE(a_callback_cannot_run_another_loop) {
    Runner runner;
    Runner inner;
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

BOOST_AUTO_TEST_CASE(close_ends_what_still_runs_and_reports_what_fails) {
    std::vector<reactor::Report> reports;
    std::string log;
    bool job_ended = false;
    Runner runner;
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

BOOST_AUTO_TEST_CASE(all_runs_share_one_context) {
    reactor::ContextVar<int> variable("variable", -1);
    Runner runner;
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

BOOST_AUTO_TEST_CASE(sigint_cancels_the_main_task) {
    std::string log;
    Runner runner;
    BOOST_REQUIRE(sigint_is_default());
    interrupt_soon(runner.get_loop());
    BOOST_CHECK_THROW(runner.run<Sleeper>(Sleeper::escape, log), reactor::Interrupted);
    BOOST_TEST(log == "c");
    BOOST_TEST(sigint_is_default());
    interrupt_soon(runner.get_loop());
    BOOST_CHECK_THROW(runner.run([](EventLoop& loop) { return reactor::sleep(loop, hours(1)); }),
                      reactor::Interrupted);
    BOOST_TEST(runner.run<Add>(1, 2) == 3);
}

BOOST_AUTO_TEST_CASE(the_main_task_may_answer_sigint_otherwise) {
    std::string log;
    Runner runner;
    interrupt_soon(runner.get_loop());
    BOOST_TEST(runner.run<Sleeper>(Sleeper::swallow, log) == 7);
    interrupt_soon(runner.get_loop());
    BOOST_CHECK_THROW(runner.run<Sleeper>(Sleeper::replace, log), std::runtime_error);
    interrupt_soon(runner.get_loop());
    class AlsoCancelledByItself : public reactor::Task<void> {
        Next start() override {
            return await(reactor::sleep(hours(1)), &AlsoCancelledByItself::slept);
        }
        Next slept() { return finish(); }
        Next finally() override {
            cancel();
            return yield(&AlsoCancelledByItself::clean);
        }
        Next clean() { return end(); }
    };
    interrupt_soon(runner.get_loop());
    BOOST_CHECK_THROW(runner.run<AlsoCancelledByItself>(), CancelledError);
    BOOST_TEST(sigint_is_default());
}

BOOST_AUTO_TEST_CASE(the_second_sigint_does_not_wait) {
    std::string log;
    Runner runner;
    EventLoop& loop = runner.get_loop();
    loop.call_later(std::chrono::milliseconds(1), [&loop] {
        ::raise(SIGINT);
        // After the first one was seen, which takes two iterations.
        loop.call_soon([&loop] { loop.call_soon([] { ::raise(SIGINT); }); });
    });
    class Stubborn : public reactor::Task<void> {
        Next start() override {
            return await(reactor::sleep(hours(1)), &Stubborn::start, &Stubborn::again);
        }
        Next again(const CancelledError&) { return start(); }
    };
    auto stubborn = [](EventLoop& l) { return l.create_task<Stubborn>(); };
    BOOST_CHECK_THROW(runner.run(stubborn), reactor::Interrupted);
    // close() would wait for it for ever: a third Ctrl-C ends the program then. Here it is given a
    // way out.
    loop.call_soon([] { throw reactor::LoopExit(3); });
    BOOST_CHECK_THROW(runner.close(), reactor::LoopExit);
    BOOST_TEST(sigint_is_default());
}

extern "C" void nothing_to_do(int) {}

BOOST_AUTO_TEST_CASE(sigint_that_somebody_handles_or_ignores_is_left_alone) {
    std::string log;
    for (void (*const handler)(int) : {&nothing_to_do, SIG_IGN}) {
        ::signal(SIGINT, handler);
        Runner runner;
        interrupt_soon(runner.get_loop());
        const auto brief = [](EventLoop& loop) {
            return reactor::sleep(loop, std::chrono::milliseconds(5));
        };
        BOOST_CHECK_NO_THROW(runner.run(brief));
        struct ::sigaction now;
        ::sigaction(SIGINT, nullptr, &now);
        BOOST_TEST((now.sa_handler == handler));
        ::signal(SIGINT, SIG_DFL);
    }
    // Unwanted, and on another thread than the first: ours is not installed either.
    RunnerOptions options;
    options.handle_sigint = false;
    Runner runner(options);
    const auto look = [](EventLoop& loop) {
        const auto seen = loop.create_promise<bool>();
        seen.set_result(sigint_is_default());
        return seen;
    };
    BOOST_TEST(runner.run(look));
    bool elsewhere = false;
    std::thread other([&] { elsewhere = reactor::run(look); });
    other.join();
    BOOST_TEST(elsewhere);
    BOOST_TEST(!reactor::run(look));
}

BOOST_AUTO_TEST_SUITE_END()
