// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/causes.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <reactor/detail/loop_state.hpp>
#include <reactor/error.hpp>
#include <reactor/promise.hpp>

#include "trace_fixture.hpp"

using namespace trace_test;

// Whatever happens to the ready queue, each entry stays with its callback.
BOOST_AUTO_TEST_SUITE(trace_queue)

TRACE_TEST(what_destructors_of_captures_queue_was_queued_by_their_callback) {
    struct Last {
        explicit Last(EventLoop& l) : loop(&l) {}
        Last(Last&& other) noexcept : loop(other.loop) { other.loop = nullptr; }
        ~Last() {
            if (loop) loop->call_soon(label("last words"), [] {});
        }
        void operator()() {}
        EventLoop* loop;
    };
    loop.call_soon(label("owner"), Last(loop));
    loop.call_soon(label("next"), [] {});
    loop.run_until_idle();
    BOOST_TEST(cause_of("last words") == "owner");
}

TRACE_TEST(cancelled_and_moved_callbacks_do_not_shift_the_causes) {
    loop.call_soon(label("a"), [&] {
        Handle cancelled = loop.call_soon(label("gone"), [] {});
        loop.call_soon(label("of a"), [] {});
        cancelled.cancel();
    });
    TimerHandle timer;
    loop.call_soon(label("b"), [&] {
        timer = loop.call_later(label("moved"), Duration::zero(), [] {});
        loop.call_later(label("still"), Duration::zero(), [] {});
        loop.call_soon(label("of b"), [&] { timer.reschedule(loop.time() + seconds(1)); });
    });
    loop.run_for(seconds(2));
    const TraceRead run = read();
    BOOST_TEST(run.slices.size() == 6u);
    BOOST_TEST(run.cause_of("of a") == "a");
    BOOST_TEST(run.cause_of("of b") == "b");
    BOOST_TEST(run.cause_of("still") == "b");
    BOOST_TEST(run.cause_of("moved") == "of b");
}

TRACE_TEST(an_exit_leaves_the_rest_queued_with_its_causes) {
    loop.call_soon(label("a"), [&] {
        loop.call_soon(label("leaves"), [&] {
            loop.call_soon(label("of leaver"), [] {});
            throw reactor::LoopExit(0);
        });
        loop.call_soon(label("left"), [] {});
    });
    loop.run_once();
    BOOST_CHECK_THROW(loop.run_once(), reactor::LoopExit);
    loop.call_soon(label("between"), [] {});
    loop.run_until_idle();
    const TraceRead run = read();
    BOOST_TEST(run.cause_of("left") == "a");
    BOOST_TEST(run.cause_of("of leaver") == "leaves");
    BOOST_TEST(run.cause_of("between") == "");
}

TRACE_TEST(a_throwing_callback_has_its_slice) {
    loop.call_soon(label("throws"), [&] {
        loop.call_soon(label("of thrower"), [] {});
        throw std::runtime_error("thrown");
    });
    loop.run_until_idle();
    expect_report("Exception in callback throws");
    BOOST_TEST(cause_of("of thrower") == "throws");
}

// After the poll, before the batch: the queue was filled unseen.
REACTOR_LOOP_TEST(a_trace_may_begin_in_the_handler_of_a_report) {
    const TemporaryDirectory directory;
    std::unique_ptr<Trace> trace;
    loop.set_exception_handler([&](EventLoop&, const reactor::Report&) {
        if (!trace) trace.reset(new Trace(loop, directory / "t.json"));
    });
    std::thread other;
    loop.call_soon([&] {
        std::unique_ptr<reactor::Promise<int>> failed(
            new reactor::Promise<int>(loop.create_promise<int>()));
        failed->set_exception(std::runtime_error("unread"));
        reactor::Promise<int>* const last = failed.release();
        other = std::thread([last] { delete last; });
        other.join();
        // Alone in its batch: there is not even a neighbour's entry to take for its own.
        loop.call_later(label("timer"), Duration(1),
                        [&] { loop.call_soon(label("of timer"), [] {}); });
        loop.clock().advance(milliseconds(1));
    });
    loop.run_until_idle();
    BOOST_REQUIRE(trace);
    trace.reset();
    BOOST_TEST(read_trace(directory / "t.json").cause_of("of timer") == "timer");
}

// Who is called in by a callback that goes the quick way hears of its end all the same.
REACTOR_LOOP_TEST(an_observer_called_in_by_a_callback_hears_of_its_end) {
    struct Listener final : reactor::detail::Observer {
        void begins(const reactor::detail::Node&) noexcept override { running = true; }
        void ends() noexcept override { running = false; }
        bool running = true;
    } listener;
    auto& state = static_cast<reactor::detail::LoopState&>(loop.core());
    loop.call_soon([&] { state.add_observer(listener); });
    loop.run_iterations(1);
    BOOST_TEST(!listener.running);
    state.remove_observer(listener);
}

BOOST_AUTO_TEST_SUITE_END()
