// SPDX-License-Identifier: BSL-1.0
#include <reactor/promise.hpp>

#include <boost/test/unit_test.hpp>

#include <functional>
#include <utility>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::DoneKey;
using reactor::Promise;

// Law 5: what goes with a callback may do anything to the promise it belonged to, or to one that is
// just going. A sanitizer sees what the assertions cannot.

namespace {

/// Does something when it goes.
struct AtEnd {
    explicit AtEnd(std::function<void()> f) : act(std::move(f)) {}
    AtEnd(AtEnd&& other) noexcept : act(std::move(other.act)) { other.act = nullptr; }
    ~AtEnd() {
        if (act) act();
    }
    void operator()(const Promise<int>&) const {}

    std::function<void()> act;
};

/// Whose promise goes first, and its guard then.
struct Holder {
    AtEnd guard;
    Promise<int> held;
    void operator()(const Promise<int>&) const {}
};

}  // namespace

BOOST_AUTO_TEST_SUITE(promise_destructors)

REACTOR_LOOP_TEST(a_removed_callback_completes_the_promise_before_its_neighbours_are_gone) {
    Promise<int> promise;
    loop.call_soon([&] { promise = loop.create_promise<int>(); });
    loop.run_iterations(1);
    const DoneKey key = promise.add_done_callback(AtEnd([&] { promise.set_result(1); }));
    promise.add_done_callback(key, [](const Promise<int>&) {});
    promise.add_done_callback(key, [](const Promise<int>&) {});
    BOOST_TEST(promise.remove_done_callback(key) == 3u);
    BOOST_TEST(promise.result() == 1);
    loop.run_iterations(1);
}

REACTOR_LOOP_TEST(close_drops_a_callback_that_cancels_the_promise) {
    Promise<int> promise;
    loop.call_soon([&] { promise = loop.create_promise<int>(); });
    loop.run_iterations(1);
    promise.add_done_callback(AtEnd([&] { promise.cancel(); }));
    promise.add_done_callback([](const Promise<int>&) {});
    promise.add_done_callback([](const Promise<int>&) {});
    loop.close();
    BOOST_TEST(promise.cancelled());
}

REACTOR_LOOP_TEST(what_waits_for_a_promise_that_is_going_is_cancelled_meanwhile) {
    Promise<int> follower;
    loop.call_soon([&] {
        Promise<int> held = loop.create_promise<int>();
        Promise<int> dropped = loop.create_promise<int>();
        follower = held.then([](int value) { return value; });
        dropped.add_done_callback(Holder{AtEnd([&] { follower.cancel(); }), std::move(held)});
        dropped = Promise<int>();
    });
    loop.run_iterations(2);
    BOOST_TEST(follower.done());
}

BOOST_AUTO_TEST_SUITE_END()
