// SPDX-License-Identifier: BSL-1.0
#include <reactor/context.hpp>

#include <boost/test/unit_test.hpp>

#include <stdexcept>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::Context;
using reactor::ContextVar;
using reactor::Options;

namespace {

// Each test case runs in a context of its own, so that none sees what another has set.
struct Fresh {
    template <class F>
    explicit Fresh(F f) {
        Context().run(f);
    }
};

}  // namespace

// The contexts that callbacks run in.
BOOST_AUTO_TEST_SUITE(callback_context)

REACTOR_LOOP_TEST(C_06_a_callback_runs_in_the_context_of_the_call_that_scheduled_it) {
    ContextVar<int> var("var");
    Fresh([&] {
        var.set(1);
        loop.call_soon([&] {
            BOOST_TEST(var.get() == 1);
            var.set(99);
        });
        var.set(2);
        loop.call_soon([&] { BOOST_TEST(var.get() == 2); });
        loop.call_later(seconds(0), [&] { BOOST_TEST(var.get() == 2); });
        on_another_thread([&] {
            loop.call_soon_threadsafe([&] { BOOST_TEST(var.get(0) == 0); });
            var.set(7);
            loop.call_soon_threadsafe([&] { BOOST_TEST(var.get() == 7); });
        });
        loop.run_iterations(1);
        BOOST_TEST(var.get() == 2);
    });
    loop.call_soon([&] { BOOST_TEST(var.get(0) == 0); });
    loop.run_iterations(1);
}

REACTOR_LOOP_TEST(a_callback_passes_its_changes_on_to_what_it_schedules) {
    ContextVar<int> var("var", 0);
    loop.call_soon([&] {
        var.set(1);
        loop.call_soon([&] { BOOST_TEST(var.get() == 1); });
    });
    loop.call_soon([&] { BOOST_TEST(var.get() == 0); });  // its neighbour in the batch
    loop.run_iterations(2);
}

REACTOR_LOOP_TEST(a_repeating_callback_keeps_the_context_that_it_changes) {
    ContextVar<int> var("var", 0);
    SocketPair pair;
    pair.send();
    int last = 0;
    const auto count = [&] {
        var.set(var.get() + 1);
        last = var.get();
    };
    Fresh([&] {
        var.set(10);
        loop.add_reader(pair.mine, count);
        loop.run_iterations(3);
        BOOST_TEST(last == 13);
        BOOST_TEST(var.get() == 10);
        loop.remove_reader(pair.mine);
        reactor::TimerHandle every = loop.call_every(seconds(1), count);
        var.set(20);
        loop.run_for(seconds(2));
        BOOST_TEST(last == 12);
        every.cancel();
    });
}

REACTOR_LOOP_TEST(C_07_an_explicit_context_is_used_itself) {
    ContextVar<int> var("var");
    Context c;
    Fresh([&] {
        var.set(1);
        loop.call_soon(Options().context(c), [&] { var.set(5); });
        loop.call_soon(Options().context(c), [&] { BOOST_TEST(var.get() == 5); });
        loop.run_iterations(1);
        BOOST_TEST(*c.get(var) == 5);
        BOOST_TEST(var.get() == 1);
    });
}

REACTOR_LOOP_TEST(C_11_a_throwing_callback_leaves_its_context_in_order) {
    ContextVar<int> var("var");
    Context c;
    Fresh([&] {
        var.set(1);
        loop.call_soon(Options().context(c), [&] {
            var.set(5);
            throw std::runtime_error("broken");
        });
        loop.call_soon(Options().context(c), [&] { throw reactor::LoopExit(1); });
        BOOST_CHECK_THROW(loop.run_forever(), reactor::LoopExit);
        expect_report("Exception in callback");
        BOOST_TEST(var.get() == 1);
        BOOST_TEST(*c.get(var) == 5);
        loop.call_soon(Options().context(c), [&] { BOOST_TEST(var.get() == 5); });
        loop.run_iterations(1);
    });
}

REACTOR_LOOP_TEST(E_06_the_exception_handler_runs_in_the_context_of_the_handle) {
    ContextVar<int> var("var");
    int seen = 0;
    Fresh([&] {
        var.set(1);
        loop.set_exception_handler(
            [&](reactor::EventLoop&, const reactor::Report&) { seen = var.get(); });
        Context c = reactor::copy_context();
        loop.call_soon(Options().context(c), [&] {
            var.set(2);
            throw std::runtime_error("broken");
        });
        loop.run_iterations(1);
        BOOST_TEST(seen == 2);
        BOOST_TEST(var.get() == 1);
        loop.call_soon([&] {
            var.set(3);
            throw std::runtime_error("broken");
        });
        loop.run_iterations(1);
        BOOST_TEST(seen == 3);
        BOOST_TEST(var.get() == 1);
    });
}

REACTOR_LOOP_TEST(a_context_that_is_entered_around_the_loop_blocks_its_callbacks) {
    Context c;
    reactor::TimerHandle every = loop.call_every(Options().context(c), seconds(1), say("tick"));
    loop.call_soon(Options().context(c), say("soon"));
    c.run([&] { loop.run_for(seconds(1)); });
    BOOST_TEST(heard() == "");
    expect_report("Callback not run");
    expect_report("Callback not run");
    loop.run_for(seconds(1));
    BOOST_TEST(heard() == "tick");  // the next one is not lost
    every.cancel();
}

BOOST_AUTO_TEST_SUITE_END()
