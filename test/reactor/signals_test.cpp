// SPDX-License-Identifier: BSL-1.0
#include <reactor/signals.hpp>

#include <boost/test/unit_test.hpp>

#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <reactor/context.hpp>

namespace {

using reactor::Duration;
using reactor::EventLoop;
using reactor::StateError;
using std::chrono::milliseconds;

struct ::sigaction disposition(int signal) {
    struct ::sigaction now;
    BOOST_REQUIRE(::sigaction(signal, nullptr, &now) == 0);
    return now;
}
bool is_default(int signal) { return disposition(signal).sa_handler == SIG_DFL; }

void set_handler(int signal, void (*handler)(int)) {
    struct ::sigaction action = {};
    action.sa_handler = handler;
    BOOST_REQUIRE(::sigaction(signal, &action, nullptr) == 0);
}

std::atomic<int> previous_calls{0};
std::atomic<int> informed_calls{0};
extern "C" void count_previous(int) { ++previous_calls; }
extern "C" void count_informed(int, ::siginfo_t* info, void*) {
    if (info && info->si_pid == ::getpid()) ++informed_calls;
}
extern "C" void nothing(int) {}
struct ::sigaction replaced;
extern "C" void replacement(int signal, ::siginfo_t* info, void* context) {
    ++previous_calls;
    if (replaced.sa_flags & SA_SIGINFO) replaced.sa_sigaction(signal, info, context);
}

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

/// A loop; at the end every disposition used here must be what it was.
struct Signals {
    ~Signals() {
        loop.close();
        for (const int signal : {SIGALRM, SIGUSR1, SIGUSR2}) BOOST_TEST(is_default(signal));
    }
    void iterate(int count = 1) {
        while (count-- > 0) loop.run_once(Duration::zero());
    }
    EventLoop loop;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(signals, Signals)

BOOST_AUTO_TEST_CASE(a_sleeping_loop_is_woken_and_calls_the_handler) {  // SG-01
    int calls = 0;
    loop.add_signal_handler(
        SIGALRM,
        [&](int argument) {
            calls += argument;
            BOOST_TEST((reactor::running_loop() == &loop));
            loop.call_soon([&] { loop.stop(); });
        },
        1);
    const Interval in(milliseconds(10));
    loop.run_forever();
    BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(what_is_no_signal_is_refused) {  // SG-02, SG-03
    for (const int number : {0, -1, SIGRTMAX + 1}) {
        BOOST_CHECK_THROW(loop.add_signal_handler(number, [] {}), std::invalid_argument);
        BOOST_CHECK_THROW(loop.remove_signal_handler(number), std::invalid_argument);
    }
    for (const int number : {SIGKILL, SIGSTOP}) {
        BOOST_CHECK_THROW(loop.add_signal_handler(number, [] {}), StateError);
        BOOST_TEST(!loop.remove_signal_handler(number));
    }
    BOOST_TEST(loop.watch_count() == 0u);
    BOOST_CHECK_THROW(loop.add_signal_handler(SIGUSR1, static_cast<void (*)()>(nullptr)),
                      std::invalid_argument);
    BOOST_TEST(!EventLoop().remove_signal_handler(SIGUSR1));
}

BOOST_AUTO_TEST_CASE(a_second_handler_replaces_the_first) {  // SG-04
    std::string log;
    loop.add_signal_handler(SIGUSR1, [&] { log += "f"; });
    loop.add_signal_handler(SIGUSR1, [&] { log += "g"; });
    ::raise(SIGUSR1);
    iterate(2);
    BOOST_TEST(log == "g");
}

BOOST_AUTO_TEST_CASE(removal_tells_the_truth_and_restores_the_disposition) {  // SG-05, section 9
    set_handler(SIGUSR1, &count_previous);
    loop.add_signal_handler(SIGUSR1, [] {});
    BOOST_TEST((disposition(SIGUSR1).sa_handler != &count_previous));
    BOOST_TEST(loop.remove_signal_handler(SIGUSR1));
    BOOST_TEST(!loop.remove_signal_handler(SIGUSR1));
    BOOST_TEST((disposition(SIGUSR1).sa_handler == &count_previous));
    set_handler(SIGUSR1, SIG_IGN);
    loop.add_signal_handler(SIGUSR1, [] {});
    loop.close();
    BOOST_TEST((disposition(SIGUSR1).sa_handler == SIG_IGN));
    BOOST_TEST(!loop.remove_signal_handler(SIGUSR1));
    BOOST_CHECK_THROW(loop.add_signal_handler(SIGUSR1, [] {}), StateError);
    set_handler(SIGUSR1, SIG_DFL);
}

BOOST_AUTO_TEST_CASE(a_removed_handler_does_not_run_for_a_signal_that_came_before) {  // SG-06
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

BOOST_AUTO_TEST_CASE(the_handler_runs_one_iteration_after_the_wake_up) {  // SG-07
    int calls = 0;
    loop.add_signal_handler(SIGUSR1, [&] { ++calls; });
    ::raise(SIGUSR1);
    iterate();
    BOOST_TEST(calls == 0);
    iterate();
    BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(a_handler_may_throw_set_its_context_and_remove_itself) {
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

BOOST_AUTO_TEST_CASE(the_handler_from_before_is_called_as_well) {
    previous_calls = 0;
    informed_calls = 0;
    set_handler(SIGUSR1, &count_previous);
    struct ::sigaction informed = {};
    informed.sa_sigaction = &count_informed;
    informed.sa_flags = SA_SIGINFO;
    ::sigaction(SIGUSR2, &informed, nullptr);
    int calls = 0;
    loop.add_signal_handler(SIGUSR1, [&] { ++calls; });
    loop.add_signal_handler(SIGUSR2, [&] { ++calls; });
    ::raise(SIGUSR1);
    ::kill(::getpid(), SIGUSR2);
    iterate(2);
    BOOST_TEST(calls == 2);
    BOOST_TEST(previous_calls.load() == 1);
    BOOST_TEST(informed_calls.load() == 1);
    loop.close();
    set_handler(SIGUSR1, SIG_DFL);
    set_handler(SIGUSR2, SIG_DFL);
}

BOOST_AUTO_TEST_CASE(who_replaced_ours_meanwhile_stays) {
    int calls = 0;
    previous_calls = 0;
    loop.add_signal_handler(SIGUSR1, [&] { ++calls; });
    struct ::sigaction other = {};
    other.sa_sigaction = &replacement;
    other.sa_flags = SA_SIGINFO;
    ::sigaction(SIGUSR1, &other, &replaced);
    ::raise(SIGUSR1);  // he calls ours
    iterate(2);
    BOOST_TEST(calls == 1);
    BOOST_TEST(loop.remove_signal_handler(SIGUSR1));
    BOOST_TEST((disposition(SIGUSR1).sa_sigaction == &replacement));
    ::raise(SIGUSR1);  // and may go on to do so
    iterate(2);
    BOOST_TEST(calls == 1);
    loop.add_signal_handler(SIGUSR1, [&] { ++calls; });  // each calls the other now: not for ever
    ::raise(SIGUSR1);
    iterate(2);
    BOOST_TEST(calls == 2);
    BOOST_TEST(previous_calls.load() == 3);
    loop.remove_signal_handler(SIGUSR1);
    set_handler(SIGUSR1, SIG_DFL);
}

BOOST_AUTO_TEST_CASE(one_loop_has_a_signal_and_the_others_are_told) {  // C6: two loops
    int calls = 0;
    loop.add_signal_handler(SIGUSR1, [&] { ++calls; });
    {
        EventLoop nested;
        try {
            nested.add_signal_handler(SIGUSR1, [] {});
            BOOST_ERROR("accepted");
        } catch (const StateError& error) {
            BOOST_TEST(std::string(error.what()).find("remove it there") != std::string::npos);
        }
        int theirs = 0;
        nested.add_signal_handler(SIGUSR2, [&] { ++theirs; });
        ::raise(SIGUSR1);
        ::raise(SIGUSR2);
        nested.run_once(Duration::zero());
        nested.run_once(Duration::zero());
        BOOST_TEST(theirs == 1);
        BOOST_TEST(calls == 0);
    }
    iterate(2);  // the nested loop neither stole nor dropped it
    BOOST_TEST(calls == 1);
    BOOST_TEST(is_default(SIGUSR2));
    loop.add_signal_handler(SIGUSR2, [&] { ++calls; });
    ::raise(SIGUSR2);
    iterate(2);
    BOOST_TEST(calls == 2);
}

BOOST_AUTO_TEST_CASE(no_signal_is_lost_in_a_storm_of_posts) {  // C6
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

BOOST_AUTO_TEST_CASE(a_removal_races_with_arrivals_on_another_thread) {
    set_handler(SIGUSR1, SIG_IGN);
    std::atomic<bool> stop{false};
    std::thread sender([&] {
        ::sigset_t none;
        ::sigemptyset(&none);
        ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
        while (!stop) ::pthread_kill(::pthread_self(), SIGUSR1);
    });
    for (int i = 0; i < 300; ++i) {
        EventLoop brief;
        brief.add_signal_handler(SIGUSR1, [] {});
        brief.run_once(Duration::zero());
    }
    stop = true;
    sender.join();
    set_handler(SIGUSR1, SIG_DFL);
}

BOOST_AUTO_TEST_CASE(interrupted_waits_go_on_with_what_is_left) {  // C3
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
