// SPDX-License-Identifier: BSL-1.0
#include <reactor/scope.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

#include <reactor/testing.hpp>

namespace {

using reactor::Handle;
using reactor::Options;
using reactor::Promise;
using reactor::Scope;
using reactor::StateError;
using reactor::TimerHandle;
using reactor::testing::LoopFixture;
using std::chrono::seconds;

static_assert(!std::is_copy_constructible<Scope>::value, "its callbacks have captured its owner");
static_assert(!std::is_move_constructible<Scope>::value, "its callbacks have captured its owner");

/// A foreign source of events that knows nothing of loops and scopes.
struct Bus {
    std::vector<std::function<void(int)>> subscribers;
    void publish(int value) {
        const auto all = subscribers;
        for (const auto& subscriber : all) subscriber(value);
    }
};

class Meter {
public:
    Meter(reactor::EventLoop& loop, Bus& bus, std::vector<std::string>& log)
        : log_(log), scope_(loop) {
        scope_.call_later(seconds(1), &Meter::tick, this);
        bus.subscribers.push_back(scope_.bind(&Meter::value, this, "bus"));
    }
    void watch(const Promise<int>& promise) {
        promise.add_done_callback(scope_, [this](const Promise<int>& done) {
            log_.push_back("done " + std::to_string(done.result()));
        });
    }
    Scope& scope() { return scope_; }

private:
    void tick() {
        log_.push_back("tick");
        scope_.call_later(seconds(1), &Meter::tick, this);
    }
    void value(const char* from, int v) {
        log_.push_back(std::string(from) + " " + std::to_string(v));
    }

    std::vector<std::string>& log_;
    Scope scope_;  // last: goes first
};

struct BigCallable {
    std::array<char, 100> bytes;
    std::string* seen;
    void operator()() const { seen->assign(bytes.data(), 3); }
};

struct SocketPair {
    SocketPair() { BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0); }
    ~SocketPair() {
        ::close(fds[0]);
        ::close(fds[1]);
    }
    int fds[2];
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(scope, LoopFixture)

BOOST_AUTO_TEST_CASE(nothing_of_an_object_runs_or_is_kept_after_it) {
    Bus bus;
    std::vector<std::string> log;
    const auto early = loop.create_promise<int>();
    const auto late = loop.create_promise<int>();
    std::unique_ptr<Meter> meter(new Meter(loop, bus, log));
    meter->watch(early);
    meter->watch(late);
    loop.run_for(seconds(3));
    bus.publish(7);
    early.set_result(3);
    loop.run_iterations(1);

    auto capture = std::make_shared<int>(1);
    const std::weak_ptr<int> kept = capture;
    meter->scope().call_soon([capture] {});
    meter->scope().call_every(seconds(100), [capture] {});
    const auto bound = meter->scope().bind([capture](int) {});
    loop.create_promise<void>().add_done_callback(meter->scope(),
                                                  [capture](const Promise<void>&) {});
    late.add_done_callback(meter->scope(), [capture](const Promise<int>&) {});
    capture.reset();
    BOOST_TEST(!kept.expired());

    meter.reset();
    BOOST_TEST(kept.expired());
    bound(1);
    bus.publish(8);
    late.set_result(4);
    loop.run_for(seconds(300));
    BOOST_TEST((log == std::vector<std::string>{"tick", "tick", "tick", "bus 7", "done 3"}));
}

BOOST_AUTO_TEST_CASE(others_of_the_same_batch_do_not_run) {
    std::unique_ptr<Scope> owned(new Scope(loop));
    SocketPair pair;
    BOOST_REQUIRE(::send(pair.fds[1], "x", 1, MSG_NOSIGNAL) == 1);
    const auto promise = loop.create_promise<void>();
    int ran = 0;
    const auto count = [&ran] { ++ran; };
    owned->call_soon([&] {
        owned.reset();
        ++ran;
    });
    owned->call_soon(count);
    promise.add_done_callback(*owned, [&ran](const Promise<void>&) { ++ran; });
    promise.set_result();
    owned->add_reader(pair.fds[0], count);
    owned->add_writer(pair.fds[0], count);
    owned->call_at(loop.time(), count);
    loop.run_iterations(3);
    BOOST_TEST(ran == 1);
    BOOST_TEST(loop.watch_count() == 0u);
    BOOST_TEST(loop.timer_count() == 0u);
}

BOOST_AUTO_TEST_CASE(captures_of_the_running_callback_go_when_it_returns) {
    for (int kind = 0; kind < 4; ++kind) {
        BOOST_TEST_CONTEXT("kind " << kind) {
            std::unique_ptr<Scope> owned(new Scope(loop));
            auto capture = std::make_shared<std::string>("alive");
            const std::weak_ptr<std::string> kept = capture;
            std::string seen;
            auto end = [&owned, capture, &seen] {
                owned.reset();
                seen = *capture;
            };
            std::function<void()> bound;
            const auto promise = loop.create_promise<void>();
            if (kind == 0) owned->call_soon(end);
            if (kind == 1) owned->call_every(seconds(1), end);
            if (kind == 2) {
                promise.add_done_callback(*owned, [end](const Promise<void>&) mutable { end(); });
                promise.set_result();
            }
            if (kind == 3)
                bound = owned->bind([end, &bound]() mutable {
                    bound = nullptr;
                    end();
                });
            capture.reset();
            {
                const auto moved = std::move(end);  // the copy in the scope is the last one
            }
            if (kind == 3) {
                const std::function<void()> call = bound;
                call();
            }
            loop.run_for(seconds(5));
            BOOST_TEST(seen == "alive");
            BOOST_TEST(kept.expired());
        }
    }
}

BOOST_AUTO_TEST_CASE(a_captures_destructor_may_ask_the_dying_scope) {
    struct Asker {
        Asker(Scope& s, Handle& h, TimerHandle& t) : scope(&s), handle(&h), timer(&t) {}
        Asker(Asker&& other) noexcept
            : scope(other.scope), handle(other.handle), timer(other.timer) {
            other.scope = nullptr;
        }
        ~Asker() {
            if (!scope) return;
            *handle = scope->call_soon([] { BOOST_ERROR("ran"); });
            *timer = scope->call_later(seconds(1), [] { BOOST_ERROR("ran"); });
            scope->bind([] { BOOST_ERROR("ran"); })();
        }
        void operator()() {}
        Scope* scope;
        Handle* handle;
        TimerHandle* timer;
    };
    Handle handle;
    TimerHandle timer;
    {
        Scope scope(loop);
        scope.call_soon(Asker(scope, handle, timer));
    }
    BOOST_TEST(handle.cancelled());
    BOOST_TEST(!handle.cancel());
    BOOST_TEST(timer.cancelled());
    BOOST_TEST(!timer.reschedule(loop.time()));
    loop.run_iterations(2);

    // The same while the loop goes first, and once it is gone.
    std::unique_ptr<Scope> outlives;
    {
        reactor::EventLoop other;
        outlives.reset(new Scope(other));
        outlives->call_soon(Asker(*outlives, handle, timer));
        outlives->close();
        BOOST_TEST(handle.cancelled());
        outlives.reset(new Scope(other));
    }
    BOOST_CHECK_THROW(outlives->call_soon([] {}), StateError);
    BOOST_CHECK_THROW(outlives->loop(), StateError);
    outlives->close();
    BOOST_TEST(!outlives->call_soon([] {}));
    BOOST_TEST(!outlives->call_later(seconds(1), [] {}));
    outlives.reset();
}

BOOST_AUTO_TEST_CASE(clear_leaves_the_scope_usable_and_close_does_not) {
    Scope scope(loop);
    int ran = 0;
    const Handle first = scope.call_soon([&ran] { ++ran; });
    const auto bound = scope.bind([&ran] { ++ran; });
    scope.clear();
    BOOST_TEST(first.cancelled());
    bound();
    scope.call_soon([&ran] { ran += 10; });
    loop.run_iterations(1);
    BOOST_TEST(ran == 10);
    scope.close();
    BOOST_TEST(scope.is_closed());
    BOOST_TEST(scope.call_soon([&ran] { ++ran; }).cancelled());
    BOOST_TEST(scope.call_every(seconds(1), [&ran] { ++ran; }).cancelled());
    BOOST_TEST(scope.add_reader(0, [&ran] { ++ran; }).cancelled());
    const auto promise = loop.create_promise<int>();
    promise.set_result(1);
    promise.add_done_callback(scope, [&ran](const Promise<int>&) { ++ran; });
    scope.close();
    loop.run_for(seconds(2));
    BOOST_TEST(ran == 10);
}

BOOST_AUTO_TEST_CASE(handles_and_scope_do_nothing_twice) {
    Handle handle;
    {
        Scope scope(loop);
        handle = scope.call_later(seconds(1), [] {});
        BOOST_TEST(handle.cancel());
        BOOST_TEST(!handle.cancel());
        handle = scope.call_later(seconds(1), [] {});
    }
    BOOST_TEST(!handle.cancel());
    BOOST_TEST(handle.cancelled());
    BOOST_TEST(loop.timer_count() == 0u);
}

BOOST_AUTO_TEST_CASE(a_done_callback_has_a_key_and_a_bound_argument) {
    Scope scope(loop);
    const auto promise = loop.create_promise<int>();
    std::vector<int> log;
    const auto note = [&log](int bound, const Promise<int>& done) {
        log.push_back(bound + done.result());
    };
    const auto key = promise.add_done_callback(scope, note, 10);
    promise.add_done_callback(scope, note, 20);
    BOOST_TEST(promise.remove_done_callback(key) == 1u);
    promise.set_result(1);
    loop.run_iterations(1);
    BOOST_TEST((log == std::vector<int>{21}));
}

BOOST_AUTO_TEST_CASE(a_scope_refuses_a_promise_of_another_loop) {
    reactor::EventLoop other;
    Scope scope(loop);
    const auto promise = other.create_promise<int>();
    BOOST_CHECK_THROW(promise.add_done_callback(scope, [](const Promise<int>&) {}), StateError);
}

BOOST_AUTO_TEST_CASE(options_and_big_callables_are_taken_too) {
    reactor::ContextVar<int> variable("variable", 0);
    reactor::Context context;
    Scope scope(loop);
    scope.call_soon(Options().context(context).label("labelled"), [&] { variable.set(5); });
    std::string seen;
    const Handle handle = scope.call_soon(BigCallable{{{'b', 'i', 'g'}}, &seen});
    BOOST_TEST(handle.name().find("BigCallable") != std::string::npos);
    BOOST_TEST(handle.name().find("Scoped") == std::string::npos);
    BOOST_TEST(scope.call_later(Options().label("later"), seconds(1), [] {}).name() == "later");
    BOOST_TEST(scope.call_at(Options().label("at"), loop.time(), [] {}).name() == "at");
    BOOST_TEST(scope.call_every(Options().label("every"), seconds(1), [] {}).name() == "every");
    loop.run_iterations(1);
    BOOST_TEST(seen == "big");
    BOOST_TEST((context.get(variable) && *context.get(variable) == 5));
}

BOOST_AUTO_TEST_CASE(a_callback_that_throws_is_reported_and_leaves_the_scope) {
    Scope scope(loop);
    scope.call_soon([] { throw std::runtime_error("thrown"); });
    loop.run_iterations(1);
    expect_report("Exception in callback");
    scope.bind([] {})();
    BOOST_CHECK_THROW(scope.bind([] { throw std::runtime_error("thrown"); })(), std::runtime_error);
    BOOST_CHECK_THROW(scope.call_soon(static_cast<void (*)()>(nullptr)), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
