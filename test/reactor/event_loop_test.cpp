// SPDX-License-Identifier: BSL-1.0
#include <reactor/event_loop.hpp>

#include <boost/test/unit_test.hpp>

#include <signal.h>

#include <exception>
#include <memory>
#include <stdexcept>
#include <vector>

#include <reactor/executor.hpp>
#include <reactor/promise.hpp>
#include <reactor/signals.hpp>
#include <reactor/task.hpp>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::EventLoop;
using reactor::LogLevel;
using reactor::StateError;

namespace {

struct Never : reactor::Task<int> {
    reactor::Next start() override {
        BOOST_ERROR("it must not run");
        return finish(1);
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(event_loop)

REACTOR_LOOP_TEST(L_15_a_running_loop_refuses_to_be_run_again) {
    EventLoop other(reactor::make_selector(loop.selector_name()));
    auto promise = loop.create_promise<int>();
    loop.call_soon([&] {
        BOOST_CHECK_THROW(loop.run_forever(), StateError);
        BOOST_CHECK_THROW(loop.run_once(), StateError);
        BOOST_CHECK_THROW(loop.run_until_complete(promise), StateError);
        BOOST_CHECK_THROW(other.run_forever(), StateError);
        BOOST_TEST(loop.is_running());
        BOOST_TEST(!other.is_running());
        BOOST_TEST(&reactor::get_running_loop() == &loop);
    });
    loop.call_soon(say("goes on"));
    loop.run_iterations(1);
    BOOST_TEST(heard() == "goes on");
    other.call_soon([&other] { other.stop(); });
    other.run_forever();
    promise.cancel();
    loop.run_until_idle();
}

REACTOR_LOOP_TEST(L_16_is_running_and_the_running_loop) {
    BOOST_TEST(!loop.is_running());
    BOOST_TEST(reactor::running_loop() == nullptr);
    BOOST_CHECK_THROW(reactor::get_running_loop(), StateError);
    loop.call_soon([&] {
        BOOST_TEST(loop.is_running());
        BOOST_TEST(reactor::running_loop() == &loop);
        on_another_thread([&] {
            BOOST_TEST(loop.is_running());
            BOOST_TEST(reactor::running_loop() == nullptr);
        });
        loop.stop();
    });
    loop.run_forever();
    BOOST_TEST(!loop.is_running());
    BOOST_TEST(reactor::running_loop() == nullptr);
}

REACTOR_LOOP_TEST(L_17_run_until_complete_gives_the_outcome) {
    auto value = loop.create_promise<int>();
    auto error = loop.create_promise<int>();
    auto cancelled = loop.create_promise<int>();
    loop.call_soon([=]() mutable { value.set_result(7); });
    const std::exception_ptr failure = std::make_exception_ptr(std::runtime_error("E"));
    loop.call_soon([=]() mutable { error.set_exception(failure); });
    loop.call_soon([=]() mutable { cancelled.cancel(); });
    BOOST_TEST(loop.run_until_complete(value) == 7);
    std::exception_ptr thrown;
    try {
        loop.run_until_complete(error);
    } catch (const std::runtime_error&) {
        thrown = std::current_exception();
    }
    BOOST_TEST((thrown == failure));
    BOOST_CHECK_THROW(loop.run_until_complete(cancelled), reactor::CancelledError);
}

REACTOR_LOOP_TEST(L_18_a_done_promise_takes_one_iteration) {
    auto promise = loop.create_promise<int>();
    promise.set_result(7);
    loop.call_soon([this] {
        say("A")();
        loop.call_soon(say("A2"));
    });
    BOOST_TEST(loop.run_until_complete(promise) == 7);
    BOOST_TEST(heard() == "A");
    BOOST_TEST(loop.ready_count() == 1u);
    loop.run_iterations(1);
    BOOST_TEST(heard() == "A2");
}

REACTOR_LOOP_TEST(L_19_a_stop_before_the_promise_is_done_is_an_error) {
    auto promise = loop.create_promise<int>();
    loop.call_soon([this] { loop.stop(); });
    BOOST_CHECK_THROW(loop.run_until_complete(promise), StateError);
    BOOST_TEST(!promise.done());
    loop.call_soon([&] {
        promise.set_result(1);
        loop.call_later(milliseconds(10), [this] {
            say("timer")();
            loop.stop();
        });
    });
    loop.run_forever();
    BOOST_TEST(heard() == "timer");
}

REACTOR_LOOP_TEST(L_20_close_is_repeatable_and_refused_while_running) {
    loop.call_soon([&] {
        BOOST_CHECK_THROW(loop.close(), StateError);
        loop.call_soon(say("goes on"));
    });
    loop.run_iterations(2);
    BOOST_TEST(heard() == "goes on");
    EventLoop unused(reactor::make_selector(loop.selector_name()));
    BOOST_TEST(!unused.is_closed());
    for (EventLoop* each : {static_cast<EventLoop*>(&loop), &unused}) {
        for (int i = 0; i < 3; ++i) each->close();
        BOOST_TEST(each->is_closed());
    }
}

REACTOR_LOOP_TEST(L_21_what_a_closed_loop_refuses_and_what_it_answers) {
    SocketPair pair;
    const reactor::Poster poster = loop.poster();
    loop.close();
    BOOST_CHECK_THROW(loop.run_forever(), StateError);
    BOOST_CHECK_THROW(loop.run_once(), StateError);
    BOOST_CHECK_THROW(loop.call_soon([] {}), StateError);
    BOOST_CHECK_THROW(loop.call_soon_threadsafe([] {}), StateError);
    BOOST_CHECK_THROW(loop.call_later(seconds(1), [] {}), StateError);
    BOOST_CHECK_THROW(loop.call_at(loop.time(), [] {}), StateError);
    BOOST_CHECK_THROW(loop.call_every(seconds(1), [] {}), StateError);
    BOOST_CHECK_THROW(loop.create_task<Never>(), StateError);
    BOOST_CHECK_THROW(loop.run_until_complete<Never>(), StateError);
    BOOST_CHECK_THROW(loop.run_in_executor([] {}), StateError);
    BOOST_CHECK_THROW(loop.add_signal_handler(SIGUSR1, [] {}), StateError);
    BOOST_CHECK_THROW(loop.add_reader(pair.mine, [] {}), StateError);
    BOOST_CHECK_THROW(loop.add_writer(pair.mine, [] {}), StateError);
    BOOST_TEST(!poster.post([] {}));
    BOOST_TEST(!reactor::Poster().post([] {}));
    loop.stop();
    loop.stop_threadsafe();
    BOOST_TEST((loop.time() == loop.time()));
    BOOST_TEST(loop.is_closed());
    BOOST_TEST(!loop.debug());
    BOOST_TEST(!loop.remove_reader(pair.mine));
    BOOST_TEST(!loop.forget_descriptor(pair.mine));
    auto promise = loop.create_promise<int>();
    BOOST_CHECK_THROW(loop.run_until_complete(promise), StateError);
    promise.cancel();
}

REACTOR_LOOP_TEST(L_22_close_destroys_what_is_queued_armed_watched_and_posted) {
    SocketPair pair;
    const auto owned = std::make_shared<int>(1);
    const auto never = [owned] { BOOST_ERROR("it must not run"); };
    loop.call_soon(never);
    reactor::TimerHandle moved = loop.call_later(hours(2), never);
    moved.reschedule(loop.time() + hours(1));  // leaves an entry behind
    loop.add_reader(pair.mine, never);
    on_another_thread([&] { loop.call_soon_threadsafe(never); });
    BOOST_TEST(owned.use_count() == 6);
    loop.close();
    BOOST_TEST(owned.use_count() == 2);  // here and in `never`
    BOOST_TEST(loop.ready_count() + loop.timer_count() + loop.watch_count() == 0u);
    BOOST_TEST(!moved.cancel());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(L_23_a_loop_that_is_destroyed_unclosed, S, EverySelector) {
    const std::size_t before = reactor::testing::open_descriptors();
    std::vector<std::string> warnings;
    for (const bool debug : {false, true}) {
        EventLoop loop(reactor::make_selector(S::name()));
        loop.set_debug(debug);
        loop.set_log([&](LogLevel level, const std::string& text) {
            BOOST_TEST((level == LogLevel::warning));
            warnings.push_back(text);
        });
        loop.call_soon([] {});
        loop.run_once();
        BOOST_TEST(reactor::testing::open_descriptors() > before);
    }
    BOOST_TEST(reactor::testing::open_descriptors() == before);
    BOOST_TEST(warnings.size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_loop_of_a_thread) {
    on_another_thread([] {
        EventLoop& own = reactor::get_event_loop();
        BOOST_TEST(&reactor::get_event_loop() == &own);
        {
            EventLoop set;
            reactor::set_event_loop(&set);
            BOOST_TEST(&reactor::get_event_loop() == &set);
            own.call_soon([&own] { BOOST_TEST(&reactor::get_event_loop() == &own); });
            own.run_once();
        }
        BOOST_TEST(&reactor::get_event_loop() == &own);  // the set one has gone
        own.close();
        BOOST_TEST(!reactor::get_event_loop().is_closed());  // a new one
        // What is left on it is destroyed at the thread's end, where contexts still work.
        static reactor::ContextVar<int> var("var", 0);
        struct Last {
            ~Last() { var.set(var.get() + 1); }
        };
        const auto last = std::make_shared<Last>();
        reactor::get_event_loop().call_soon([last] {});
    });
    BOOST_TEST(reactor::new_event_loop()->ready_count() == 0u);
}

// Closes the loop while it is being copied into a registration.
struct Closing {
    explicit Closing(EventLoop& l) : loop(&l) {}
    Closing(const Closing& other) : loop(other.loop) { loop->close(); }
    void operator()() const {}
    EventLoop* loop;
};

REACTOR_LOOP_TEST(a_callable_whose_copy_closes_the_loop_is_refused) {
    BOOST_CHECK_THROW(loop.call_soon(static_cast<const Closing&>(Closing(loop))), StateError);
    for (const int call : {1, 2}) {
        EventLoop other(reactor::make_selector(loop.selector_name()));
        const Closing closing(other);
        if (call == 1) {
            BOOST_CHECK_THROW(other.call_later(std::chrono::seconds(1), closing), StateError);
        } else {
            BOOST_CHECK_THROW(other.add_reader(0, closing), StateError);
        }
        BOOST_TEST(other.is_closed());
    }
}

BOOST_AUTO_TEST_CASE(a_null_selector_is_refused) {
    BOOST_CHECK_THROW(EventLoop(std::unique_ptr<reactor::Selector>()), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
