// SPDX-License-Identifier: BSL-1.0
#include <reactor/signals.hpp>

#include <boost/test/unit_test.hpp>

#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <reactor/context.hpp>

#include "signals_fixture.hpp"

namespace {

using namespace signals_test;
using reactor::EventLoop;
using reactor::StateError;
using std::chrono::milliseconds;

extern "C" void nothing(int) {}

/// Sends `signal` every `period` of real time, as long as it lives.
class Interval {
public:
    explicit Interval(milliseconds first, milliseconds period = milliseconds(0)) {
        ::itimerval value = {};
        value.it_value.tv_usec = first.count() * 1000;
        value.it_interval.tv_usec = period.count() * 1000;
        ::setitimer(ITIMER_REAL, &value, nullptr);
    }
    ~Interval() {
        const ::itimerval off = {};
        ::setitimer(ITIMER_REAL, &off, nullptr);
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(signals)

REACTOR_LOOP_TEST_IN(Signals, SG_01_a_sleeping_loop_is_woken_and_calls_the_handler) {
    const auto here = std::this_thread::get_id();
    int calls = 0;
    std::vector<std::string> reports;
    loop.set_exception_handler(
        [&](EventLoop&, const reactor::Report& report) { reports.push_back(report.message); });
    loop.add_signal_handler(
        SIGALRM,
        [&](int argument) {
            calls += argument;
            BOOST_TEST((std::this_thread::get_id() == here));
            BOOST_TEST((reactor::running_loop() == &loop));
            loop.call_soon([&] { loop.stop(); });  // it may schedule, allocate, and throw
            throw std::runtime_error(std::string(1000, 'x'));
        },
        1);
    const Interval in(milliseconds(10));
    loop.run_forever();
    BOOST_TEST(calls == 1);
    BOOST_TEST(reports.size() == 1u);
}

REACTOR_LOOP_TEST_IN(Signals, SG_02_what_is_no_signal_is_refused) {
    for (const int number : {0, -1, SIGRTMAX + 1}) {
        BOOST_CHECK_THROW(loop.add_signal_handler(number, [] {}), std::invalid_argument);
        BOOST_CHECK_THROW(loop.remove_signal_handler(number), std::invalid_argument);
    }
    BOOST_TEST(loop.watch_count() == 0u);
    BOOST_CHECK_THROW(loop.add_signal_handler(SIGUSR1, static_cast<void (*)()>(nullptr)),
                      std::invalid_argument);
    BOOST_TEST(!loop.remove_signal_handler(SIGUSR1));
}

REACTOR_LOOP_TEST_IN(Signals, SG_03_what_cannot_be_caught_is_refused_and_not_recorded) {
    for (const int number : {SIGKILL, SIGSTOP}) {
        BOOST_CHECK_THROW(loop.add_signal_handler(number, [] {}), StateError);
        BOOST_TEST(!loop.remove_signal_handler(number));
    }
    BOOST_TEST(loop.watch_count() == 0u);
}

REACTOR_LOOP_TEST_IN(Signals, SG_04_a_second_handler_replaces_the_first) {
    std::string log;
    loop.add_signal_handler(SIGUSR1, [&] { log += "f"; });
    loop.add_signal_handler(SIGUSR1, [&] { log += "g"; });
    ::raise(SIGUSR1);
    iterate(2);
    BOOST_TEST(log == "g");
}

REACTOR_LOOP_TEST_IN(Signals, SG_06_a_removed_handler_does_not_run_for_a_signal_that_came_before) {
    const auto refuse = [] { BOOST_ERROR("called"); };
    loop.add_signal_handler(SIGUSR1, refuse);
    ::raise(SIGUSR1);
    BOOST_TEST(loop.remove_signal_handler(SIGUSR1));
    iterate(2);
    loop.add_signal_handler(SIGUSR1, refuse);  // nothing is left of the one from before
    iterate(2);
    ::raise(SIGUSR1);
    iterate();  // it is in the queue now
    BOOST_TEST(loop.remove_signal_handler(SIGUSR1));
    iterate(2);
}

REACTOR_LOOP_TEST_IN(Signals, SG_07_the_handler_runs_one_iteration_after_the_wake_up) {
    int calls = 0;
    loop.add_signal_handler(SIGUSR1, [&] { ++calls; });
    ::raise(SIGUSR1);
    iterate();
    BOOST_TEST(calls == 0);
    iterate();
    BOOST_TEST(calls == 1);
}

BOOST_FIXTURE_TEST_CASE(a_handler_may_throw_set_its_context_and_remove_itself, Signals) {
    reactor::ContextVar<int> variable("variable", 0);
    std::vector<std::string> reports;
    loop.set_exception_handler(
        [&](EventLoop&, const reactor::Report& report) { reports.push_back(report.message); });
    variable.set(5);
    std::vector<int> seen;
    loop.add_signal_handler(SIGUSR1, [&] {
        seen.push_back(variable.get());
        variable.set(variable.get() + 1);
        if (seen.size() == 2) loop.remove_signal_handler(SIGUSR1);
        throw std::runtime_error("thrown");
    });
    for (int i = 0; i < 2; ++i) {
        ::raise(SIGUSR1);
        iterate(2);
    }
    BOOST_TEST((seen == std::vector<int>{5, 6}));
    BOOST_TEST(reports.size() == 2u);
    BOOST_TEST(variable.get() == 5);
    BOOST_TEST(is_default(SIGUSR1));
}

BOOST_FIXTURE_TEST_CASE(no_signal_is_lost_in_a_storm_of_posts, Signals) {  // C6
    const auto here = std::this_thread::get_id();
    int first = 0;
    int second = 0;
    loop.add_signal_handler(SIGUSR1, [&] {
        ++first;
        BOOST_TEST((std::this_thread::get_id() == here));
    });
    loop.add_signal_handler(SIGUSR2, [&] { ++second; });
    int posts = 0;
    std::thread other([&] {
        for (int i = 0; i < 100000; ++i) loop.call_soon_threadsafe([&posts] { ++posts; });
        for (int i = 0; i < 100; ++i) ::pthread_kill(::pthread_self(), SIGUSR1);  // on any thread
        ::kill(::getpid(), SIGUSR2);
    });
    other.join();  // all before the loop runs
    iterate(2);
    BOOST_TEST(posts == 100000);
    BOOST_TEST(first >= 1);
    BOOST_TEST(first <= 100);
    BOOST_TEST(second == 1);
}

BOOST_FIXTURE_TEST_CASE(interrupted_waits_go_on_with_what_is_left, Signals) {  // C3
    struct ::sigaction action = {};
    action.sa_handler = &nothing;  // without SA_RESTART
    ::sigaction(SIGALRM, &action, nullptr);
    {
        int fds[2];
        BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) ==
                      0);
        const Interval every(milliseconds(1), milliseconds(1));
        std::size_t sent = 0;
        std::size_t received = 0;
        constexpr std::size_t total = 10u << 20;
        std::vector<char> buffer(65536);
        loop.add_writer(fds[0], [&] {
            const ssize_t n =
                ::send(fds[0], buffer.data(), std::min(buffer.size(), total - sent), MSG_NOSIGNAL);
            if (n > 0) sent += static_cast<std::size_t>(n);
            if (sent == total) loop.remove_writer(fds[0]);
        });
        loop.add_reader(fds[1], [&] {
            const ssize_t n = ::recv(fds[1], buffer.data(), buffer.size(), 0);
            if (n > 0) received += static_cast<std::size_t>(n);
        });
        int ticks = 0;
        bool early = false;
        reactor::TimerHandle tick;
        tick = loop.call_every(milliseconds(7), [&] {
            early = early || loop.time() < tick.when();
            ++ticks;
        });
        loop.call_later(milliseconds(500), [&] { loop.stop(); });
        const auto begin = loop.time();
        loop.run_forever();
        BOOST_TEST((loop.time() - begin >= milliseconds(500)));
        while (received < total) loop.run_once();
        BOOST_TEST(ticks > 0);
        BOOST_TEST(!early);
        BOOST_TEST(received == total);
        loop.remove_reader(fds[1]);
        ::close(fds[0]);
        ::close(fds[1]);
    }
    set_handler(SIGALRM, SIG_DFL);
}

BOOST_AUTO_TEST_SUITE_END()
