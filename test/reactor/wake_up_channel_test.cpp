// SPDX-License-Identifier: BSL-1.0
#include <reactor/event_loop.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/eventfd.h>

#include <reactor/detail/inbox.hpp>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::EventLoop;
using reactor::Poster;
using reactor::Report;

// What other threads post is lost in no state of the wake-up: full, closed by a stranger, or gone
// (epics-base/p4p#143, python/cpython#156054, python/cpython#22197).

namespace {

/// Closes the loop's wake-up as a stranger does who closes a descriptor twice; something else gets
/// its number.
enum class Instead { nothing, dev_null, a_socket };

void take_away_wakeup(EventLoop& loop, Instead what, SocketPair& pair) {
    const int fd = loop.core().inbox->wakeup()->fd();
    if (what == Instead::nothing) {
        BOOST_REQUIRE(::close(fd) == 0);
        return;
    }
    if (what == Instead::a_socket) {
        BOOST_REQUIRE(::dup3(pair.mine, fd, O_CLOEXEC) == fd);
        return;
    }
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    BOOST_REQUIRE(::dup3(null, fd, O_CLOEXEC) == fd);
    ::close(null);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(wake_up_channel)

BOOST_AUTO_TEST_CASE_TEMPLATE(posts_of_eight_threads_come_all_and_in_order, S, EverySelector) {
    constexpr int threads = 8;
    constexpr int posts = 20000;
    EventLoop loop(reactor::make_selector(S::name()));
    std::vector<int> next(threads, 0);
    int total = 0;
    bool ordered = true;
    std::vector<std::thread> posters;
    for (int t = 0; t < threads; ++t) {
        posters.emplace_back([&, t] {
            for (int i = 0; i < posts; ++i) {
                loop.call_soon_threadsafe([&, t, i] {
                    ordered = ordered && next[static_cast<std::size_t>(t)]++ == i;
                    if (++total == threads * posts) loop.stop();
                });
            }
        });
    }
    loop.run_forever();
    for (std::thread& poster : posters) poster.join();
    BOOST_TEST(ordered);
    BOOST_TEST(total == threads * posts);
}

// poll and select see it at once; epoll forgets a closed descriptor silently, and then the next
// post is loud.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_wake_up_that_a_stranger_took_away_is_replaced_and_told, S,
                              EverySelector) {
    const bool silent = forgets_what_is_closed(S::name());
    for (const Instead what : {Instead::nothing, Instead::dev_null, Instead::a_socket}) {
        BOOST_TEST_CONTEXT(S::name() << ", instead " << static_cast<int>(what)) {
            EventLoop loop(reactor::make_selector(S::name()));
            std::vector<std::string> reports;
            loop.set_exception_handler(
                [&](EventLoop&, const Report& report) { reports.push_back(report.text()); });
            SocketPair pair;
            take_away_wakeup(loop, what, pair);
            pair.send("their own");  // readable, like the end of a channel
            int iterations = 0;
            bool fired = false;
            loop.call_later(milliseconds(30), [&] { fired = true; });
            while (!fired) {
                loop.run_once();
                ++iterations;
            }
            BOOST_TEST(iterations <= 6);  // no spin
            if (!silent) {
                BOOST_TEST(reports.size() == 1u);
                if (!reports.empty()) {
                    BOOST_TEST(reports[0].find("wake-up descriptor") != std::string::npos);
                    BOOST_TEST(reports[0].find("closes a descriptor that is not its own") !=
                               std::string::npos);
                }
                // Another thread wakes it as ever.
                int ran = 0;
                for (int i = 0; i < 3; ++i) {
                    std::thread other([&] {
                        std::this_thread::sleep_for(milliseconds(1));
                        loop.call_soon_threadsafe([&] { ++ran; });
                    });
                    while (ran == i) loop.run_once();
                    other.join();
                }
                BOOST_TEST(reports.size() == 1u);
            }
            loop.close();
        }
    }
}

// After the close nothing is written to a number that somebody else has by now.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_late_post_writes_into_no_reused_number, S, EverySelector) {
    for (int round = 0; round < 200; ++round) {
        std::unique_ptr<EventLoop> loop(new EventLoop(reactor::make_selector(S::name())));
        const Poster poster = loop->poster();
        std::atomic<bool> posting{false};
        std::thread other([&] {
            while (poster.post([] {})) posting = true;
        });
        while (!posting) std::this_thread::yield();
        loop->call_later(microseconds(100), [&] { loop->stop(); });
        loop->run_forever();  // sleeps and is woken now and then
        loop->close();
        const int reused[] = {::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
                              ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
        other.join();
        BOOST_TEST(!poster.post([] {}));
        loop.reset();
        for (const int fd : reused) {
            std::uint64_t count = 0;
            BOOST_REQUIRE(::read(fd, &count, sizeof count) == -1);  // still zero
            ::close(fd);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
