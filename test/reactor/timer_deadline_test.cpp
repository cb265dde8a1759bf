// SPDX-License-Identifier: BSL-1.0
#include <reactor/timer_queue.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <random>
#include <utility>

#include <reactor/testing_selector.hpp>

#include <test/support/forwarding_selector.hpp>
#include <test/support/loop_test.hpp>

using namespace support;
using reactor::EventLoop;
using reactor::TimePoint;

// What virtual time cannot show: how the waits of the real selectors are rounded
// (python/asyncio#106, python/cpython#116342, MagicStack/uvloop#233).

namespace {

/// A selector that counts its waits.
class Counting final : public support::ForwardingSelector {
public:
    using ForwardingSelector::ForwardingSelector;
    void wait(reactor::Duration timeout, std::vector<reactor::SelectorEvent>& ready) override {
        ++waits;
        ForwardingSelector::wait(timeout, ready);
    }
    int waits = 0;
};

/// The steady clock, set forward by 200 days.
struct FarClock final : reactor::Clock {
    TimePoint now() const noexcept override {
        return reactor::Clock::steady().now() + hours(24 * 200);
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(timer_deadline)

BOOST_AUTO_TEST_CASE_TEMPLATE(five_hundred_timers_are_never_early_and_none_spins, S,
                              EverySelector) {
    const FarClock far;
    for (const reactor::Clock* clock :
         {&reactor::Clock::steady(), static_cast<const reactor::Clock*>(&far)}) {
        Counting* const selector = new Counting(S::name());
        EventLoop loop(std::unique_ptr<reactor::Selector>(selector), *clock);
        std::mt19937 random(7);
        int pending = 0;
        bool early = false;
        for (int i = 0; i < 500; ++i) {
            const microseconds delay(100 + static_cast<int>(random() % 9801));
            const TimePoint due = loop.time() + delay;
            ++pending;
            loop.call_later(delay, [&, due] {
                early = early || loop.time() < due;
                --pending;
            });
        }
        while (pending > 0) loop.run_once();
        BOOST_TEST(!early);
        BOOST_TEST(selector->waits <= 501);  // one for each deadline at the most

        bool fired = false;
        selector->waits = 0;
        loop.call_later(milliseconds(100), [&] { fired = true; });
        while (!fired) loop.run_once();
        BOOST_TEST(selector->waits <= 3);

        // The smallest delays do not get stuck, however big the numbers of the clock.
        for (int i = 0; i < 100; ++i) {
            fired = false;
            loop.call_later(microseconds(1), [&] { fired = true; });
            selector->waits = 0;
            while (!fired) loop.run_once();
            BOOST_TEST(selector->waits <= 3);
        }
    }
}

REACTOR_LOOP_TEST(of_equal_deadlines_those_added_from_a_callback_come_last) {
    const TimePoint when = loop.time() + milliseconds(5);
    std::vector<int> fired, expected;
    std::vector<reactor::TimerHandle> handles;
    // The one at the head of them adds more of the same deadline when it has come already.
    loop.call_at(when, [&] {
        for (int i = 300; i < 400; ++i) loop.call_at(when, [&fired, i] { fired.push_back(i); });
    });
    for (int i = 0; i < 300; ++i) {
        handles.push_back(loop.call_at(when, [&fired, i] { fired.push_back(i); }));
    }
    for (int i = 0; i < 400; ++i) {
        if (i < 300 && i % 3 == 0) {
            BOOST_TEST(handles[static_cast<std::size_t>(i)].cancel());
        } else {
            expected.push_back(i);
        }
    }
    loop.run_for(milliseconds(5));
    BOOST_TEST(fired == expected, boost::test_tools::per_element());
}

// A zero-delay timer that arms itself anew, and a call_soon() that does: nobody starves
// (libuv/libuv#4250, dabeaz/curio#112), on the real clock, too.
BOOST_AUTO_TEST_CASE_TEMPLATE(what_queues_itself_anew_starves_nobody, S, EverySelector) {
    for (const bool timer : {true, false}) {
        EventLoop loop(reactor::make_selector(S::name()));
        SocketPair pair;
        pair.send();
        int runs = 0, before_reader = -1;
        loop.add_reader(pair.mine, [&] {
            before_reader = runs;
            loop.remove_reader(pair.mine);
        });
        bool fired = false;
        const TimePoint due = loop.time() + milliseconds(50);
        loop.call_at(due, [&] {
            fired = true;
            BOOST_TEST((loop.time() >= due));
        });
        std::function<void()> again = [&] {
            ++runs;
            if (fired) return;
            if (timer) {
                loop.call_later(seconds(0), again);
            } else {
                loop.call_soon(again);
            }
        };
        again();
        while (!fired) {
            const int before = runs;
            loop.run_once();
            BOOST_REQUIRE(runs <= before + 1);  // one batch, one run
        }
        BOOST_TEST(before_reader >= 1);
        BOOST_TEST(before_reader <= 3);
        BOOST_TEST(runs > 3);
    }
}

BOOST_AUTO_TEST_SUITE_END()
