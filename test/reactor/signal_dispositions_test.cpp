// SPDX-License-Identifier: BSL-1.0
#include <reactor/signals.hpp>

#include <boost/test/unit_test.hpp>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "signals_fixture.hpp"

namespace {

using namespace signals_test;
using reactor::Duration;
using reactor::EventLoop;
using reactor::StateError;

std::atomic<int> previous_calls{0};
std::atomic<int> informed_calls{0};
extern "C" void count_previous(int) { ++previous_calls; }
extern "C" void count_informed(int, ::siginfo_t* info, void*) {
    if (info && info->si_pid == ::getpid()) ++informed_calls;
}
struct ::sigaction replaced;
extern "C" void replacement(int signal, ::siginfo_t* info, void* context) {
    ++previous_calls;
    if (replaced.sa_flags & SA_SIGINFO) replaced.sa_sigaction(signal, info, context);
}

}  // namespace

// Who else in the process has to do with a signal: handlers before ours and after, other loops.
BOOST_AUTO_TEST_SUITE(signal_dispositions)

REACTOR_LOOP_TEST_IN(Signals, SG_05_removal_tells_the_truth_and_restores_the_disposition) {
    loop.add_signal_handler(SIGUSR1, [] {});
    BOOST_TEST(!is_default(SIGUSR1));
    BOOST_TEST(loop.remove_signal_handler(SIGUSR1));
    BOOST_TEST(is_default(SIGUSR1));
    BOOST_TEST(!loop.remove_signal_handler(SIGUSR1));
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

REACTOR_LOOP_TEST_IN(Signals, SG_05_the_handler_from_before_is_called_as_well) {
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

REACTOR_LOOP_TEST_IN(Signals, SG_05_who_replaced_ours_meanwhile_stays) {
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

BOOST_FIXTURE_TEST_CASE(one_loop_has_a_signal_and_the_others_are_told, Signals) {  // C6: two loops
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

BOOST_FIXTURE_TEST_CASE(a_removal_races_with_arrivals_on_another_thread, Signals) {
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

BOOST_AUTO_TEST_SUITE_END()
