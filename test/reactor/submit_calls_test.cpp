// SPDX-License-Identifier: BSL-1.0
#include <reactor/submit.hpp>

#include <boost/test/unit_test.hpp>

#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "loop_thread.hpp"
#include <reactor/combinators.hpp>
#include <reactor/context.hpp>
#include <reactor/task.hpp>
#include <test/support/loop_test.hpp>

namespace {

using reactor::BrokenPromise;
using reactor::CancelledError;
using reactor::EventLoop;
using reactor::Options;
using reactor::Promise;
using reactor::StateError;
using reactor::submit;
using reactor::Submitted;
using support::milliseconds;
using support::seconds;
using Strings = std::vector<std::string>;

class Waits : public reactor::Task<void> {
    Next start() override { return finish(); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(submitting_calls)

BOOST_AUTO_TEST_CASE_TEMPLATE(callables_and_promises, On, support::EverySelector) {
    LoopThread thread(On::name());
    const auto loops_thread = thread.call([] { return std::this_thread::get_id(); });
    BOOST_TEST(
        (submit(thread.loop(), [] { return std::this_thread::get_id(); }).take() == loops_thread));
    std::string text = "a";
    submit(
        thread.loop(), [](std::string& t, char c) { t += c; }, std::ref(text), 'b')
        .result();
    BOOST_TEST(text == "ab");
    auto slept = submit(thread.loop(), [] {
        return reactor::sleep(milliseconds(1)).then([] { return std::string("slept"); });
    });
    BOOST_TEST(slept.result() == "slept");
    auto failed = submit(thread.loop(), []() -> int { throw std::domain_error("by the call"); });
    BOOST_CHECK_THROW(failed.take(), std::domain_error);
    auto cancelled = submit(thread.loop(), [] { throw CancelledError("itself"); });
    BOOST_CHECK_THROW(cancelled.result(), CancelledError);
    BOOST_TEST(cancelled.cancelled());
    auto empty = submit(thread.loop(), [] { return Promise<int>(); });
    BOOST_CHECK_THROW(empty.result(), StateError);
    auto dropped =
        submit(thread.loop(), [&thread] { return thread.loop().template create_promise<int>(); });
    BOOST_CHECK_THROW(dropped.result(), BrokenPromise);
    EventLoop other;
    const auto foreign = other.template create_promise<int>();
    auto refused = submit(thread.loop(), [&foreign] { return foreign; });
    BOOST_CHECK_THROW(refused.result(), std::invalid_argument);
    BOOST_TEST(thread.end().empty());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(cancel_reaches_a_promise_that_a_callable_returned, On,
                              support::EverySelector) {
    LoopThread thread(On::name());
    std::promise<void> asked;
    auto submitted = submit(thread.loop(), [&] {
        const auto work = thread.loop().template create_promise<int>();
        work.add_done_callback([&asked, work](const Promise<int>& done) {
            if (done.cancelled()) asked.set_value();
        });
        return work;
    });
    thread.settle();
    BOOST_TEST(submitted.cancel());
    asked.get_future().wait();
    BOOST_TEST(thread.end().empty());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(an_error_that_no_thread_asked_for_is_reported, On,
                              support::EverySelector) {
    LoopThread thread(On::name());
    {
        auto early = submit(thread.loop(), [] { throw std::runtime_error("early"); });
        BOOST_TEST(early.wait_for(seconds(60)));
    }
    {
        std::promise<void> open;
        auto late = submit(thread.loop(), [&open] {
            open.get_future().wait();
            throw std::runtime_error("late");
        });
        late = Submitted<void>();
        open.set_value();
        thread.settle();
    }
    {
        auto read = submit(thread.loop(), [] { throw std::runtime_error("read"); });
        BOOST_TEST((read.error() != nullptr));
        auto moved = std::move(read);
        BOOST_TEST(!read);
        BOOST_CHECK_THROW(read.done(), StateError);
    }
    thread.settle();
    BOOST_TEST(thread.end() == Strings(2, "Exception of submitted work was never retrieved"),
               boost::test_tools::per_element());
}

// The thread has its CancelledError, and will not ask for another one.
BOOST_AUTO_TEST_CASE_TEMPLATE(an_error_after_a_cancel_is_reported, On, support::EverySelector) {
    LoopThread thread(On::name());
    for (const bool cancelled_itself : {false, true}) {
        std::promise<void> begun, open;
        auto submitted = submit(thread.loop(), [&] {
            begun.set_value();
            open.get_future().wait();
            if (cancelled_itself) throw CancelledError("as you wish");
            throw std::runtime_error("too late");
        });
        begun.get_future().wait();
        BOOST_TEST(submitted.cancel());
        open.set_value();
        thread.settle();
        BOOST_CHECK_THROW(submitted.result(), CancelledError);
    }
    thread.settle();
    BOOST_TEST(thread.end() == Strings{"Exception of submitted work was never retrieved"},
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_empty_poster_is_named) {
    BOOST_CHECK_EXCEPTION(submit(reactor::Poster(), [] {}), StateError, [](const StateError& e) {
        return e.what() ==
               std::string("submit: the Poster is empty: get one from EventLoop::poster()");
    });
}

REACTOR_LOOP_TEST(waiting_in_the_loop_that_is_to_bring_the_result_is_refused) {
    std::string refusal;
    loop.call_soon([&] {
        auto submitted = submit(loop, [] { return 1; });
        BOOST_TEST(!submitted.wait_for(milliseconds(0)));
        try {
            submitted.result();
        } catch (const StateError& error) {
            refusal = error.what();
        }
    });
    loop.run_until_idle();
    BOOST_TEST(refusal.find("result: this thread runs the event loop") == 0u);
    BOOST_CHECK_THROW(Submitted<int>().result(), StateError);
}

BOOST_AUTO_TEST_CASE(a_context_does_not_cross_threads) {
    EventLoop loop;
    BOOST_CHECK_THROW(submit<Waits>(loop, Options().context(reactor::copy_context())),
                      std::invalid_argument);
    BOOST_TEST(loop.ready_count() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
