// SPDX-License-Identifier: BSL-1.0
#include <reactor/event_loop.hpp>

#include <boost/test/unit_test.hpp>

#include <reactor/as_completed.hpp>
#include <reactor/combinators.hpp>
#include <reactor/executor.hpp>
#include <reactor/runner.hpp>
#include <reactor/scope.hpp>
#include <reactor/submit.hpp>
#include <reactor/task.hpp>
#include <reactor/timeout.hpp>
#include <reactor/wait.hpp>
#include <reactor/watchdog.hpp>

#include <chrono>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <test/support/loop_test.hpp>
#include <test/support/refusal.hpp>

// What a refusal says: the call that the user wrote, and a way out.

using namespace support;
using reactor::EventLoop;
using reactor::Next;
using reactor::Options;
using reactor::Promise;
using reactor::StateError;
using reactor::Task;

namespace {

bool begins(const std::string& text, const std::string& with) {
    return text.compare(0, with.size(), with) == 0;
}
bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// Does something in its first state.
class Once : public Task<void> {
public:
    explicit Once(std::function<void()> act) : act_(std::move(act)) {}

private:
    Next start() override {
        act_();
        return finish();
    }

    std::function<void()> act_;
};

/// Waits for ever in a state of a telling name.
class Baker : public Task<void> {
public:
    explicit Baker(Promise<void> oven) : oven_(std::move(oven)) {}

private:
    Next start() override { return await(std::move(oven_), &Baker::baked); }
    Next baked() { return finish(); }

    Promise<void> oven_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(refusals)

REACTOR_LOOP_TEST(a_delay_that_is_not_a_number_is_refused_by_the_call) {
    const std::chrono::duration<double> nan(std::nan(""));
    reactor::Scope scope(loop);
    const auto nothing = [] {};
    const reactor::Submitted<void> submitted = reactor::submit(loop, nothing);
    loop.run_until_idle();
    const std::vector<std::pair<std::string, std::function<void()>>> calls = {
        {"call_later", [&] { loop.call_later(nan, nothing); }},
        {"call_later", [&] { loop.call_later(Options(), nan, nothing); }},
        {"call_every", [&] { loop.call_every(nan, nothing); }},
        {"call_every", [&] { loop.call_every(Options(), nan, nothing); }},
        {"call_later", [&] { scope.call_later(nan, nothing); }},
        {"call_every", [&] { scope.call_every(nan, nothing); }},
        {"sleep", [&] { reactor::sleep(loop, nan); }},
        {"wait_for", [&] { reactor::wait_for(loop.create_promise<int>(), nan); }},
        {"Timeout::enter",
         [&] {
             loop.run_until_complete<Once>([&] {
                 reactor::Timeout timeout;
                 timeout.enter(nan);
             });
         }},
        {"Timeout::reschedule",
         [&] {
             loop.run_until_complete<Once>([&] {
                 reactor::Timeout timeout;
                 timeout.enter(seconds(1));
                 timeout.reschedule(nan);
             });
         }},
        {"wait",
         [&] { reactor::wait(std::vector<Promise<int>>{loop.create_promise<int>()}, nan); }},
        {"as_completed",
         [&] {
             reactor::as_completed(std::vector<Promise<int>>{loop.create_promise<int>()}, nan);
         }},
        {"wait_for", [&] { submitted.wait_for(nan); }},
        {"shutdown_default_executor", [&] { reactor::shutdown_default_executor(loop, nan); }},
        {"StallWatchdog", [&] { const reactor::StallWatchdog watchdog(loop, nan); }},
        {"saturated", [&] { reactor::saturated(nan); }}};
    for (const auto& call : calls) {
        const std::string text = refusal<std::invalid_argument>(call.second);
        BOOST_TEST(begins(text, call.first + ": the length of time is not a number"), text);
        BOOST_TEST(has(text, "give a finite one, or forever()"), text);
    }
}

REACTOR_LOOP_TEST(a_null_callable_is_refused_by_the_post) {
    void (*null)() = nullptr;
    const auto poster = loop.poster();
    BOOST_TEST(begins(refusal<std::invalid_argument>([&] { poster.post(null); }),
                      "Poster::post: the callable is null or empty"));
    BOOST_TEST(begins(refusal<std::invalid_argument>([&] { poster.post(std::function<void()>()); }),
                      "Poster::post: "));
    BOOST_TEST(begins(refusal<std::invalid_argument>([&] { poster.post(reactor::Callback()); }),
                      "Poster::post: "));
    BOOST_TEST(loop.ready_count() == 0u);
}

REACTOR_LOOP_TEST(run_until_complete_names_itself_inside_a_callback) {
    std::vector<std::string> texts;
    loop.call_soon([&] {
        texts.push_back(
            refusal<StateError>([&] { loop.run_until_complete(loop.create_promise<void>()); }));
        texts.push_back(refusal<StateError>([&] { loop.run_forever(); }));
        texts.push_back(refusal<StateError>([&] { loop.run_once(); }));
    });
    loop.run_iterations(1);
    BOOST_TEST_REQUIRE(texts.size() == 3u);
    BOOST_TEST(begins(texts[0], "run_until_complete: the event loop runs already"), texts[0]);
    BOOST_TEST(begins(texts[1], "run_forever: the event loop runs already"), texts[1]);
    BOOST_TEST(begins(texts[2], "run_once: the event loop runs already"), texts[2]);
}

REACTOR_LOOP_TEST(a_stopped_run_says_what_it_was_waiting_for) {
    loop.call_soon([this] { loop.stop(); });
    Promise<int> promise = loop.create_promise<int>(reactor::Here("f", "tea.cpp", 5));
    BOOST_TEST(refusal<StateError>([&] { loop.run_until_complete(promise); }) ==
               "run_until_complete: the event loop was stopped before the promise was done, which "
               "stays pending: promise made at tea.cpp:5");
    loop.call_soon([this] { loop.stop(); });
    auto both = reactor::gather(promise);
    BOOST_TEST(has(refusal<StateError>([&] { loop.run_until_complete(both); }),
                   "stays pending: gather of 1 promise"));
    loop.call_later(seconds(1), [this] { loop.stop(); });
    Promise<void> oven = loop.create_promise<void>();
    auto bread = loop.create_task<Baker>(Options().label("bread"), oven);
    const std::string text = refusal<StateError>([&] { loop.run_until_complete(bread); });
    BOOST_TEST(has(text, "stays pending: bread ("), text);
    BOOST_TEST(has(text, "Baker), waiting in start at "), text);
    oven.set_result();
    loop.run_until_idle();
}

BOOST_AUTO_TEST_CASE(a_stopped_runner_says_what_it_was_waiting_for) {
    reactor::Runner runner;
    runner.get_loop().call_soon([&] { runner.get_loop().stop(); });
    Promise<void> oven = runner.get_loop().create_promise<void>();
    const std::string text = refusal<StateError>([&] { runner.run<Baker>(oven); });
    BOOST_TEST(begins(text, "run: the event loop was stopped before "), text);
    BOOST_TEST(has(text, "Baker), waiting in start at "), text);
}

REACTOR_LOOP_TEST(an_empty_promise_is_refused_with_a_remedy) {
    const std::string remedy =
        ": the promise is empty: get one from create_promise() or an operation";
    BOOST_TEST(refusal<StateError>([] { reactor::wait_for(Promise<int>(), seconds(1)); }) ==
               "wait_for" + remedy);
    BOOST_TEST(refusal<StateError>([] { reactor::gather(Promise<int>()); }) ==
               "gather: promise 1 of 1 is empty (never made, or moved from): get one from "
               "create_promise() or an operation");
}

BOOST_AUTO_TEST_SUITE_END()
