// SPDX-License-Identifier: BSL-1.0
#include <reactor/runner.hpp>

#include <boost/test/unit_test.hpp>

#include <signal.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include <reactor/combinators.hpp>

#include "runner_fixture.hpp"

namespace {

using namespace runner_test;
using reactor::Runner;
using reactor::RunnerOptions;

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

// Ctrl-C.
BOOST_AUTO_TEST_SUITE(runner_sigint)

REACTOR_LOOP_TEST_IN(RunnerTest, R_07_sigint_cancels_the_main_task) {
    std::string log;
    Runner runner(options);
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

REACTOR_LOOP_TEST_IN(RunnerTest, R_08_the_main_task_may_answer_sigint_otherwise) {
    std::string log;
    Runner runner(options);
    interrupt_soon(runner.get_loop());
    BOOST_TEST(runner.run<Sleeper>(Sleeper::swallow, log) == 7);
    interrupt_soon(runner.get_loop());
    BOOST_CHECK_THROW(runner.run<Sleeper>(Sleeper::replace, log), std::runtime_error);
    class AlsoCancelledByAnother : public reactor::Task<void> {
        Next start() override {
            return await(reactor::sleep(hours(1)), &AlsoCancelledByAnother::slept);
        }
        Next slept() { return finish(); }
        Next finally() override {
            loop().call_soon([this] { cancel(); });
            return await(reactor::sleep(hours(1)), &AlsoCancelledByAnother::clean);
        }
        Next clean() { return end(); }
    };
    interrupt_soon(runner.get_loop());
    BOOST_CHECK_THROW(runner.run<AlsoCancelledByAnother>(), CancelledError);
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
