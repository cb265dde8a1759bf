// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>

#include <reactor/testing.hpp>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::Duration;
using reactor::Interest;
using reactor::StateError;
using reactor::testing::LoopFixture;
using reactor::testing::ScriptedSelector;
using reactor::testing::TestLoop;
using reactor::testing::VirtualClock;

namespace {

std::vector<std::string> failures;

void note_failure(const std::string& text) { failures.push_back(text); }

// The failures of a fixture around `f`.
template <class F>
std::vector<std::string> failures_of(F f) {
    failures.clear();
    {
        LoopFixture fixture(std::string(), &note_failure);
        f(fixture);
    }
    return failures;
}

bool only(const std::vector<std::string>& texts, const std::string& part) {
    return texts.size() == 1 && texts[0].find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(testing)

BOOST_AUTO_TEST_CASE(a_virtual_clock_moves_when_told_and_never_back) {
    VirtualClock clock;
    const reactor::TimePoint start = clock.now();
    BOOST_TEST((clock.now() == start));
    clock.advance(seconds(3));
    BOOST_TEST((clock.now() == start + seconds(3)));
    clock.advance_to(start + seconds(5));
    BOOST_TEST((clock.now() == start + seconds(5)));
    BOOST_CHECK_THROW(clock.advance(nanoseconds(-1)), std::invalid_argument);
    BOOST_CHECK_THROW(clock.advance_to(start), std::invalid_argument);
    clock.advance(reactor::forever());
    BOOST_TEST((clock.now() == reactor::never()));
}

REACTOR_LOOP_TEST(waiting_passes_virtual_time_at_once) {
    loop.call_later(hours(24 * 365), [this] { loop.stop(); });
    const reactor::TimePoint before = loop.time();
    loop.run_forever();
    BOOST_TEST((loop.time() == before + hours(24 * 365)));
}

REACTOR_LOOP_TEST(time_stands_still_while_a_descriptor_is_ready) {
    SocketPair pair;
    pair.send();
    loop.call_later(seconds(1), say("timer"));
    loop.add_reader(pair.mine, [&] {
        pair.receive();
        say("reader")();
    });
    const reactor::TimePoint before = loop.time();
    loop.run_once();
    BOOST_TEST(heard() == "reader");
    BOOST_TEST((loop.time() == before));
    loop.run_once();
    BOOST_TEST(heard() == "timer");
    loop.remove_reader(pair.mine);
}

REACTOR_LOOP_TEST(a_test_that_would_hang_ends_with_a_sentence) {
    BOOST_CHECK_EXCEPTION(loop.run_forever(), StateError, [](const StateError& error) {
        return std::string(error.what()).find("sleep for ever") != std::string::npos;
    });
    BOOST_TEST(!loop.is_running());
    loop.call_soon(say("usable"));
    loop.run_iterations(1);
    BOOST_TEST(heard() == "usable");
}

REACTOR_LOOP_TEST(run_until_idle_runs_what_is_ready_and_due_and_lets_no_time_pass) {
    const reactor::TimePoint before = loop.time();
    loop.call_soon(
        [this] { loop.call_soon([this] { loop.call_later(seconds(0), say("third")); }); });
    loop.call_later(seconds(1), say("later"));
    loop.run_until_idle();
    BOOST_TEST(heard() == "third");
    BOOST_TEST((loop.time() == before));
    loop.run_for(seconds(1));
    BOOST_TEST(heard() == "later");
    BOOST_TEST((loop.time() == before + seconds(1)));
    loop.run_for(seconds(10));  // with nothing to do
    BOOST_TEST((loop.time() == before + seconds(11)));
}

REACTOR_LOOP_TEST(run_for_is_less_patient_than_the_selector) {
    const Duration most = milliseconds(20);
    for (const Duration patience : {Duration(seconds(10)), Duration(milliseconds(7))}) {
        Duration within{0};
        loop.selector().set_patience(patience);
        loop.call_soon([&] {
            within = loop.selector().patience();
            throw reactor::LoopExit();
        });
        BOOST_CHECK_THROW(loop.run_for(seconds(1)), reactor::LoopExit);
        BOOST_TEST((within == std::min(patience, most)));
        BOOST_TEST((loop.selector().patience() == patience));
    }
}

BOOST_AUTO_TEST_CASE(a_scripted_selector_plays_events_and_errors_and_records) {
    VirtualClock clock;
    ScriptedSelector* const script = new ScriptedSelector(clock);
    reactor::EventLoop loop(std::unique_ptr<reactor::Selector>(script), clock);
    SocketPair pair;
    int reads = 0;
    loop.add_reader(pair.mine, [&reads] { ++reads; });
    script->play({{pair.mine, Interest::read}});
    script->play_error(ENOMEM);
    loop.run_once();
    BOOST_TEST(reads == 1);
    BOOST_CHECK_THROW(loop.run_once(), std::system_error);
    BOOST_CHECK_THROW(loop.run_once(), StateError);
    loop.run_once(seconds(4));
    const std::vector<Duration> expected = {reactor::forever(), reactor::forever(),
                                            reactor::forever(), seconds(4)};
    BOOST_TEST((script->timeouts() == expected));
    BOOST_TEST(std::string(loop.selector_name()) == "scripted");
    script->refuse_next_change(ENOSPC);
    BOOST_CHECK_THROW(loop.add_writer(pair.theirs, [] {}), std::system_error);
    // A stale event: of a registration that has gone.
    loop.remove_reader(pair.mine);
    script->play({{pair.mine, Interest::read}});
    loop.run_once();
    BOOST_TEST(reads == 1);
}

BOOST_AUTO_TEST_CASE(a_fixture_notices_what_a_test_leaves_behind) {
    SocketPair pair;
    int leaked = -1;
    BOOST_TEST(failures_of([](LoopFixture& f) {
                   f.loop.call_soon([] {});
                   f.loop.run_until_idle();
               }).empty());
    BOOST_TEST(only(failures_of([](LoopFixture& f) { f.loop.call_soon([] {}); }), "callback"));
    BOOST_TEST(
        only(failures_of([](LoopFixture& f) { f.loop.call_soon_threadsafe([] {}); }), "callback"));
    BOOST_TEST(
        only(failures_of([](LoopFixture& f) { f.loop.call_later(hours(1), [] {}); }), "timer"));
    BOOST_TEST(
        only(failures_of([&](LoopFixture& f) { f.loop.add_reader(pair.mine, [] {}); }), "watch"));
    BOOST_TEST(only(failures_of([&](LoopFixture&) { leaked = ::dup(pair.mine); }), "descriptor"));
    ::close(leaked);
    BOOST_TEST(only(failures_of([](LoopFixture& f) {
                        f.loop.call_soon([] { throw std::runtime_error("unexpected"); });
                        f.loop.run_iterations(1);
                    }),
                    "unexpected"));
    BOOST_TEST(failures_of([](LoopFixture& f) {
                   f.loop.call_soon([] { throw std::runtime_error("expected"); });
                   f.loop.run_iterations(1);
                   f.expect_report("Exception in callback");
               }).empty());
    BOOST_TEST(only(failures_of([](LoopFixture& f) { f.expect_report("nothing"); }), "nothing"));
    BOOST_TEST(failures_of([](LoopFixture& f) {
                   f.loop.call_later(hours(1), [] {});
                   f.loop.close();  // on purpose: nothing is left
               }).empty());
}

BOOST_AUTO_TEST_CASE(a_fixture_names_what_a_test_leaves_behind) {
    using reactor::Options;
    SocketPair pair;
    BOOST_TEST(only(
        failures_of([](LoopFixture& f) { f.loop.call_soon(Options().label("forgotten"), [] {}); }),
        "the test leaves 1 callbacks that were queued and not run behind:\n"
        "queued callback  forgotten\n"));
    BOOST_TEST(only(failures_of([](LoopFixture& f) {
                        f.loop.call_later(Options().label("late"), seconds(2), [] {});
                    }),
                    "the test leaves 1 armed timers behind:\ntimer  late  due in 2.000 s\n"));
    BOOST_TEST(only(failures_of([&](LoopFixture& f) {
                        f.loop.add_reader(Options().label("ears"), pair.mine, [] {});
                    }),
                    "behind:\nreader  ears  descriptor " + std::to_string(pair.mine) +
                        ", made at " + __FILE__));
    BOOST_TEST(only(failures_of([](LoopFixture& f) {
                        for (int i = 0; i < 30; ++i) f.loop.call_soon([] {});
                    }),
                    "and 10 more\n"));
}

BOOST_AUTO_TEST_SUITE_END()
