// SPDX-License-Identifier: BSL-1.0
#include <reactor/event_loop.hpp>

#include <boost/test/unit_test.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::LogLevel;
using reactor::StateError;
using reactor::TimerHandle;

namespace {

bool names(const StateError& error, const std::string& call) {
    return std::string(error.what()).find(call) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(debug_mode)

REACTOR_LOOP_TEST(E_07_slow_callbacks_are_logged_in_debug_mode) {
    std::vector<std::string> logged;
    loop.set_log([&](LogLevel level, const std::string& text) {
        BOOST_TEST((level == LogLevel::warning));
        logged.push_back(text);
    });
    const auto takes = [this](milliseconds length) { loop.clock().advance(length); };
    const reactor::Options named = reactor::Options().label("slow");
    loop.call_soon(named, takes, milliseconds(120));
    loop.run_iterations(1);
    BOOST_TEST(logged.empty());
    loop.set_debug(true);
    BOOST_TEST((loop.slow_callback_duration() == milliseconds(100)));
    loop.call_soon(named, takes, milliseconds(120));
    loop.call_soon(takes, milliseconds(10));
    loop.run_iterations(1);
    BOOST_REQUIRE(logged.size() == 1u);
    BOOST_TEST(logged[0] == "Executing slow took 0.120 seconds");
    loop.set_slow_callback_duration(seconds(0));
    loop.call_soon([] {});
    loop.run_iterations(1);
    BOOST_TEST(logged.size() == 2u);
    loop.set_debug(false);
}

REACTOR_LOOP_TEST(E_08_a_slow_callback_that_throws_is_both_reported_and_logged) {
    int logged = 0;
    loop.set_log([&](LogLevel, const std::string&) { ++logged; });
    loop.set_debug(true);
    loop.call_soon([this] {
        loop.clock().advance(milliseconds(120));
        throw std::runtime_error("broken");
    });
    loop.run_iterations(1);
    expect_report("Exception in callback");
    BOOST_TEST(logged == 1);
    loop.set_debug(false);
}

REACTOR_LOOP_TEST(E_09_debug_mode_is_looked_at_before_each_callback) {
    std::vector<std::string> logged;
    loop.set_log([&](LogLevel, const std::string& text) { logged.push_back(text); });
    loop.call_soon(reactor::Options().label("A"), [this] {
        loop.set_debug(true);
        loop.clock().advance(milliseconds(120));
    });
    loop.call_soon(reactor::Options().label("B"),
                   [this] { loop.clock().advance(milliseconds(120)); });
    loop.run_iterations(1);
    BOOST_REQUIRE(logged.size() == 1u);
    BOOST_TEST(logged[0].find("Executing B") == 0u);
    loop.set_debug(false);
}

REACTOR_LOOP_TEST(E_10_calls_from_another_thread_are_refused_by_name_while_the_loop_runs) {
    for (const bool debug : {false, true}) {
        loop.set_debug(debug);
        TimerHandle timer = loop.call_later(hours(1), [] {});
        loop.call_soon([&] {
            on_another_thread([&] {
                const auto refused = [](const char* call, const std::function<void()>& f) {
                    BOOST_CHECK_EXCEPTION(f(), StateError,
                                          [&](const StateError& e) { return names(e, call); });
                };
                refused("call_soon", [&] { loop.call_soon([] {}); });
                refused("call_later", [&] { loop.call_later(seconds(1), [] {}); });
                refused("call_at", [&] { loop.call_at(reactor::never(), [] {}); });
                refused("call_every", [&] { loop.call_every(seconds(1), [] {}); });
                refused("add_reader", [&] { loop.add_reader(0, [] {}); });
                refused("add_writer", [&] { loop.add_writer(0, [] {}); });
                refused("remove_reader", [&] { loop.remove_reader(0); });
                refused("stop", [&] { loop.stop(); });
                refused("set_debug", [&] { loop.set_debug(true); });
                refused("set_exception_handler", [&] { loop.set_exception_handler(nullptr); });
                refused("run_forever", [&] { loop.run_forever(); });
                refused("close", [&] { loop.close(); });
                loop.call_soon_threadsafe(say("posted"));
                BOOST_TEST(loop.is_running());
                BOOST_TEST(!loop.is_closed());
                BOOST_TEST((loop.time() == loop.time()));
            });
        });
        loop.run_iterations(2);
        BOOST_TEST(heard() == "posted");
        BOOST_TEST(timer.cancel());
    }
    // While it does not run, the program sees to it that one thread at a time calls.
    BOOST_TEST(loop.debug());
    on_another_thread([&] {
        loop.call_soon(say("soon"));
        loop.call_later(seconds(0), say("later"));
        loop.call_at(loop.time(), say("at"));
        loop.call_soon_threadsafe(say("posted"));
    });
    loop.run_iterations(1);
    BOOST_TEST(heard() == "soon posted later at");
}

BOOST_AUTO_TEST_SUITE_END()
