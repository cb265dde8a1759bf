// SPDX-License-Identifier: BSL-1.0
#include <reactor/executor.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <future>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <reactor/runner.hpp>
#include <test/support/loop_test.hpp>

namespace {

using reactor::Duration;
using reactor::EventLoop;
using reactor::LogLevel;
using reactor::Promise;
using reactor::shutdown_default_executor;
using reactor::StateError;
using reactor::ThreadPool;
using support::seconds;

/// A job that hangs until it is let go; whoever outlives the test keeps this.
class Stuck {
public:
    void operator()() {
        entered_.set_value();
        let_go_.get_future().wait();
        over_.set_value();
    }
    void wait_until_entered() { entered_.get_future().wait(); }
    void let_go() {
        let_go_.set_value();
        over_.get_future().wait();
    }

private:
    std::promise<void> entered_, let_go_, over_;
};

/// What a loop logs, as "level text".
std::vector<std::string>& logged(EventLoop& loop, std::vector<std::string>& lines) {
    loop.set_log([&lines](LogLevel level, const std::string& text) {
        lines.push_back((level == LogLevel::warning ? "warning " : "other ") + text);
    });
    return lines;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(executor_shutdown)

BOOST_AUTO_TEST_CASE_TEMPLATE(TH_09_the_shutdown_waits_for_its_jobs, On, support::EverySelector) {
    for (const bool limited : {false, true}) {
        EventLoop loop(reactor::make_selector(On::name()));
        std::vector<std::string> lines;
        logged(loop, lines);
        const auto shut_down = [&] {
            return limited ? shutdown_default_executor(loop, support::hours(1))
                           : shutdown_default_executor(loop);
        };
        const auto stuck = std::make_shared<Stuck>();
        std::atomic<bool> ended{false};
        const auto job = loop.run_in_executor([&ended, stuck] {
            (*stuck)();
            ended = true;
        });
        stuck->wait_until_entered();
        const Promise<void> shut = shut_down();
        loop.run_once(Duration::zero());
        BOOST_TEST(!shut.done());
        stuck->let_go();
        loop.run_until_complete(shut);
        BOOST_TEST(ended.load());
        loop.run_until_complete(job);
        BOOST_CHECK_THROW(loop.run_in_executor([] {}), StateError);
        ThreadPool own;
        BOOST_TEST(loop.run_until_complete(run_in_executor(loop, own, [] { return 1; })) == 1);
        BOOST_TEST(shut_down().done());
        BOOST_TEST(loop.timer_count() == 0u);
        BOOST_TEST(lines.empty());

        EventLoop unused(reactor::make_selector(On::name()));
        BOOST_TEST((limited ? shutdown_default_executor(unused, seconds(1))
                            : shutdown_default_executor(unused))
                       .done());
    }
}

REACTOR_LOOP_TEST(TH_09_a_stuck_job_is_left_behind_with_a_warning) {
    std::vector<std::string> lines;
    logged(loop, lines);
    const auto stuck = std::make_shared<Stuck>();
    auto job = loop.run_in_executor([stuck] { (*stuck)(); });
    stuck->wait_until_entered();
    const auto shut = shutdown_default_executor(loop, seconds(300));
    loop.run_for(seconds(299));
    BOOST_TEST(!shut.done());
    BOOST_TEST(lines.empty());
    loop.run_for(seconds(1));
    BOOST_CHECK_NO_THROW(shut.result());
    BOOST_REQUIRE(lines.size() == 1u);
    BOOST_TEST(lines[0] ==
               "warning The default executor did not end within 300 seconds: 1 thread is still "
               "busy with jobs, which nobody waits for any more");
    BOOST_CHECK_THROW(loop.run_in_executor([] {}), StateError);
    // Its late end disturbs nobody.
    stuck->let_go();
    while (!job.done()) loop.run_iterations(1);
    const auto again = shutdown_default_executor(loop);
    while (!again.done()) loop.run_iterations(1);
    loop.run_until_idle();
    BOOST_TEST(lines.size() == 1u);
}

REACTOR_LOOP_TEST(cancelling_the_shutdown_ends_the_wait_alone) {
    const auto stuck = std::make_shared<Stuck>();
    const auto job = loop.run_in_executor([stuck] { (*stuck)(); });
    stuck->wait_until_entered();
    const auto shut = shutdown_default_executor(loop, seconds(1));
    BOOST_TEST(shut.cancel());
    loop.run_until_idle();
    BOOST_TEST(shut.cancelled());
    BOOST_TEST(loop.timer_count() == 0u);
    stuck->let_go();
    while (!job.done()) loop.run_iterations(1);
    const auto again = shutdown_default_executor(loop);
    while (!again.done()) loop.run_iterations(1);
    loop.run_until_idle();
}

REACTOR_LOOP_TEST(a_limit_that_is_none_and_one_that_is_no_number) {
    BOOST_TEST(shutdown_default_executor(loop, reactor::forever()).done());
    const std::chrono::duration<double> nan(std::numeric_limits<double>::quiet_NaN());
    BOOST_CHECK_THROW(shutdown_default_executor(loop, nan), std::invalid_argument);
    loop.close();
    BOOST_CHECK_EXCEPTION(shutdown_default_executor(loop), StateError, [](const StateError& e) {
        return std::string(e.what()).find("shutdown_default_executor: ") == 0;
    });
    BOOST_CHECK_EXCEPTION(reactor::default_executor(loop), StateError, [](const StateError& e) {
        return std::string(e.what()).find("default_executor: the event loop is closed") == 0;
    });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(TH_09_a_stuck_job_does_not_hang_the_end_of_a_runner, On,
                              support::EverySelector) {
    std::vector<std::string> lines;
    const auto stuck = std::make_shared<Stuck>();
    {
        reactor::RunnerOptions options;
        options.loop_factory = [] {
            return std::unique_ptr<EventLoop>(new reactor::testing::TestLoop(On::name()));
        };
        reactor::Runner runner(options);
        logged(runner.get_loop(), lines);
        runner.run([&](EventLoop& loop) {
            loop.run_in_executor([stuck] { (*stuck)(); });
            stuck->wait_until_entered();
            const auto done = loop.template create_promise<void>();
            done.set_result();
            return done;
        });
    }
    BOOST_REQUIRE(lines.size() == 1u);
    BOOST_TEST(lines[0].find("warning The default executor did not end within 300 seconds") == 0u);
    stuck->let_go();
}

BOOST_AUTO_TEST_CASE(to_thread_without_a_loop_names_itself_and_the_remedy) {
    BOOST_CHECK_EXCEPTION(reactor::to_thread([] {}), StateError, [](const StateError& e) {
        const std::string what = e.what();
        return what.find("to_thread: no event loop runs on this thread") == 0 &&
               what.find("loop.run_in_executor(") != std::string::npos;
    });
}

BOOST_AUTO_TEST_SUITE_END()
