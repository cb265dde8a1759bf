// SPDX-License-Identifier: BSL-1.0
#include <reactor/std_future.hpp>

#include <boost/test/unit_test.hpp>

#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

using reactor::EventLoop;
using reactor::Promise;
using reactor::to_std_future;

BOOST_AUTO_TEST_SUITE(bridge_to_std_future)

BOOST_AUTO_TEST_CASE(a_waiting_thread_gets_the_value) {
    EventLoop loop;
    auto text = loop.create_promise<std::string>();
    auto only = loop.create_promise<std::unique_ptr<int>>();
    auto nothing = loop.create_promise<void>();
    std::future<std::string> first = to_std_future(text);
    std::future<std::unique_ptr<int>> second = to_std_future(only);
    std::future<void> third = to_std_future(nothing);
    std::thread waiter([&] {
        BOOST_TEST(first.get() == "found");
        BOOST_TEST(*second.get() == 5);
        third.get();
        loop.stop_threadsafe();
    });
    loop.call_soon([&] {
        text.set_result("found");
        only.set_result(new int(5));
        nothing.set_result();
    });
    loop.run_forever();
    waiter.join();
}

BOOST_AUTO_TEST_CASE(failure_cancellation_and_the_end_of_the_loop_arrive_as_exceptions) {
    std::future<int> failed, cancelled, dropped, abandoned;
    Promise<int> held;
    {
        EventLoop loop;
        const auto p = loop.create_promise<int>();
        const auto q = loop.create_promise<int>();
        failed = to_std_future(p);
        cancelled = to_std_future(q);
        dropped = to_std_future(loop.create_promise<int>());
        held = loop.create_promise<int>();
        abandoned = to_std_future(held);
        p.set_exception(std::runtime_error("down"));
        q.cancel();
        loop.run_once(reactor::Duration::zero());
    }
    BOOST_CHECK_THROW(failed.get(), std::runtime_error);
    BOOST_CHECK_THROW(cancelled.get(), reactor::CancelledError);
    BOOST_CHECK_THROW(dropped.get(), std::future_error);
    BOOST_CHECK_THROW(abandoned.get(), std::future_error);
}

BOOST_AUTO_TEST_SUITE_END()
