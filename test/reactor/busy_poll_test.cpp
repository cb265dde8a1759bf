// SPDX-License-Identifier: BSL-1.0
#include <reactor/event_loop.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <unistd.h>

#include <test/support/loop_test.hpp>

#include "wakeup_writes.hpp"

using namespace support;
using reactor::Duration;
using reactor::Interest;
using reactor::testing::ScriptedSelector;

namespace {

// Longer than any test takes: whoever sleeps instead, or looks on, hangs.
constexpr Duration for_ever_and_a_day = hours(25);

struct Scripted {
    Scripted() : selector(new ScriptedSelector(clock)), loop(own(selector), clock) {}
    static std::unique_ptr<reactor::Selector> own(ScriptedSelector* selector) {
        return std::unique_ptr<reactor::Selector>(selector);
    }

    reactor::testing::VirtualClock clock;
    ScriptedSelector* selector;
    reactor::EventLoop loop;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(busy_poll)

REACTOR_LOOP_TEST(it_is_off_until_asked_for) {
    BOOST_TEST(loop.busy_poll().count() == 0);
    loop.set_busy_poll(microseconds(50));
    BOOST_TEST(loop.busy_poll().count() == 50000);
    loop.set_busy_poll(Duration(-1));
    BOOST_TEST(loop.busy_poll().count() == 0);
    BOOST_TEST(heard() == "");
}

BOOST_AUTO_TEST_CASE(it_looks_until_something_is_ready_and_runs_one_batch) {
    Scripted s;
    SocketPair pair, other;
    int read = 0;
    s.loop.add_reader(pair.mine, [&] { ++read; });
    s.loop.add_reader(other.mine, [&] { read += 10; });
    s.loop.set_busy_poll(for_ever_and_a_day);
    for (int i = 0; i < 3; ++i) s.selector->play({});
    s.selector->play({{pair.mine, Interest::read}});
    s.selector->play({{other.mine, Interest::read}});
    s.loop.run_once();
    BOOST_TEST(read == 1);
    BOOST_TEST((s.selector->timeouts() == std::vector<Duration>(4, Duration::zero())));
}

BOOST_AUTO_TEST_CASE(after_looking_in_vain_it_sleeps_as_long_as_ever) {
    Scripted s;
    s.loop.set_busy_poll(Duration(1));
    s.loop.call_later(seconds(2), [] {});
    s.loop.run_once();
    const std::vector<Duration>& waits = s.selector->timeouts();
    BOOST_REQUIRE(waits.size() >= 2u);
    BOOST_TEST((waits.back() == seconds(2)));
    BOOST_TEST((waits.front() == Duration::zero()));
}

BOOST_AUTO_TEST_CASE(who_has_something_to_do_looks_once) {
    Scripted s;
    s.loop.set_busy_poll(for_ever_and_a_day);
    s.loop.call_soon([] {});
    s.loop.run_once();
    s.loop.run_once(Duration::zero());
    BOOST_TEST(s.selector->timeouts().size() == 2u);
    s.loop.stop();
    s.loop.run_forever();
    BOOST_TEST(s.selector->timeouts().size() == 3u);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(neither_timers_nor_limits_are_missed_meanwhile, S, EverySelector) {
    reactor::EventLoop loop(reactor::make_selector(S::name()));
    loop.set_busy_poll(for_ever_and_a_day);
    bool fired = false;
    const reactor::TimePoint begin = loop.time();
    loop.call_later(milliseconds(2), [&] { fired = true; });
    while (!fired) loop.run_once();
    const Duration took = loop.time() - begin;
    BOOST_TEST((took >= milliseconds(2)));
    loop.run_once(milliseconds(2));
    BOOST_TEST((loop.time() - begin - took >= milliseconds(2)));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(who_posts_or_stops_meanwhile_need_not_wake_it, S, EverySelector) {
    reactor::EventLoop loop(reactor::make_selector(S::name()));
    loop.set_busy_poll(for_ever_and_a_day);
    SocketPair pair;
    loop.add_reader(pair.mine, [&] { pair.receive(); });
    wakeup_writes = 0;
    int ran = 0;
    std::thread other([&] {
        for (int i = 0; i < 10; ++i) {
            std::atomic<bool> done{false};
            loop.call_soon_threadsafe([&] {
                ++ran;
                done = true;
            });
            while (!done) std::this_thread::yield();
            pair.send();
        }
        loop.stop_threadsafe();
    });
    loop.run_forever();
    other.join();
    BOOST_TEST(ran == 10);
    BOOST_TEST(wakeup_writes.load() == 0);
    loop.remove_reader(pair.mine);
}

BOOST_AUTO_TEST_SUITE_END()
