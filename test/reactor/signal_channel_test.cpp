// SPDX-License-Identifier: BSL-1.0
#include <reactor/signals.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include <reactor/combinators.hpp>
#include <reactor/executor.hpp>

#include <test/support/loop_test.hpp>
#include <test/support/refusing_loop.hpp>

using namespace support;
using reactor::EventLoop;

// No signal is lost between a storm of posts, other loops and their ends (python/cpython#74224,
// MagicStack/uvloop#270), and none is an error where it interrupts (pistacheio/pistache#565).

namespace {

bool is_default(int signal) {
    struct ::sigaction now;
    return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_DFL;
}

extern "C" void interrupted(int) {}

/// SIGALRM every millisecond, with an empty handler and without SA_RESTART.
struct Storm {
    Storm() {
        struct ::sigaction action = {};
        action.sa_handler = &interrupted;
        ::sigaction(SIGALRM, &action, &before);
        const ::itimerval each = {{0, 1000}, {0, 1000}};
        ::setitimer(ITIMER_REAL, &each, nullptr);
    }
    ~Storm() {
        const ::itimerval never = {};
        ::setitimer(ITIMER_REAL, &never, nullptr);
        ::sigaction(SIGALRM, &before, nullptr);
    }
    struct ::sigaction before;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(signal_channel)

BOOST_AUTO_TEST_CASE_TEMPLATE(a_blocked_loop_with_a_full_inbox_hears_of_its_signals, S,
                              EverySelector) {
    constexpr int posts = 100000;
    for (const bool before_the_run : {true, false}) {
        EventLoop loop(reactor::make_selector(S::name()));
        const std::thread::id here = std::this_thread::get_id();
        int ran = 0, first = 0, second = 0;
        loop.add_signal_handler(SIGUSR1, [&] {
            ++first;
            BOOST_TEST((std::this_thread::get_id() == here));
        });
        loop.add_signal_handler(SIGUSR2, [&] { ++second; });
        const auto storm = [&] {
            on_another_thread([&] {
                for (int i = 0; i < posts; ++i) loop.call_soon_threadsafe([&ran] { ++ran; });
                for (int i = 0; i < 100; ++i) ::pthread_kill(::pthread_self(), SIGUSR1);
                ::kill(::getpid(), SIGUSR2);
            });
        };
        if (before_the_run) {
            storm();
        } else {
            loop.call_soon(storm);  // and the loop is blocked until all have come
        }
        while (ran < posts || first == 0 || second == 0) loop.run_once();
        loop.run_once(reactor::Duration::zero());
        BOOST_TEST(ran == posts);
        BOOST_TEST(first <= 100);
        BOOST_TEST(second == 1);
        BOOST_TEST(loop.remove_signal_handler(SIGUSR1));
        loop.close();
        BOOST_TEST(is_default(SIGUSR1));
        BOOST_TEST(is_default(SIGUSR2));
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(two_loops_in_two_threads_have_a_signal_each, S, EverySelector) {
    constexpr int rounds = 20;
    struct Side {
        int number = 0;
        std::atomic<bool> ready{false};
        std::atomic<int> calls{0};
        std::atomic<bool> stray{false};
    };
    Side sides[2];
    sides[0].number = SIGUSR1;
    sides[1].number = SIGUSR2;
    std::vector<std::thread> threads;
    for (Side& side : sides) {
        threads.emplace_back([&side] {
            EventLoop loop(reactor::make_selector(S::name()));
            const std::thread::id home = std::this_thread::get_id();
            loop.add_signal_handler(side.number, [&] {
                if (std::this_thread::get_id() != home) side.stray = true;
                if (++side.calls == rounds) loop.stop();
            });
            loop.call_soon([&] { side.ready = true; });
            loop.run_forever();
        });
    }
    for (Side& side : sides) {
        while (!side.ready) std::this_thread::yield();
    }
    for (int round = 1; round <= rounds; ++round) {
        // A third loop comes, has a signal, and goes: it neither steals nor drops theirs.
        EventLoop third(reactor::make_selector(S::name()));
        third.add_signal_handler(SIGWINCH, [] {});
        for (Side& side : sides) ::kill(::getpid(), side.number);
        third.close();
        for (Side& side : sides) {
            while (side.calls < round) std::this_thread::yield();
        }
    }
    for (std::thread& thread : threads) thread.join();
    for (Side& side : sides) {
        BOOST_TEST(side.calls.load() == rounds);
        BOOST_TEST(!side.stray.load());
        BOOST_TEST(is_default(side.number));
    }
    BOOST_TEST(is_default(SIGWINCH));
}

// A stranger closed the signals' own wake-up, and something that is always readable has its number.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_wake_up_that_a_stranger_took_away_neither_spins_nor_is_deaf, S,
                              EverySelector) {
    EventLoop loop(reactor::make_selector(S::name()));
    std::vector<std::string> reports;
    loop.set_exception_handler(
        [&](EventLoop&, const reactor::Report& report) { reports.push_back(report.message); });
    const int number = ::dup(0);
    ::close(number);
    int calls = 0;
    loop.add_signal_handler(SIGUSR1, [&] { ++calls; });
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    BOOST_REQUIRE(::fcntl(number, F_GETFD) != -1);
    BOOST_REQUIRE(::dup3(null, number, O_CLOEXEC) == number);
    ::close(null);
    bool fired = false;
    loop.call_later(milliseconds(20), [&] { fired = true; });
    int iterations = 0;
    while (!fired) {
        loop.run_once();
        ++iterations;
    }
    BOOST_TEST(iterations <= 8);
    if (std::string(S::name()) != "epoll") {  // which forgets what is closed, silently
        BOOST_TEST(reports.size() == 1u);
        ::raise(SIGUSR1);
        while (calls == 0) loop.run_once();
        BOOST_TEST(reports.size() == 1u);
    }
    BOOST_TEST(loop.remove_signal_handler(SIGUSR1));
    BOOST_TEST(is_default(SIGUSR1));
}

// The same, and nothing has the number; or the program watches its own file of that number.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_wake_up_that_a_stranger_closed_is_replaced, S, EverySelector) {
    for (const bool reused : {false, true}) {
        if (!reused && std::string(S::name()) == "epoll") continue;  // which says nothing of it
        EventLoop loop(reactor::make_selector(S::name()));
        std::string reports;
        loop.set_exception_handler(
            [&](EventLoop&, const reactor::Report& report) { reports += report.message + '\n'; });
        const int number = ::dup(0);
        ::close(number);
        int calls = 0;
        loop.add_signal_handler(SIGUSR1, [&] { ++calls; });
        loop.add_signal_handler(SIGUSR2, [&] { ++calls; });
        BOOST_REQUIRE(::close(number) == 0);
        SocketPair pair;  // the first of it has the number
        if (reused) {
            BOOST_REQUIRE(pair.mine == number);
            loop.add_reader(pair.mine, [] {});
        } else {
            pair.close_mine();
        }
        for (int i = 0; i < 3; ++i) loop.run_once(reactor::Duration::zero());
        BOOST_TEST(reports.find("The signals' wake-up descriptor " + std::to_string(number)) !=
                       std::string::npos,
                   reports);
        ::raise(SIGUSR1);
        ::raise(SIGUSR2);
        while (calls < 2) loop.run_once();
        if (reused) BOOST_TEST(loop.remove_reader(pair.mine));
        BOOST_TEST(loop.remove_signal_handler(SIGUSR1));
        BOOST_TEST(loop.remove_signal_handler(SIGUSR2));
        BOOST_TEST(loop.watch_count() == 0u);
        BOOST_TEST(is_default(SIGUSR1));
    }
}

// Whatever the reason, and however often: a loop that gave up would be deaf for ever.
BOOST_AUTO_TEST_CASE(a_wake_up_that_cannot_be_watched_is_tried_again_each_second) {
    RefusingLoop r;
    int calls = 0;
    r.loop.add_signal_handler(SIGUSR1, [&] { ++calls; });
    const int wake_up = r.selector->changes().back().fd;
    r.make_anew_and_refuse();
    BOOST_TEST(r.loop.watch_count() == 0u);
    r.selector->no_memory = true;
    for (int second = 1; second <= 3; ++second) {
        ::raise(SIGUSR1);
        r.loop.run_once(hours(1));
        BOOST_TEST((r.selector->timeouts().back() == seconds(1)));
        r.loop.run_once(reactor::Duration::zero());
        BOOST_TEST(calls == second);  // late, and not lost
    }
    r.selector->no_memory = false;
    r.loop.run_once(hours(1));
    BOOST_TEST(r.selector->changes().back().fd == wake_up);
    BOOST_TEST(r.loop.watch_count() == 1u);
    BOOST_TEST(r.loop.timer_count() == 0u);
    ::raise(SIGUSR1);
    r.selector->play({{wake_up, reactor::Interest::read}});
    for (int i = 0; i < 2; ++i) r.loop.run_once(reactor::Duration::zero());
    BOOST_TEST(calls == 4);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(files_are_read_and_timers_kept_in_a_storm_of_signals, S,
                              EverySelector) {
    std::FILE* const file = std::tmpfile();
    BOOST_REQUIRE(file);
    const std::string bytes(1 << 20, 'f');
    BOOST_REQUIRE(std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size());
    std::fflush(file);
    const int fd = ::fileno(file);
    {
        EventLoop loop(reactor::make_selector(S::name()));
        const Storm storm;
        const auto read_all = [fd] {
            std::string got(1 << 20, '\0');
            std::size_t at = 0;
            while (at < got.size()) {
                const ::ssize_t n =
                    ::pread(fd, &got[at], got.size() - at, static_cast<::off_t>(at));
                if (n <= 0) throw std::system_error(errno, std::system_category(), "pread");
                at += static_cast<std::size_t>(n);
            }
            return got;
        };
        int ticks = 0;
        const reactor::TimePoint begin = loop.time();
        reactor::TimerHandle tick = loop.call_every(milliseconds(7), [&] { ++ticks; });
        const auto hundred = reactor::sleep(loop, milliseconds(100));
        for (int i = 0; i < 20; ++i) {
            BOOST_TEST((loop.run_until_complete(loop.run_in_executor(read_all)) == bytes));
        }
        loop.run_until_complete(hundred);
        const reactor::Duration took = loop.time() - begin;
        BOOST_TEST((took >= milliseconds(100)));
        BOOST_TEST(ticks + static_cast<int>(tick.missed_ticks()) >= took / milliseconds(7) - 1);
        tick.cancel();
    }
    std::fclose(file);
}

BOOST_AUTO_TEST_SUITE_END()
