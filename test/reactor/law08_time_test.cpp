// SPDX-License-Identifier: BSL-1.0
#include <reactor/clock.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <ratio>
#include <vector>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::Duration;
using reactor::TimePoint;
using reactor::testing::ScriptedSelector;
using reactor::testing::VirtualClock;

namespace {

struct Scripted {
    Scripted() : selector(new ScriptedSelector(clock)), loop(own(selector), clock) {}
    static std::unique_ptr<reactor::Selector> own(ScriptedSelector* selector) {
        return std::unique_ptr<reactor::Selector>(selector);
    }
    Duration last() const { return selector->timeouts().back(); }

    VirtualClock clock;
    ScriptedSelector* selector;
    reactor::EventLoop loop;
};

struct CountingClock : reactor::Clock {
    TimePoint now() const noexcept override {
        ++reads;
        return inner.now();
    }
    VirtualClock inner;
    mutable int reads = 0;
};

template <class Rep, class Period>
long long ns(std::chrono::duration<Rep, Period> length) {
    return reactor::saturated(length).count();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(law08_time)

BOOST_AUTO_TEST_CASE(L_06_how_long_an_iteration_waits) {
    {
        Scripted a;
        a.loop.call_later(seconds(5), [] {});
        a.loop.call_soon([] {});
        a.loop.run_once();
        BOOST_TEST((a.last() == Duration::zero()));
        a.loop.stop();
        a.loop.run_once();
        BOOST_TEST((a.last() == Duration::zero()));  // (b)
        a.loop.run_once(seconds(2));
        BOOST_TEST((a.last() == seconds(2)));
        a.loop.run_once();
        BOOST_TEST((a.last() == seconds(3)));  // (c)
    }
    Scripted d;
    bool fired = false;
    d.loop.call_later(seconds(-1), [&fired] { fired = true; });
    d.loop.run_once();
    BOOST_TEST((d.last() == Duration::zero()));
    BOOST_TEST(fired);

    fired = false;
    reactor::TimerHandle far = d.loop.call_later(hours(24 * 30), [&fired] { fired = true; });
    d.loop.run_once();
    BOOST_TEST((d.last() == hours(24)));  // (e)
    BOOST_TEST(!fired);
    far.reschedule(reactor::never());
    d.loop.run_once(hours(1));
    BOOST_TEST((d.last() == hours(1)));
    far.cancel();

    d.selector->play({});
    d.loop.run_once();
    BOOST_TEST((d.last() == reactor::forever()));  // (f)
}

BOOST_AUTO_TEST_CASE(L_10_cancelled_heads_do_not_shorten_the_wait) {
    Scripted s;
    reactor::TimerHandle five = s.loop.call_later(seconds(5), [] {});
    s.loop.call_later(seconds(10), [] {});
    five.cancel();
    BOOST_TEST(s.loop.core().timers.entries() == 2u);
    s.loop.run_once(seconds(0));
    BOOST_TEST(s.loop.core().timers.entries() == 1u);
    s.loop.run_once();
    BOOST_TEST((s.last() == seconds(10)));
    BOOST_TEST(s.loop.timer_count() == 0u);
}

BOOST_AUTO_TEST_CASE(a_report_before_the_wait_may_queue_work) {
    Scripted s;
    SocketPair pair;
    s.loop.set_exception_handler(
        [](reactor::EventLoop& loop, const reactor::Report&) { loop.call_soon([] {}); });
    s.loop.add_reader(pair.mine, [] {});
    s.loop.add_writer(pair.mine, [] {});
    s.selector->refuse_next_change(EBADF);
    s.loop.run_once();  // would sleep for ever if it did not look again
    BOOST_TEST((s.last() == Duration::zero()));
    BOOST_TEST(s.loop.ready_count() == 0u);
    BOOST_TEST(s.loop.watch_count() == 0u);
}

REACTOR_LOOP_TEST(L_09_a_timer_fires_when_its_time_has_come_and_not_before) {
    const TimePoint due = loop.time() + milliseconds(100);
    loop.call_at(due, say("f"));
    loop.run_for(milliseconds(100) - nanoseconds(1));
    BOOST_TEST(heard() == "");
    loop.run_for(nanoseconds(1));
    BOOST_TEST(heard() == "f");
    BOOST_TEST((loop.time() == due));

    reactor::EventLoop real(reactor::make_selector(loop.selector_name()));
    const TimePoint begin = real.time();
    real.call_later(milliseconds(100), [&real] { real.stop(); });
    real.run_forever();
    BOOST_TEST((real.time() - begin >= milliseconds(100)));
}

REACTOR_LOOP_TEST(H_06_when_is_the_deadline) {
    const TimePoint due = loop.time() + seconds(7);
    reactor::TimerHandle a = loop.call_at(due, [] {});
    reactor::TimerHandle b = loop.call_later(seconds(7), [] {});
    BOOST_TEST((a.when() == due));
    BOOST_TEST((b.when() == due));
    reactor::EventLoop real(reactor::make_selector(loop.selector_name()));
    const TimePoint before = real.time();
    const reactor::TimerHandle c = real.call_later(seconds(7), [] {});
    const TimePoint after = real.time();
    BOOST_TEST((c.when() >= before + seconds(7)));
    BOOST_TEST((c.when() <= after + seconds(7)));
    BOOST_TEST((reactor::TimerHandle().when() == reactor::never()));
    a.cancel();
    b.cancel();
}

// On the real clock: what virtual time cannot tell is whether the wait is rounded up.
BOOST_AUTO_TEST_CASE_TEMPLATE(A3_never_early_and_no_spinning_before_the_deadline, S,
                              EverySelector) {
    reactor::EventLoop loop(reactor::make_selector(S::name()));
    int pending = 0;
    for (int i = 1; i <= 99; ++i) {
        const TimePoint due = loop.time() + microseconds(100 * i);
        ++pending;
        loop.call_at(due, [&loop, &pending, due] {
            BOOST_TEST((loop.time() >= due));
            if (--pending == 0) loop.stop();
        });
    }
    loop.run_forever();

    int fired = 0;
    int iterations = 0;
    loop.call_later(milliseconds(20), [&fired] { ++fired; });
    while (fired == 0) {
        loop.run_once();
        ++iterations;
    }
    BOOST_TEST(iterations <= 3);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(L_25_tiny_waits_do_not_spin, S, EverySelector) {
    reactor::EventLoop loop(reactor::make_selector(S::name()));
    const std::vector<double> waits = {1e-2, 1e-4, 1e-6, 1e-8, 1e-10};
    std::size_t next = 0;
    std::function<void()> step = [&] {
        if (next == waits.size()) return loop.stop();
        loop.call_later(std::chrono::duration<double>(waits[next++]), step);
    };
    step();
    int iterations = 0;
    for (; next < waits.size() || loop.timer_count() != 0; ++iterations) loop.run_once();
    BOOST_TEST(iterations <= 20);
}

BOOST_AUTO_TEST_CASE(A3_a_clock_far_from_zero_loses_nothing) {
    reactor::testing::TestLoop loop("epoll", TimePoint(hours(24 * 200)));
    int fired = 0;
    for (int i = 0; i < 100; ++i) loop.call_later(microseconds(i), [&fired] { ++fired; });
    loop.run_for(microseconds(98));
    BOOST_TEST(fired == 99);
    loop.run_for(microseconds(1));
    BOOST_TEST(fired == 100);
}

BOOST_AUTO_TEST_CASE(any_duration_is_a_delay_and_saturates) {
    using std::chrono::duration;
    const double infinity = std::numeric_limits<double>::infinity();
    BOOST_TEST(ns(duration<double>(1.5)) == 1500000000);
    BOOST_TEST(ns(duration<double>(infinity)) == reactor::forever().count());
    BOOST_TEST(ns(duration<float>(-infinity)) == (Duration::min)().count());
    BOOST_TEST(ns(duration<double>(1e300)) == reactor::forever().count());
    BOOST_TEST(ns(duration<double>(1e-10)) == 1);  // rounded up: never early
    BOOST_TEST(ns(hours::max()) == reactor::forever().count());
    BOOST_TEST(ns(hours::min()) == (Duration::min)().count());
    BOOST_TEST(ns(duration<std::int64_t, std::pico>(1001)) == 2);
    BOOST_TEST(ns(duration<std::int64_t, std::pico>(-1001)) == -1);
    BOOST_TEST(ns(duration<int, std::micro>(5)) == 5000);
    BOOST_TEST(ns(duration<short>(7)) == 7000000000);
    BOOST_TEST(ns(duration<unsigned>(3)) == 3000000000);
    BOOST_TEST(ns(duration<unsigned char, std::ratio<60>>(2)) == 120000000000);
    using Frames = duration<std::int64_t, std::ratio<1, 60>>;
    BOOST_TEST(ns(Frames(1)) == 16666667);
    BOOST_TEST(ns(Frames(-1)) == -16666666);
    BOOST_TEST(ns(Frames(553402322211)) == 9223372036850000000);
    BOOST_TEST(ns(Frames(553402322212)) == reactor::forever().count());
    BOOST_TEST(ns(Frames::min()) == (Duration::min)().count());
    BOOST_TEST(ns(duration<std::int64_t, std::ratio<1000000007, 998244353>>(3)) == 3005276226);
    BOOST_TEST(ns(duration<std::uint64_t>((std::numeric_limits<std::uint64_t>::max)())) ==
               reactor::forever().count());
    BOOST_CHECK_THROW(ns(duration<double>(std::numeric_limits<double>::quiet_NaN())),
                      std::invalid_argument);

    const TimePoint negative(seconds(-5));
    BOOST_TEST((reactor::deadline_after(negative, reactor::forever()) > TimePoint()));
    BOOST_TEST((reactor::deadline_after(negative, (Duration::min)()) == (TimePoint::min)()));
    BOOST_TEST(
        (reactor::deadline_after(TimePoint(seconds(1)), reactor::forever()) == reactor::never()));
}

REACTOR_LOOP_TEST(an_infinite_delay_never_fires_and_NaN_is_refused) {
    const double infinity = std::numeric_limits<double>::infinity();
    reactor::TimerHandle never =
        loop.call_later(std::chrono::duration<double>(infinity), say("never"));
    BOOST_TEST((never.when() == reactor::never()));
    BOOST_CHECK_THROW(
        loop.call_later(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN()),
                        say("NaN")),
        std::invalid_argument);
    loop.run_for(hours(24 * 365));
    BOOST_TEST(heard() == "");
    never.cancel();
}

REACTOR_LOOP_TEST(call_every_keeps_its_grid_and_counts_missed_ticks) {
    const TimePoint start = loop.time();
    std::vector<long> at;
    reactor::TimerHandle every = loop.call_every(milliseconds(10), [&] {
        at.push_back(static_cast<long>((loop.time() - start) / milliseconds(1)));
        if (at.size() == 2) loop.clock().advance(milliseconds(35));  // to 55
    });
    loop.run_for(milliseconds(80));
    const std::vector<long> expected = {10, 20, 60, 70, 80};
    BOOST_TEST(at == expected, boost::test_tools::per_element());
    BOOST_TEST(every.missed_ticks() == 3u);  // 30, 40, 50
    every.cancel();
    BOOST_CHECK_THROW(loop.call_every(seconds(0), [] {}), std::invalid_argument);
    BOOST_CHECK_THROW(loop.call_every(seconds(-1), [] {}), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(without_armed_timers_an_iteration_reads_no_clock) {
    CountingClock clock;
    reactor::EventLoop loop(reactor::make_selector("epoll"), clock);
    SocketPair pair;
    pair.send();
    loop.add_reader(pair.mine, [] {});
    loop.call_later(seconds(1), [] {}).cancel();
    clock.reads = 0;
    for (int i = 0; i < 10; ++i) {
        loop.call_soon([] {});
        loop.run_once();
    }
    BOOST_TEST(clock.reads == 0);
}

BOOST_AUTO_TEST_SUITE_END()
