// SPDX-License-Identifier: BSL-1.0
#include <reactor/selector.hpp>

#include <boost/test/unit_test.hpp>

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "forbidden.hpp"
#include "selectors.hpp"

using namespace selectors;

namespace {

extern "C" void do_nothing(int) {}

}  // namespace

BOOST_AUTO_TEST_SUITE(selector_wait)

BOOST_AUTO_TEST_CASE_TEMPLATE(wait_replaces_what_was_ready_and_keeps_its_room, S, Selectors) {
    S selector;
    Events ready(50, SelectorEvent{1, 1});
    const std::size_t room = ready.capacity();
    selector.wait(Duration(-5), ready);
    BOOST_TEST(ready.empty());
    BOOST_TEST(ready.capacity() == room);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_wait_is_never_too_short, S, Selectors) {
    S selector;
    StreamPair pair;
    selector.add(pair.mine, Interest::read, 1);
    for (long ns : {1L, 999L, 1000L, 1001L, 999999L, 1000000L, 1000001L, 2500000L, 3000000L}) {
        const auto start = std::chrono::steady_clock::now();
        BOOST_TEST(look(selector, Duration(ns)).empty());
        const Duration passed = std::chrono::steady_clock::now() - start;
        BOOST_TEST(passed.count() >= ns);
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(no_timeout_is_too_long, S, Selectors) {
    S selector;
    StreamPair pair;
    selector.add(pair.mine, Interest::read, 1);
    BOOST_REQUIRE(::write(pair.theirs, "x", 1) == 1);
    for (const Duration timeout : {reactor::forever(), reactor::forever() - Duration(1),
                                   Duration(std::chrono::hours(1000000)), Duration::min()}) {
        BOOST_TEST(bits(selector, 1, timeout) == Interest::read);
    }
}

// 2^32 ms is 0 in the int of epoll_wait. (The pause lets the wait begin; without it the test proves
// less, and passes.)
BOOST_AUTO_TEST_CASE_TEMPLATE(a_long_timeout_does_not_wrap_around, S, Selectors) {
    S selector;
    Pipe pipe;
    selector.add(pipe.mine, Interest::read, 1);
    std::thread closer([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        pipe.close_theirs();
    });
    const Events ready = look(selector, std::chrono::milliseconds(1LL << 32));
    closer.join();
    BOOST_TEST(ready.size() == 1u);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_signal_ends_the_wait_with_nothing, S, Selectors) {
    struct sigaction action = {};
    struct sigaction old;
    action.sa_handler = do_nothing;
    action.sa_flags = SA_RESTART;  // which the wait must not heed
    BOOST_REQUIRE(::sigaction(SIGUSR1, &action, &old) == 0);
    for (const Duration timeout : {reactor::forever(), Duration(std::chrono::hours(1)),
                                   Duration(std::chrono::hours(1)) + Duration(1)}) {
        S selector;
        const ::pthread_t waiter = ::pthread_self();
        std::atomic<bool> over(false);
        std::thread sender([&] {  // again and again: the first may come before the wait begins
            while (!over) {
                ::pthread_kill(waiter, SIGUSR1);
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        });
        Events ready(3, SelectorEvent{1, 1});
        const int code = code_of([&] { selector.wait(timeout, ready); });
        over = true;
        sender.join();
        BOOST_TEST(code == 0);
        BOOST_TEST(ready.empty());
    }
    BOOST_REQUIRE(::sigaction(SIGUSR1, &old, nullptr) == 0);
}

#ifdef SYS_epoll_pwait2
// Old kernels and valgrind say ENOSYS, a container's filter may say EPERM. The filter below stays
// with the thread that installs it.
BOOST_AUTO_TEST_CASE(epoll_does_without_epoll_pwait2) {
    for (const int refusal : {ENOSYS, EPERM}) {
        bool installed = false;
        Events early, event;
        Duration passed = Duration::zero();
        std::string trouble;
        StreamPair pair;
        std::thread([&] {
            installed = forbid(SYS_epoll_pwait2, refusal);
            if (!installed) return;
            try {
                reactor::EpollSelector selector;
                selector.add(pair.mine, Interest::read, 1);
                const auto start = std::chrono::steady_clock::now();
                early = look(selector, Duration(1200001));
                passed = std::chrono::steady_clock::now() - start;
                if (::write(pair.theirs, "x", 1) == 1) event = look(selector, Duration(1));
            } catch (const std::exception& error) {
                trouble = error.what();
            }
        }).join();
        if (!installed) {
            BOOST_TEST_MESSAGE("skipped: no seccomp filters here");
            return;
        }
        BOOST_TEST(trouble == "");
        BOOST_TEST(early.empty());
        BOOST_TEST(passed.count() >= 1200001);
        BOOST_TEST(event.size() == 1u);
    }
}
#endif

BOOST_AUTO_TEST_SUITE_END()
