// SPDX-License-Identifier: BSL-1.0
#include <reactor/trace.hpp>

#include <boost/test/unit_test.hpp>

#include <functional>
#include <string>
#include <utility>

#include <reactor/executor.hpp>
#include <reactor/promise.hpp>
#include <reactor/task.hpp>

#include "trace_fixture.hpp"

using namespace trace_test;
using reactor::Promise;

namespace {

class TwoSteps : public reactor::Task<int> {
public:
    explicit TwoSteps(Promise<int> promise) : promise_(std::move(promise)) {}

private:
    reactor::Next start() override { return wait(); }
    reactor::Next wait() { return await(promise_, &TwoSteps::got); }
    reactor::Next got(int value) { return finish(value); }

    Promise<int> promise_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(causal_trace)

TRACE_TEST(a_slice_for_each_callback_and_an_arrow_for_each_cause) {
    loop.call_soon(label("first"), [this] {
        pass(microseconds(30));
        for (const char* const name : {"left", "right"}) {
            loop.call_soon(label(name), [this] { pass(microseconds(7)); });
        }
    });
    loop.call_soon(label("other"), [] {});
    loop.run_until_idle();
    const TraceRead run = read();
    BOOST_TEST(run.slices.size() == 4u);
    BOOST_TEST(run.arrows.size() == 2u);
    BOOST_TEST(run.cause_of("first") == "");
    BOOST_TEST(run.cause_of("other") == "");
    BOOST_TEST(run.cause_of("left") == "first");
    BOOST_TEST(run.cause_of("right") == "first");
    BOOST_TEST(run.slice("first").begin == 0);
    BOOST_TEST(run.slice("first").end == 30000);
    BOOST_TEST(run.slice("right").begin == 37000);
    BOOST_TEST(run.slice("right").kind == "soon");
}

TRACE_TEST(timers_know_who_armed_them_and_who_moved_them) {
    TimerHandle moved;
    loop.call_soon(label("armer"), [&] {
        loop.call_later(label("later"), seconds(3), [] {});
        moved = loop.call_later(label("moved"), seconds(1), [] {});
        loop.call_later(label("sooner"), seconds(2), [] {});
    });
    loop.call_soon(label("mover"), [&] { moved.reschedule(loop.time() + seconds(4)); });
    loop.call_later(label("of main"), seconds(1), [] {});
    loop.run_for(seconds(5));
    const TraceRead run = read();
    BOOST_TEST(run.cause_of("later") == "armer");
    BOOST_TEST(run.cause_of("sooner") == "armer");
    BOOST_TEST(run.cause_of("moved") == "mover");
    BOOST_TEST(run.cause_of("of main") == "");
    BOOST_TEST(run.slice("later").kind == "timer");
}

TRACE_TEST(a_ticker_is_scheduled_by_its_last_tick) {
    int ticks = 0;
    Handle ticker = loop.call_every(label("tick"), seconds(1), [&] { ++ticks; });
    loop.run_for(seconds(3));
    BOOST_TEST(ticks == 3);
    ticker.cancel();
    const TraceRead run = read();
    BOOST_TEST_REQUIRE(run.slices.size() == 3u);
    BOOST_TEST(run.slices[0].cause == 0);
    BOOST_TEST(run.slices[1].cause == run.slices[0].id);
    BOOST_TEST(run.slices[2].cause == run.slices[1].id);
}

TRACE_TEST(thousands_of_timers_through_renumbering_and_pruning) {
    // The first renumbering of sequences comes after two hundred armings, in the middle of these.
    loop.call_soon(label("long before"), [&] { loop.call_later(label("last"), hours(1), [] {}); });
    loop.run_once();
    int left = 3000;
    std::function<void()> tick = [&] {
        loop.call_later(label("short"), microseconds(1), [] {});
        if (--left > 0) loop.call_later(label("chain"), microseconds(2), tick);
    };
    loop.call_soon(label("chain"), tick);
    loop.run_for(hours(2));
    const TraceRead run = read();
    BOOST_TEST(run.cause_of("last") == "long before");
    std::size_t caused = 0;
    for (const auto& slice : run.slices) caused += slice.cause != 0;
    BOOST_TEST(run.slices.size() == 6002u);
    BOOST_TEST(caused == 6000u);  // all but the two that the test queued
}

TRACE_TEST(timers_armed_around_a_renumbering_keep_their_causes) {
    for (const char* const name : {"a", "b"}) {
        loop.call_soon(label(name), [this, name] {
            for (int i = 0; i < 150; ++i) {
                loop.call_later(label(name), seconds(1 + i % 7), [] {});
            }
        });
    }
    loop.run_for(seconds(9));
    const TraceRead run = read();
    BOOST_TEST(run.arrows.size() == 300u);
    for (const auto& slice : run.slices) {
        if (slice.kind != "timer") continue;
        BOOST_TEST_REQUIRE(run.cause_of(slice) == slice.name);
    }
}

TRACE_TEST(promises_and_tasks_are_woken_by_who_completes_them) {
    const Promise<int> promise = loop.create_promise<int>();
    loop.call_soon(label("asker"), [&] { promise.then([](int value) { return value + 1; }); });
    auto task = loop.create_task<TwoSteps>(Options().label("task"), promise);
    loop.call_later(label("answer"), seconds(1), [&] { promise.set_result(1); });
    loop.run_for(seconds(2));
    BOOST_TEST(task.done());
    const TraceRead run = read();
    BOOST_TEST(run.slices.size() == 5u);
    for (const auto& slice : run.slices) {
        if (slice.kind == "done") BOOST_TEST(run.cause_of(slice) == "answer", slice.name);
    }
    BOOST_TEST(run.arrows.size() == 2u);
}

TRACE_TEST(events_come_from_who_registered_the_descriptor) {
    SocketPair pair;
    SocketPair of_main;
    loop.add_reader(label("main's"), of_main.mine, [&] { loop.remove_reader(of_main.mine); });
    loop.call_soon(label("registers"), [&] {
        loop.add_reader(label("reader"), pair.mine, [&] { loop.remove_reader(pair.mine); });
        loop.add_writer(label("writer"), pair.mine, [&] {
            loop.remove_writer(pair.mine);
            pair.send();
            of_main.send();
        });
    });
    loop.run_iterations(4);
    const TraceRead run = read();
    BOOST_TEST(run.cause_of("writer") == "registers");
    BOOST_TEST(run.cause_of("reader") == "registers");
    BOOST_TEST(run.cause_of("main's") == "");
    BOOST_TEST(run.slice("reader").kind == "reader");
}

TRACE_TEST(posts_have_no_cause_and_disturb_nobody_elses) {
    loop.call_soon(label("a"), [&] {
        on_another_thread([&] { loop.poster().post([] {}); });
        loop.call_soon(label("b"), [] {});
        loop.call_later(label("c"), Duration::zero(), [] {});
    });
    loop.run_until_idle();
    const TraceRead run = read();
    BOOST_TEST(run.slices.size() == 4u);
    BOOST_TEST(run.arrows.size() == 2u);
    BOOST_TEST(run.cause_of("b") == "a");
    BOOST_TEST(run.cause_of("c") == "a");
}

TRACE_TEST(a_job_comes_back_to_who_sent_it) {
    loop.selector().set_patience(seconds(60));
    Promise<void> job;
    loop.call_soon(label("sends"), [&] { job = loop.run_in_executor([] {}); });
    loop.run_once();
    loop.run_until_complete(job);
    loop.close();
    const TraceRead run = read();
    BOOST_TEST_REQUIRE(run.slices.size() == 3u);
    BOOST_TEST(run.cause_of(run.slices[1]) == "sends");
    BOOST_TEST(run.slices[2].cause == run.slices[1].id);
}

BOOST_AUTO_TEST_SUITE_END()
