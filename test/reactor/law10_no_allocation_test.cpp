// SPDX-License-Identifier: BSL-1.0
#include <reactor/event_loop.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>

#include <reactor/context.hpp>
#include <reactor/detail/pool.hpp>

#include <test/support/allocations.hpp>
#include <test/support/loop_test.hpp>

using namespace support;

namespace {

// Six pointers' worth of captures: what is promised to be kept in place.
struct Big {
    long* count;
    long filler[5];
    void operator()() const { ++*count; }
};
static_assert(sizeof(Big) == 48, "the documented size");

// How many allocations the second hundred of `f` needs, after a first one has filled the lists.
template <class F>
long steady_allocations(F f) {
    for (int i = 0; i < 100; ++i) f();
    const long before = allocation_count();
    for (int i = 0; i < 100; ++i) f();
    return allocation_count() - before;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(law10_no_allocation)

// The free lists are off under the tools that look for errors in the use of memory.
struct Steady {
    Steady() : pooled(reactor::detail::pooling_wanted()) {}
    void expect_none(long count) const {
        if (pooled) BOOST_TEST(count == 0);
    }
    bool pooled;
};

BOOST_AUTO_TEST_CASE(the_counter_counts) {
    BOOST_TEST(steady_allocations([] { delete new std::string(100, 'x'); }) >= 100);
}

REACTOR_LOOP_TEST(call_soon_allocates_nothing) {
    long count = 0;
    Steady().expect_none(steady_allocations([&] {
        for (int i = 0; i < 10; ++i) loop.call_soon(Big{&count, {}});
        reactor::Handle cancelled = loop.call_soon(Big{&count, {}});
        cancelled.cancel();
        loop.run_iterations(1);
    }));
    BOOST_TEST(count == 2000);
}

REACTOR_LOOP_TEST(timers_allocate_nothing_armed_moved_cancelled_or_fired) {
    long count = 0;
    reactor::TimerHandle kept = loop.call_later(hours(1000), [] {});
    reactor::TimerHandle every = loop.call_every(milliseconds(1), Big{&count, {}});
    Steady().expect_none(steady_allocations([&] {
        loop.call_later(milliseconds(1), Big{&count, {}});
        loop.call_later(hours(1), Big{&count, {}}).cancel();
        kept.reschedule(loop.time() + hours(1000));
        kept.reschedule(loop.time() + hours(999));
        loop.run_for(milliseconds(1));
    }));
    BOOST_TEST(count == 400);
    kept.cancel();
    every.cancel();
}

REACTOR_LOOP_TEST(a_readiness_event_allocates_nothing) {
    SocketPair pair;
    pair.send();
    long count = 0;
    loop.add_reader(pair.mine, Big{&count, {}});
    Steady().expect_none(steady_allocations([&] { loop.run_iterations(1); }));
    BOOST_TEST(count == 200);
    // Nor does an interest that comes and goes.
    Steady().expect_none(steady_allocations([&] {
        loop.add_writer(pair.mine, Big{&count, {}});
        loop.run_iterations(1);
        loop.remove_writer(pair.mine);
        loop.run_iterations(1);
    }));
    loop.remove_reader(pair.mine);
}

REACTOR_LOOP_TEST(a_post_allocates_nothing) {
    long count = 0;
    const reactor::Poster poster = loop.poster();
    Steady().expect_none(steady_allocations([&] {
        for (int i = 0; i < 10; ++i) poster.post(Big{&count, {}});
        loop.run_iterations(1);
    }));
    BOOST_TEST(count == 2000);
}

REACTOR_LOOP_TEST(a_context_that_is_passed_on_unchanged_allocates_nothing) {
    static reactor::ContextVar<int> var("var");
    reactor::Context context;
    long count = 0;
    context.run([&] {
        var.set(1);
        Steady().expect_none(steady_allocations([&] {
            loop.call_soon(Big{&count, {}});
            loop.run_iterations(1);
        }));
    });
    BOOST_TEST(count == 200);
}

REACTOR_LOOP_TEST(what_does_not_fit_costs_one_allocation) {
    struct Bigger {
        long* count;
        long filler[6];
        void operator()() const { ++*count; }
    };
    long count = 0;
    const long each = steady_allocations([&] {
        loop.call_soon(Bigger{&count, {}});
        loop.run_iterations(1);
    });
    if (Steady().pooled) BOOST_TEST(each == 100);
    BOOST_TEST(count == 200);
}

// Dropped timers come back to the free lists, and the loop's core goes with the last of them.
BOOST_AUTO_TEST_CASE(nothing_is_kept_after_the_loop) {
    const long before = allocation_count();
    static_cast<void>(before);
    reactor::Handle outlives;
    {
        reactor::testing::TestLoop loop;
        for (int i = 0; i < 1000; ++i) loop.call_later(seconds(i), [] {}).cancel();
        loop.run_until_idle();
        BOOST_TEST(loop.core().timers.nodes_out() == 0u);
        outlives = loop.call_later(seconds(1), [] {});
        BOOST_TEST(loop.core().live() == 0u);
    }
    BOOST_TEST(!outlives.cancel());
}

BOOST_AUTO_TEST_SUITE_END()
