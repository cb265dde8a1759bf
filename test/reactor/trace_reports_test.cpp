// SPDX-License-Identifier: BSL-1.0
#include <reactor/trace.hpp>

#include <boost/test/unit_test.hpp>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <reactor/context.hpp>
#include <reactor/error.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <test/support/loop_test.hpp>
#include <test/support/temporary_directory.hpp>
#include <test/support/trace_reader.hpp>

using namespace support;
using reactor::EventLoop;
using reactor::Handle;
using reactor::Options;
using reactor::Report;
using reactor::scheduled_by;
using reactor::Trace;

namespace {

using Strings = std::vector<std::string>;

Options label(const char* name) { return Options().label(name); }

/// What the only report says of who scheduled.
std::string scheduled_by_of(const std::vector<Report>& reports) {
    BOOST_TEST_REQUIRE(reports.size() == 1u);
    for (const auto& detail : reports[0].details) {
        if (detail.first == "scheduled by") return detail.second;
    }
    return "nobody";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(trace_reports)

REACTOR_LOOP_TEST(a_report_names_the_ancestors_of_the_callback) {
    const Trace trace(loop);
    loop.call_soon(label("main"), [&] {
        loop.call_later(label("retry"), seconds(1), [&] {
            loop.call_soon(label("thrower"), [] { throw std::runtime_error("thrown"); });
        });
    });
    loop.run_for(seconds(2));
    const auto reports = take_reports();
    BOOST_TEST(scheduled_by_of(reports) == "retry <- main");
    BOOST_TEST(reports[0].text().find("\nscheduled by: retry <- main\n") != std::string::npos);
}

REACTOR_LOOP_TEST(at_most_sixteen_ancestors) {
    const Trace trace(loop);
    int left = 40;
    std::function<void()> step = [&] {
        if (--left == 0) throw std::runtime_error("thrown");
        loop.call_soon(label("step"), step);
    };
    loop.call_soon(label("step"), step);
    loop.run_until_idle();
    const std::string text = scheduled_by_of(take_reports());
    std::size_t steps = 0;
    for (std::size_t at = 0; (at = text.find("step", at)) != std::string::npos; ++at) ++steps;
    BOOST_TEST(steps == 16u);
}

REACTOR_LOOP_TEST(a_failure_that_nobody_read_says_who_dropped_it) {
    const Trace trace(loop);
    loop.call_soon(label("starts"), [&] {
        loop.call_soon(label("drops"), [&] {
            loop.create_promise<int>().set_exception(
                std::make_exception_ptr(std::runtime_error("unread")));
        });
    });
    loop.run_until_idle();
    BOOST_TEST(scheduled_by_of(take_reports()) == "starts");
}

REACTOR_LOOP_TEST(without_a_trace_nothing_is_added) {
    { const Trace trace(loop); }
    loop.call_soon([&] { loop.call_soon([] { throw std::runtime_error("thrown"); }); });
    loop.run_until_idle();
    BOOST_TEST(scheduled_by_of(take_reports()) == "nobody");
}

REACTOR_LOOP_TEST(a_handle_knows_who_scheduled_it_in_every_state) {
    SocketPair pair;
    Handle queued, armed, watch, running;
    const Trace trace(loop);
    BOOST_TEST(scheduled_by(Handle()).empty());
    loop.call_soon(label("origin"), [&] {
        loop.call_soon(label("maker"), [&] {
            queued = loop.call_soon(label("queued"), [] {});
            armed = loop.call_later(seconds(1), [] {});
            watch = loop.add_reader(pair.mine, [] {});
            // Already while the maker runs.
            for (const Handle& handle : {queued, armed, watch}) {
                BOOST_TEST((scheduled_by(handle) == Strings{"maker", "origin"}));
            }
            running = loop.call_soon([&] {
                BOOST_TEST((scheduled_by(running) == Strings{"maker", "origin"}));
                BOOST_TEST((scheduled_by(queued) == Strings{}));  // it ran
            });
        });
    });
    const Handle of_main = loop.call_soon([] {});
    loop.run_once();
    loop.run_once();
    BOOST_TEST(scheduled_by(of_main).empty());
    for (const Handle& handle : {queued, armed, watch}) {
        BOOST_TEST((scheduled_by(handle) == Strings{"maker", "origin"}));
    }
    loop.run_once();
    armed.cancel();
    loop.remove_reader(pair.mine);
    BOOST_TEST(scheduled_by(armed).empty());
    BOOST_TEST(scheduled_by(watch).empty());
}

REACTOR_LOOP_TEST(one_trace_at_a_time_on_the_loops_thread) {
    const TemporaryDirectory directory;
    std::unique_ptr<Trace> trace(new Trace(loop));
    BOOST_CHECK_THROW(Trace(loop, directory / "t.json"), reactor::StateError);
    BOOST_TEST(names_in(directory.path()).empty());
    trace->close();
    trace->close();
    trace.reset(new Trace(loop));
    trace.reset();
    loop.call_soon(
        [&] { on_another_thread([&] { BOOST_CHECK_THROW(Trace{loop}, reactor::StateError); }); });
    loop.run_once();
    loop.close();
    BOOST_CHECK_THROW(Trace{loop}, reactor::StateError);
}

REACTOR_LOOP_TEST(begins_inside_any_callback_and_ends_inside_any) {
    // In a plain one, whose end the trace is not told of; in one of a context, whose end it is.
    const TemporaryDirectory directory;
    for (const bool plain : {true, false}) {
        for (const bool last : {true, false}) {
            std::unique_ptr<Trace> trace;
            const auto begins = [&] {
                loop.call_soon(label("before"), [] {});
                trace.reset(new Trace(loop, directory / "t.json"));
                loop.call_soon(label("after"), [] {});
                loop.call_later(label("timer"), seconds(1), [] {});
                loop.clock().advance(microseconds(3));
            };
            if (plain) {
                loop.call_soon(label("begins"), begins);
            } else {
                loop.call_soon(label("begins").context(reactor::Context()), begins);
            }
            if (!last) loop.call_soon(label("neighbour"), [] {});
            loop.run_for(seconds(2));
            loop.call_soon(label("ends"), [&] {
                loop.clock().advance(microseconds(5));
                trace.reset();
            });
            loop.call_soon(label("unseen"), [] {});
            loop.run_once();
            const TraceRead run = read_trace(directory / "t.json");
            BOOST_TEST(run.slices.size() == (last ? 5u : 6u));
            BOOST_TEST(run.slice("begins").end - run.slice("begins").begin == 3000);
            BOOST_TEST(run.cause_of("before") == "");
            BOOST_TEST(run.cause_of("after") == "begins");
            BOOST_TEST(run.cause_of("timer") == "begins");
            BOOST_TEST(run.slice("ends").end - run.slice("ends").begin == 5000);
        }
    }
}

REACTOR_LOOP_TEST(ends_with_the_loop_and_may_go_before_or_after_it) {
    const TemporaryDirectory directory;
    std::unique_ptr<Trace> trace;
    {
        EventLoop other;
        trace.reset(new Trace(other, directory / "t.json"));
        other.call_soon(label("ran"), [] {});
        other.run_once();
        other.call_soon(label("never ran"), [] {});
        other.call_later(seconds(1), [] {});
    }
    BOOST_TEST(read_trace(directory / "t.json").slices.size() == 1u);
    trace->close();
    trace.reset();
}

REACTOR_LOOP_TEST(debug_mode_and_a_trace_go_together) {
    loop.set_debug(true);
    std::unique_ptr<Trace> trace(new Trace(loop));
    loop.set_debug(false);
    loop.call_soon(label("a"),
                   [&] { loop.call_soon(label("b"), [] { throw std::runtime_error("thrown"); }); });
    loop.run_until_idle();
    BOOST_TEST(scheduled_by_of(take_reports()) == "a");
    loop.set_debug(true);
    trace.reset();
    BOOST_TEST(loop.debug());
    std::string logged;
    loop.set_log([&](reactor::LogLevel, const std::string& text) { logged = text; });
    loop.call_soon(label("slow"), [&] { loop.clock().advance(seconds(1)); });
    loop.run_once();
    BOOST_TEST(logged.find("Executing slow took 1.000") == 0u, logged);
}

BOOST_AUTO_TEST_SUITE_END()
