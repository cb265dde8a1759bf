// SPDX-License-Identifier: BSL-1.0
#include <reactor/watchdog.hpp>

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <reactor/error.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include "forked.hpp"
#include <test/support/loop_test.hpp>

using namespace support;
using reactor::Duration;
using reactor::EventLoop;
using reactor::Options;
using reactor::StallWatchdog;

namespace {

/// What a watchdog said, in the order in which it did.
class Heard {
public:
    StallWatchdog::Listener listener() {
        return [this](const StallWatchdog::Stall& stall) {
            const std::lock_guard<std::mutex> lock(mutex_);
            stalls_.push_back(stall);
            changed_.notify_all();
        };
    }
    /// Called by a callback that stalls: until the watchdog has named it, or what `name` is a part
    /// of.
    void wait_for(const std::string& name) {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [&] {
            for (const auto& stall : stalls_) {
                if (stall.callback.find(name) != std::string::npos) return true;
            }
            return false;
        });
    }
    std::vector<StallWatchdog::Stall> stalls() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return stalls_;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<StallWatchdog::Stall> stalls_;
};

void stall_here(Heard& heard) { heard.wait_for("Heard"); }

}  // namespace

BOOST_AUTO_TEST_SUITE(stall_watchdog)

REACTOR_LOOP_TEST(names_the_callback_while_it_runs) {
    Heard heard;
    const StallWatchdog watchdog(loop, milliseconds(1), heard.listener());
    loop.call_soon([] {});
    // Returns only because the watchdog speaks.
    loop.call_soon(Options().label("the slow one"), [&] { heard.wait_for("the slow one"); });
    loop.run_once();
    for (const auto& stall : heard.stalls()) BOOST_TEST((stall.lasted >= milliseconds(1)));
    BOOST_TEST(!loop.debug());
}

REACTOR_LOOP_TEST(names_timers_readers_and_done_callbacks_too) {
    Heard heard;
    SocketPair pair;
    pair.send();
    const StallWatchdog watchdog(loop, milliseconds(1), heard.listener());
    reactor::Promise<void> promise = loop.create_promise<void>();
    promise.add_done_callback([&](const reactor::Promise<void>&) { heard.wait_for("lambda"); });
    loop.call_every(Options().label("tick"), seconds(1), [&] {
        heard.wait_for("tick");
        promise.set_result();
        loop.stop();
    });
    loop.add_reader(Options().label("reader"), pair.mine, [&] {
        heard.wait_for("reader");
        loop.remove_reader(pair.mine);
    });
    loop.run_forever();
    loop.run_once();
    BOOST_TEST(heard.stalls().size() >= 3u);
    loop.close();
}

REACTOR_LOOP_TEST(without_a_label_it_gives_the_type) {
    Heard heard;
    const StallWatchdog watchdog(loop, milliseconds(1), heard.listener());
    loop.call_soon(&stall_here, std::ref(heard));
    loop.run_once();
    for (const auto& stall : heard.stalls()) {
        BOOST_TEST(stall.callback.find("callable_name") == std::string::npos, stall.callback);
    }
}

REACTOR_LOOP_TEST(speaks_once_of_each_stall) {
    Heard heard;
    std::promise<void> woken;
    int others = 0;
    {
        const StallWatchdog watchdog(loop, milliseconds(1), heard.listener());
        // Speaks when the first one could have spoken many times.
        const StallWatchdog later(loop, milliseconds(40), [&](const StallWatchdog::Stall&) {
            if (others++ == 0) woken.set_value();
        });
        loop.call_soon(Options().label("long"), [&] { woken.get_future().wait(); });
        loop.run_once();
    }
    std::size_t count = 0;
    for (const auto& stall : heard.stalls()) count += stall.callback == "long";
    BOOST_TEST(count == 1u);
}

REACTOR_LOOP_TEST(an_idle_loop_does_not_stall) {
    Heard heard;
    constexpr auto threshold = milliseconds(4);
    const StallWatchdog watchdog(loop, threshold, heard.listener());
    const auto begin = std::chrono::steady_clock::now();
    loop.call_soon([] {});
    loop.run_once();
    const bool busy_machine = std::chrono::steady_clock::now() - begin >= threshold;
    // In real time, so that the watchdog wakes up several times meanwhile.
    loop.selector().set_patience(milliseconds(40));
    loop.call_later(seconds(1), [] {});
    const std::size_t before = heard.stalls().size();
    loop.run_once(milliseconds(500));
    BOOST_TEST((busy_machine || heard.stalls().size() == before));
    loop.close();
}

REACTOR_LOOP_TEST(may_be_made_and_destroyed_inside_a_callback) {
    Heard heard;
    std::unique_ptr<StallWatchdog> watchdog;
    loop.call_soon(Options().label("maker"), [&] {
        watchdog.reset(new StallWatchdog(loop, milliseconds(1), heard.listener()));
        heard.wait_for("maker");
    });
    loop.call_soon([&] { watchdog.reset(); });
    loop.run_once();
}

REACTOR_LOOP_TEST(a_listener_that_throws_harms_nobody) {
    Heard heard;
    const auto listener = heard.listener();
    const StallWatchdog watchdog(loop, milliseconds(1), [&](const StallWatchdog::Stall& stall) {
        listener(stall);
        throw std::runtime_error("thrown by a listener, as the test wants it");
    });
    for (const char* const name : {"first", "second"}) {
        loop.call_soon(Options().label(name), [&heard, name] { heard.wait_for(name); });
    }
    loop.run_once();
}

REACTOR_LOOP_TEST(a_listener_may_post_to_the_loop) {
    std::promise<void> posted;
    bool first = true;
    const StallWatchdog watchdog(loop, milliseconds(1), [&](const StallWatchdog::Stall& stall) {
        if (!first) return;
        first = false;
        const std::string name = stall.callback;
        loop.call_soon_threadsafe([this, name] { say(name)(); });
        posted.set_value();
    });
    loop.call_soon(Options().label("busy"), [&] { posted.get_future().wait(); });
    loop.run_once();
    loop.run_once();
    BOOST_TEST(heard() == "busy");
}

BOOST_AUTO_TEST_CASE(outlives_its_loop) {
    std::unique_ptr<EventLoop> loop(new EventLoop);
    const StallWatchdog watchdog(*loop, milliseconds(1));
    loop->call_soon([] {});
    loop->run_once();
    loop.reset();
}

REACTOR_LOOP_TEST(what_is_refused) {
    BOOST_CHECK_THROW(StallWatchdog(loop, Duration::zero()), std::invalid_argument);
    BOOST_CHECK_THROW(StallWatchdog(loop, -seconds(1)), std::invalid_argument);
    { const StallWatchdog never(loop, std::chrono::duration<double>(1e300)); }
    { const StallWatchdog fraction(loop, std::chrono::duration<float, std::milli>(0.5f)); }
    loop.call_soon([this] {
        on_another_thread(
            [this] { BOOST_CHECK_THROW(StallWatchdog(loop, seconds(1)), reactor::StateError); });
    });
    loop.run_once();
    loop.close();
    BOOST_CHECK_THROW(StallWatchdog(loop, seconds(1)), reactor::StateError);
}

BOOST_AUTO_TEST_CASE(by_default_standard_error_hears_of_it) {
    const Forked child = forked([] {
        EventLoop loop;
        const StallWatchdog watchdog(loop, milliseconds(1));
        // Its pipe is what tells that the watchdog has spoken: standard error holds the words.
        int ends[2];
        if (::pipe(ends) != 0) ::_exit(2);
        const int before = ::dup(STDERR_FILENO);
        ::dup2(ends[1], STDERR_FILENO);
        loop.call_soon(Options().label("blocker"), [&] {
            char text[200];
            const ::ssize_t got = ::read(ends[0], text, sizeof text);
            if (got > 0 && ::write(before, text, static_cast<std::size_t>(got)) != got) ::_exit(3);
        });
        loop.run_once();
    });
    BOOST_TEST(child.status == 0);
    BOOST_TEST(child.errors.find("reactor: warning: The event loop is blocked: blocker has been "
                                 "running for 0.") == 0u,
               child.errors);
}

BOOST_AUTO_TEST_CASE(in_a_forked_child_it_is_quiet_and_goes_without_waiting) {
    EventLoop loop;
    std::unique_ptr<StallWatchdog> watchdog(new StallWatchdog(loop, hours(1)));
    const Forked child = forked([&] { watchdog.reset(); });
    BOOST_TEST(child.status == 0, child.errors);
    BOOST_TEST(child.errors == "");
}

BOOST_AUTO_TEST_SUITE_END()
