// SPDX-License-Identifier: BSL-1.0
#include <reactor/combinators.hpp>

#include <boost/test/unit_test.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "stubborn.hpp"
#include <reactor/std_future.hpp>
#include <test/support/loop_test.hpp>

namespace {

using reactor::AnyPromise;
using reactor::gather;
using reactor::Promise;
using reactor::StateError;

/// A promise that does something else as well when it is cancelled.
struct Meddling final : reactor::detail::Pooled<Meddling, reactor::detail::ValueState<int>> {
    using Pooled::Pooled;
    reactor::detail::PromiseState* cancel_step(const std::string& message, bool& took) override {
        took = cancel_now(message);
        if (meddle) meddle();
        return nullptr;
    }
    std::function<void()> meddle;
};

/// What the error that f throws says.
template <class F>
std::string said_by(F f) {
    try {
        f();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "nothing";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cancelling_a_gather)

// Where each level calls the next one's cancel(), this many need more stack than there is.
REACTOR_LOOP_TEST(a_hundred_thousand_nested_gathers_need_no_stack) {
    const auto innermost = loop.create_promise<void>();
    const auto beside = loop.create_promise<void>();
    Promise<void> outermost = innermost;
    for (int i = 0; i < 100000; ++i) {
        outermost = gather(std::vector<Promise<void>>{outermost, beside}).then([] {});
    }
    BOOST_TEST(outermost.cancel("deep"));
    BOOST_TEST(innermost.cancelled());
    BOOST_TEST(beside.cancelled());
    loop.run_until_idle();
    BOOST_TEST(outermost.cancelled());
}

REACTOR_LOOP_TEST(every_pending_child_is_asked_in_order_and_once) {
    std::vector<Promise<int>> leaves;
    std::string order;
    for (int i = 0; i < 6; ++i) {
        leaves.push_back(loop.create_promise<int>());
        leaves.back().add_done_callback([&order, i](const Promise<int>& done) {
            order += done.cancelled() ? std::to_string(i) : "value";
        });
    }
    leaves[3].set_result(3);
    const auto tree = gather(gather(leaves[0], leaves[1]), leaves[2],
                             gather(leaves[3], gather(leaves[4], leaves[5])), leaves[2]);
    BOOST_TEST(tree.cancel());
    loop.run_until_idle();
    BOOST_TEST(order == "value01245");
    BOOST_CHECK_THROW(tree.result(), reactor::CancelledError);
}

REACTOR_LOOP_TEST(the_answer_of_the_children_is_the_answer) {
    const auto done = loop.create_promise<int>();
    const auto all = gather(gather(done));
    done.set_result(1);
    BOOST_TEST(!all.cancel());  // nobody is left to take it
    // What follows a gather that refuses remembers the request itself.
    const auto follower = all.then([] { return 1; });
    BOOST_TEST(follower.cancel());
    loop.run_until_idle();
    BOOST_TEST(std::get<0>(std::get<0>(all.result())) == 1);
    BOOST_TEST(follower.cancelled());

    Stubborn* state;
    const auto stubborn = Stubborn::make(loop, state);
    const auto inner = gather(stubborn);
    const auto other = loop.create_promise<int>();
    const auto outer = gather(inner, other);
    BOOST_TEST(outer.cancel("m"));
    BOOST_TEST(state->asked == 1);
    stubborn.set_result(1);
    loop.run_until_idle();
    for (const AnyPromise& gathered : {AnyPromise(inner), AnyPromise(outer)}) {
        BOOST_REQUIRE((gathered.error() != nullptr));
        BOOST_CHECK_THROW(std::rethrow_exception(gathered.error()), reactor::CancelledError);
    }
}

REACTOR_LOOP_TEST(a_child_that_breaks_the_gather_while_it_is_cancelled) {
    Meddling* const state = reactor::detail::make_state<Meddling>(loop.core(), reactor::Here());
    const auto first = reactor::detail::PromiseAccess::adopt<Promise<int>>(state);
    auto second = loop.create_promise<int>();
    const auto third = loop.create_promise<int>();
    auto inner = gather(first, second, third);
    const auto outer = gather(inner, third);
    state->meddle = [&] {
        inner = Promise<std::tuple<int, int, int>>();
        second = Promise<int>();  // the only one: it breaks the inner gather
    };
    BOOST_TEST(outer.cancel());
    BOOST_TEST(first.cancelled());
    BOOST_TEST(third.cancelled());
    loop.run_until_idle();
    BOOST_TEST(outer.done());
    BOOST_TEST((outer.error() != nullptr));
}

REACTOR_LOOP_TEST(calls_that_cannot_go_on_name_themselves_the_place_and_the_remedy) {
    const auto p = loop.create_promise<int>();
    const Promise<int> none;
    const std::string remedy = "create_promise()";
    std::string text = said_by([&] { gather(p, none, p); });
    BOOST_TEST(text.find("gather: promise 2 of 3 is empty") == 0u);
    BOOST_TEST((text.find(remedy) != std::string::npos));
    text = said_by([&] { gather_settled(std::vector<Promise<int>>{p, p, none}); });
    BOOST_TEST(text.find("gather_settled: promise 3 of 3 is empty") == 0u);
    text = said_by([&] { wait_for(none, support::seconds(1)); });
    BOOST_TEST(text.find("wait_for: the promise is empty") == 0u);
    BOOST_TEST((text.find(remedy) != std::string::npos));
    text = said_by([&] { reactor::to_std_future(none); });
    BOOST_TEST(text.find("to_std_future: the promise is empty") == 0u);
    text = said_by([] { reactor::sleep(support::seconds(1)); });
    BOOST_TEST(text.find("sleep: no event loop runs on this thread") == 0u);
    BOOST_TEST((text.find("sleep(loop, delay)") != std::string::npos));
    reactor::EventLoop other;
    text = said_by([&] { gather(p, other.create_promise<int>()); });
    BOOST_TEST(text.find("gather: promise 2 of 2 belongs to another event loop") == 0u);
    loop.close();
    text = said_by([&] { reactor::to_std_future(p); });
    BOOST_TEST(text.find("to_std_future: the event loop is closed") == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
