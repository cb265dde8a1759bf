// SPDX-License-Identifier: BSL-1.0
#include <reactor/handle.hpp>

#include <boost/test/unit_test.hpp>

#include <functional>
#include <memory>
#include <type_traits>
#include <unordered_set>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::Handle;
using reactor::Options;
using reactor::StateError;
using reactor::TimerHandle;

static_assert(std::is_nothrow_move_constructible<Handle>::value, "kept in vectors");
static_assert(sizeof(Handle) == sizeof(void*), "as cheap as a pointer");

namespace {

struct Named {
    void operator()() const {}
};

}  // namespace

BOOST_AUTO_TEST_SUITE(handle)

BOOST_AUTO_TEST_CASE(an_empty_handle_is_cancelled_by_nobody) {
    Handle handle;
    TimerHandle timer;
    BOOST_TEST(!handle);
    BOOST_TEST(!handle.cancel());
    BOOST_TEST(!handle.cancelled());
    BOOST_TEST(handle.name().empty());
    BOOST_TEST(!timer.cancel());
    BOOST_TEST(timer.missed_ticks() == 0u);
    BOOST_TEST((handle == timer));
    BOOST_TEST(!(timer < TimerHandle()));
}

REACTOR_LOOP_TEST(identity_is_the_registration_and_the_hash_agrees) {
    const Handle a = loop.call_soon([] {});
    const Handle b = loop.call_soon([] {});
    Handle copy = a;
    BOOST_TEST((a == copy));
    BOOST_TEST((a != b));
    const std::unordered_set<Handle> set = {a, b, copy};
    BOOST_TEST(set.size() == 2u);
    BOOST_TEST((std::hash<Handle>()(a) == std::hash<Handle>()(copy)));
    const Handle moved = std::move(copy);
    BOOST_TEST((moved == a));
    BOOST_TEST(!copy);  // NOLINT: moved from is empty
    loop.run_iterations(1);
}

REACTOR_LOOP_TEST(timers_are_ordered_by_deadline_then_by_the_order_of_setting) {
    const reactor::TimePoint when = loop.time() + seconds(1);
    TimerHandle a = loop.call_at(when, [] {});
    TimerHandle b = loop.call_at(when, [] {});
    TimerHandle c = loop.call_at(when - seconds(5), [] {});
    BOOST_TEST((a < b));
    BOOST_TEST((c < a));
    BOOST_TEST((b > a));
    BOOST_TEST((a <= a));
    BOOST_TEST((a >= c));
    BOOST_TEST((a != b));
    BOOST_TEST((TimerHandle() < c));
    a.reschedule(when);
    BOOST_TEST((b < a));
    loop.run_for(seconds(1));
}

REACTOR_LOOP_TEST(the_name_is_the_label_or_the_type) {
    const Handle named = loop.call_soon(Options().label("retry"), Named());
    const Handle typed = loop.call_soon(Named());
    const Handle bound = loop.call_soon([](int) {}, 1);
    SocketPair pair;
    const Handle reader = loop.add_reader(pair.mine, Named());
    BOOST_TEST(named.name() == "retry");
    BOOST_TEST(typed.name().find("Named") != std::string::npos);
    BOOST_TEST(typed.name().find("Bound") == std::string::npos);
    BOOST_TEST(bound.name().find("Bound") == std::string::npos);
    BOOST_TEST(reader.name().find("Named") != std::string::npos);
    loop.remove_reader(pair.mine);
    loop.run_iterations(1);
    BOOST_TEST(named.name() == "retry");
    BOOST_TEST(typed.name() == "");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(handles_outlive_their_loop, S, EverySelector) {
    SocketPair pair;
    Handle soon;
    TimerHandle timer;
    TimerHandle cancelled;
    Handle reader;
    const auto owned = std::make_shared<int>(1);
    {
        reactor::EventLoop loop(reactor::make_selector(S::name()));
        soon = loop.call_soon([owned] {});
        timer = loop.call_later(seconds(1), [owned] {});
        cancelled = loop.call_later(seconds(1), [owned] {});
        reader = loop.add_reader(pair.mine, [owned] {});
        cancelled.cancel();
        loop.call_later(seconds(1), [owned] {}).cancel();
        BOOST_TEST(owned.use_count() == 4);
    }
    BOOST_TEST(owned.use_count() == 1);
    BOOST_TEST(!soon.cancel());
    BOOST_TEST(!timer.cancel());
    BOOST_TEST(!reader.cancel());
    BOOST_TEST(cancelled.cancelled());
    BOOST_TEST((timer < cancelled));
    BOOST_CHECK_THROW(timer.reschedule(reactor::never()), StateError);
    const Handle copy = reader;
    reader = Handle();
}

// The race that is easily overlooked: the thread that made the loop posts while another one is
// about to run it.
REACTOR_LOOP_TEST(the_maker_of_a_loop_may_post_while_another_thread_begins_to_run_it) {
    for (int round = 0; round < 50; ++round) {
        reactor::EventLoop own(reactor::make_selector(loop.selector_name()));
        int count = 0;
        std::thread runner([&] {
            own.call_soon([&count] { ++count; });
            own.run_forever();
        });
        for (int i = 0; i < 100; ++i) own.call_soon_threadsafe([&count] { ++count; });
        own.call_soon_threadsafe([&own] { own.stop(); });
        runner.join();
        BOOST_TEST(count == 101);
    }
}

BOOST_AUTO_TEST_SUITE_END()
