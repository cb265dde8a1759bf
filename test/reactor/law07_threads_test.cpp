// SPDX-License-Identifier: BSL-1.0
#include <reactor/event_loop.hpp>

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <reactor/detail/inbox.hpp>
#include <reactor/executor.hpp>
#include <reactor/promise.hpp>
#include <reactor/scope.hpp>
#include <reactor/signals.hpp>
#include <reactor/task.hpp>

#include "forked.hpp"
#include <test/support/counted.hpp>
#include <test/support/loop_test.hpp>

using namespace support;
using reactor::Duration;
using reactor::EventLoop;
using reactor::Handle;
using reactor::Poster;
using reactor::Promise;
using reactor::Scope;
using reactor::StateError;
using reactor::TimerHandle;

namespace {

struct Noted : reactor::Task<int> {
    reactor::Next start() override { return finish(1); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(law07_threads)

BOOST_AUTO_TEST_CASE(a_call_from_a_wrong_thread_names_itself) {
    EventLoop loop;
    Scope scope(loop);
    const Promise<int> promise = loop.create_promise<int>();
    TimerHandle timer = loop.call_later(hours(1), [] {});
    const auto bound = scope.bind([] {});
    const auto nothing = [] {};
    using Call = std::pair<const char*, std::function<void()>>;
    const std::vector<Call> calls = {
        Call("call_soon", [&] { loop.call_soon(nothing); }),
        Call("call_later", [&] { loop.call_later(seconds(1), nothing); }),
        Call("call_at", [&] { loop.call_at(loop.time(), nothing); }),
        Call("call_every", [&] { loop.call_every(seconds(1), nothing); }),
        Call("add_reader", [&] { loop.add_reader(0, nothing); }),
        Call("add_writer", [&] { loop.add_writer(0, nothing); }),
        Call("add_urgent_reader", [&] { loop.add_urgent_reader(0, nothing); }),
        Call("remove_reader", [&] { loop.remove_reader(0); }),
        Call("remove_writer", [&] { loop.remove_writer(0); }),
        Call("remove_urgent_reader", [&] { loop.remove_urgent_reader(0); }),
        Call("run_forever", [&] { loop.run_forever(); }),
        Call("run_once", [&] { loop.run_once(); }),
        Call("stop", [&] { loop.stop(); }),
        Call("close", [&] { loop.close(); }),
        Call("set_exception_handler", [&] { loop.set_exception_handler(nullptr); }),
        Call("set_log", [&] { loop.set_log(nullptr); }),
        Call("set_debug", [&] { loop.set_debug(true); }),
        Call("set_slow_callback_duration", [&] { loop.set_slow_callback_duration(seconds(1)); }),
        Call("create_promise", [&] { loop.create_promise<int>(); }),
        Call("create_task", [&] { loop.create_task<Noted>(); }),
        Call("run_until_complete", [&] { loop.run_until_complete(promise); }),
        Call("run_in_executor", [&] { loop.run_in_executor(nothing); }),
        Call("add_signal_handler", [&] { loop.add_signal_handler(10, nothing); }),
        Call("remove_signal_handler", [&] { loop.remove_signal_handler(10); }),
        Call("default_executor", [&] { reactor::default_executor(loop); }),
        Call("TimerHandle::reschedule", [&] { timer.reschedule(loop.time()); }),
        Call("done", [&] { promise.done(); }),
        Call("result", [&] { promise.result(); }),
        Call("take", [&] { promise.take(); }),
        Call("error", [&] { promise.error(); }),
        Call("set_result", [&] { promise.set_result(1); }),
        Call("set_exception", [&] { promise.set_exception(std::runtime_error("e")); }),
        Call("cancel", [&] { promise.cancel(); }),
        Call("add_done_callback", [&] { promise.add_done_callback([](const Promise<int>&) {}); }),
        Call("then", [&] { promise.then(nothing); }),
        Call("call_soon", [&] { scope.call_soon(nothing); }),
        Call("call_later", [&] { scope.call_later(seconds(1), nothing); }),
        Call("bind", [&] { scope.bind(nothing); }),
        Call("a callable made by Scope::bind", [&] { bound(); }),
    };
    std::vector<std::string> wrong;
    loop.call_soon([&] {
        on_another_thread([&] {
            for (const Call& call : calls) {
                std::string text = "no error";
                try {
                    call.second();
                } catch (const StateError& error) {
                    text = error.what();
                } catch (...) {
                    text = "another error";
                }
                if (text.compare(0, std::string(call.first).size(), call.first) != 0) {
                    wrong.push_back(call.first + (": " + text));
                }
            }
        });
    });
    loop.run_once(Duration::zero());
    for (const std::string& text : wrong) BOOST_ERROR(text);
    BOOST_TEST(loop.ready_count() == 0u);
    BOOST_TEST(loop.timer_count() == 1u);
    BOOST_TEST(!promise.done());
}

BOOST_AUTO_TEST_CASE(a_loop_that_does_not_run_may_be_used_by_another_thread) {
    EventLoop loop;
    std::thread::id ran_on;
    on_another_thread([&] {
        loop.call_soon([&] { ran_on = std::this_thread::get_id(); });
        loop.run_once();
    });
    BOOST_TEST((ran_on != std::thread::id() && ran_on != std::this_thread::get_id()));
    loop.call_soon([&] { ran_on = std::this_thread::get_id(); });
    loop.run_once();
    BOOST_TEST((ran_on == std::this_thread::get_id()));
}

BOOST_AUTO_TEST_CASE(what_is_free_for_any_thread) {
    EventLoop loop;
    bool posted = false;
    bool poster_posted = false;
    std::thread other([&] {
        while (!loop.is_running()) std::this_thread::yield();
        BOOST_TEST(!loop.is_closed());
        BOOST_TEST((loop.time() > reactor::TimePoint()));
        loop.call_soon_threadsafe([&] { posted = true; });
        BOOST_TEST(loop.poster().post([&] { poster_posted = true; }));
        loop.stop_threadsafe();
    });
    loop.run_forever();
    other.join();
    BOOST_TEST(posted);
    BOOST_TEST(poster_posted);
}

BOOST_AUTO_TEST_CASE(C1_a_million_posts_lose_nothing_and_keep_their_order) {
    constexpr int threads = 8;
    constexpr int posts = 125000;
    EventLoop loop;
    std::vector<int> next(threads, 0);
    int total = 0;
    bool ordered = true;
    std::vector<std::thread> posters;
    std::atomic<int> ready{0};
    for (int t = 0; t < threads; ++t) {
        posters.emplace_back([&, t] {
            for (int i = 0; i < posts; ++i) {
                loop.call_soon_threadsafe([&, t, i] {
                    ordered = ordered && next[static_cast<std::size_t>(t)]++ == i;
                    if (++total == threads * posts) loop.stop();
                });
                if (i == posts / 10) ++ready;
            }
        });
    }
    while (ready != threads) std::this_thread::yield();  // some before the loop runs
    loop.run_forever();
    for (std::thread& poster : posters) poster.join();
    BOOST_TEST(total == threads * posts);
    BOOST_TEST(ordered);
}

BOOST_AUTO_TEST_CASE(C1_a_loop_that_cannot_be_woken_is_no_silent_one) {
    std::unique_ptr<EventLoop> owned(new EventLoop(reactor::make_selector("poll")));
    EventLoop& loop = *owned;
    // In place of its wake-up: what cannot be written to, and is never readable.
    const int wakeup = loop.core().inbox->wakeup()->fd();
    const int kept = ::fcntl(wakeup, F_DUPFD_CLOEXEC, 100);
    int silent[2];
    BOOST_REQUIRE(::pipe2(silent, O_CLOEXEC) == 0);
    int ran = 0;
    std::thread other([&] { loop.run_forever(); });
    while (!loop.is_running()) std::this_thread::yield();
    BOOST_REQUIRE(::dup3(silent[0], wakeup, O_CLOEXEC) == wakeup);
    // The first posts may find it awake; from then on each one is loud.
    int loud = 0;
    for (int posts = 0; loud < 3 && posts < 1000000; ++posts) {
        try {
            loop.call_soon_threadsafe([&ran] { ++ran; });
            if (loud != 0) break;
            std::this_thread::yield();
        } catch (const std::system_error& error) {
            BOOST_TEST(error.code().value() == EIO);
            ++loud;
        }
    }
    BOOST_TEST(loud == 3);
    BOOST_REQUIRE(::dup3(kept, wakeup, O_CLOEXEC) == wakeup);
    loop.stop_threadsafe();
    // What waited is served as soon as it wakes, whichever of the two it sleeps on.
    loop.core().inbox->wakeup()->notify();
    BOOST_TEST(::write(silent[1], "x", 1) == 1);
    other.join();
    BOOST_TEST(ran >= 3);
    for (const int fd : {kept, silent[0], silent[1]}) ::close(fd);
}

BOOST_AUTO_TEST_CASE(a_poster_outlives_its_loop) {
    std::atomic<int> alive{0};
    Poster poster;
    BOOST_TEST(!poster.post([] {}));
    for (int round = 0; round < 100; ++round) {
        std::unique_ptr<EventLoop> loop(new EventLoop);
        poster = loop->poster();
        std::thread other([&] {
            while (poster.post([](const Counted&) {}, Counted(alive))) {
            }
        });
        loop->run_once(Duration::zero());
        loop.reset();  // while the other thread posts
        other.join();
        BOOST_REQUIRE(alive.load() == 0);
    }
}

BOOST_AUTO_TEST_CASE(stop_threadsafe_wakes_a_loop_that_sleeps) {
    EventLoop loop;
    int rounds = 0;  // that ended when they were asked to, and not before
    for (int round = 0; round < 200; ++round) {
        std::atomic<bool> asked{false}, ended{false};
        std::thread other([&] {
            while (!loop.is_running() && !ended) std::this_thread::yield();
            asked = true;
            loop.stop_threadsafe();
        });
        loop.run_forever();
        if (asked) ++rounds;
        ended = true;
        other.join();
    }
    BOOST_TEST(rounds == 200);
}

// For the sanitizers: the loop is awake, and may see the request before the call has returned.
BOOST_AUTO_TEST_CASE(a_loop_may_go_as_soon_as_stop_threadsafe_has_stopped_it) {
    for (int round = 0; round < 200; ++round) {
        std::unique_ptr<EventLoop> loop(new EventLoop);
        loop->call_every(std::chrono::nanoseconds(1), [] {});
        std::atomic<bool> begins{false};
        std::thread other([&begins, &loop] {
            begins = true;
            loop->stop_threadsafe();
        });
        while (!begins) std::this_thread::yield();
        loop->run_forever();
        loop.reset();
        other.join();
    }
}

BOOST_AUTO_TEST_CASE(promises_may_be_copied_and_dropped_anywhere) {
    std::atomic<int> alive{0};
    {
        EventLoop loop;
        for (int round = 0; round < 200; ++round) {
            Promise<Counted> promise = loop.create_promise<Counted>();
            promise.set_result(alive);
            std::thread other([promise]() mutable {
                const Promise<Counted> copy = promise;
                promise = Promise<Counted>();
            });
            promise = Promise<Counted>();
            loop.run_once(Duration::zero());
            other.join();
        }
        loop.run_once(Duration::zero());
        BOOST_TEST(alive.load() == 0);
    }
    Promise<Counted> outlives;
    {
        EventLoop loop;
        outlives = loop.create_promise<Counted>();
        outlives.set_result(alive);
    }
    on_another_thread([&] { outlives = Promise<Counted>(); });
    BOOST_TEST(alive.load() == 0);
}

BOOST_AUTO_TEST_CASE(handles_outlive_their_loop) {
    Handle handle;
    TimerHandle timer;
    {
        EventLoop loop;
        handle = loop.call_soon([] {});
        timer = loop.call_later(seconds(1), [] {});
    }
    BOOST_TEST(!handle.cancel());
    BOOST_TEST(!timer.cancel());
    BOOST_TEST(handle.name().empty());
}

BOOST_AUTO_TEST_CASE(a_destructor_on_a_wrong_thread_says_so_and_terminates) {
    struct Case {
        const char* text;
        std::function<void(EventLoop&)> prepare;
        std::function<void(EventLoop&)> elsewhere;
    };
    std::unique_ptr<Scope> scope;
    std::unique_ptr<std::function<void()>> bound;
    Handle handle;
    const std::vector<Case> cases = {
        {"a Handle's destructor",
         [&](EventLoop& loop) { (handle = loop.call_soon([] {})).cancel(); },
         [&](EventLoop&) { handle = Handle(); }},
        {"Handle::cancel", [&](EventLoop& loop) { handle = loop.call_later(hours(1), [] {}); },
         [&](EventLoop&) { handle.cancel(); }},
        {"Scope", [&](EventLoop& loop) { scope.reset(new Scope(loop)); },
         [&](EventLoop&) { scope.reset(); }},
        {"Scope::bind",
         [&](EventLoop& loop) {
             Scope brief(loop);
             bound.reset(new std::function<void()>(brief.bind([] {})));
         },
         [&](EventLoop&) { bound.reset(); }},
        {"forget_descriptor", [](EventLoop&) {}, [](EventLoop& l) { l.forget_descriptor(0); }},
        {"an EventLoop is destroyed while it runs", [](EventLoop&) {},
         [](EventLoop& loop) { loop.~EventLoop(); }},
    };
    for (const Case& one : cases) {
        const Forked child = forked([&one] {
            EventLoop loop;
            loop.call_soon([&] {
                one.prepare(loop);
                loop.call_soon([&] { on_another_thread([&] { one.elsewhere(loop); }); });
            });
            loop.run_once(Duration::zero());
            loop.run_once(Duration::zero());
        });
        BOOST_TEST(child.signal == SIGABRT);
        BOOST_TEST(child.errors.find(one.text) != std::string::npos,
                   one.text << ": " << child.errors);
    }
}

BOOST_AUTO_TEST_SUITE_END()
