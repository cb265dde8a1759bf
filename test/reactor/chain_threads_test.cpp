// SPDX-License-Identifier: BSL-1.0
#include <reactor/chain.hpp>

#include <boost/test/unit_test.hpp>

#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "loop_thread.hpp"
#include <test/support/loop_test.hpp>

namespace {

using reactor::BrokenPromise;
using reactor::chain;
using reactor::Promise;
using reactor::StateError;

struct Own : std::runtime_error {
    Own() : std::runtime_error("own") {}
};

/// Where the error object of a done promise lies, and its text.
template <class T>
std::pair<const void*, std::string> error_of(const Promise<T>& done) {
    try {
        std::rethrow_exception(done.error());
    } catch (const std::exception& error) {
        return std::make_pair(dynamic_cast<const void*>(&error), std::string(error.what()));
    } catch (...) {
    }
    return std::make_pair(nullptr, std::string());
}

/// Source on loop x, destination on loop y, each on its thread. Each is used there only, and held
/// by the test.
template <class T>
struct Chained {
    Chained(const std::string& selector, bool from_source) : x(selector), y(selector) {
        source = x.call([this] { return x.loop().create_promise<T>(); });
        destination = y.call([this] { return y.loop().create_promise<T>(); });
        y_thread = y.call([] { return std::this_thread::get_id(); });
        (from_source ? x : y).call([this] { chain(source, destination); });
        x.settle();
        y.settle();
    }
    /// The destination's callback runs f on y's thread; the future has what that returns.
    template <class F>
    auto at_destination(F f) -> std::future<decltype(f(std::declval<const Promise<T>&>()))> {
        using R = decltype(f(std::declval<const Promise<T>&>()));
        const auto told = std::make_shared<std::promise<R>>();
        y.call([&] {
            destination.add_done_callback(
                [told, f](const Promise<T>& done) { told->set_value(f(done)); });
        });
        return told->get_future();
    }

    LoopThread x, y;
    Promise<T> source, destination;
    std::thread::id y_thread;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(chain_between_two_threads)

BOOST_AUTO_TEST_CASE_TEMPLATE(TH_10_a_the_value_arrives_on_the_other_thread, On,
                              support::EverySelector) {
    for (const bool from_source : {true, false}) {
        Chained<std::string> c(On::name(), from_source);
        auto heard = c.at_destination([](const Promise<std::string>& done) {
            return std::make_pair(std::this_thread::get_id(), done.result());
        });
        c.x.call([&] { c.source.set_result(std::string(100, 'v')); });
        const auto told = heard.get();
        BOOST_TEST((told.first == c.y_thread));
        BOOST_TEST(told.second == std::string(100, 'v'));
        // A copy: somebody holds the source.
        BOOST_TEST(c.x.call([&] { return c.source.result(); }) == told.second);
        BOOST_TEST(c.x.end().empty());
        BOOST_TEST(c.y.end().empty());
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(TH_10_a_a_move_only_value_is_moved, On, support::EverySelector) {
    Chained<std::unique_ptr<int>> c(On::name(), true);
    auto heard = c.at_destination(
        [](const Promise<std::unique_ptr<int>>& done) { return done.result().get(); });
    int* const value = new int(1);
    c.x.call([&] { c.source.set_result(value); });
    BOOST_TEST(heard.get() == value);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(TH_10_b_the_same_error_object_arrives, On, support::EverySelector) {
    for (const bool from_source : {true, false}) {
        Chained<int> c(On::name(), from_source);
        auto heard = c.at_destination(&error_of<int>);
        const void* const made = c.x.call([&] {
            c.source.set_exception(Own());
            const Promise<int> last = std::move(c.source);
            return error_of(last).first;
        });
        const auto told = heard.get();
        BOOST_TEST(told.first == made);
        BOOST_TEST(told.second == "own");
        BOOST_TEST(c.x.end().empty());
        BOOST_TEST(c.y.end().empty());
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(TH_10_c_the_cancellation_goes_back, On, support::EverySelector) {
    for (const bool from_source : {true, false}) {
        Chained<int> c(On::name(), from_source);
        std::promise<std::pair<std::thread::id, bool>> told;
        const auto x_thread = c.x.call([&] {
            c.source.add_done_callback([&](const Promise<int>& done) {
                told.set_value(std::make_pair(std::this_thread::get_id(), done.cancelled()));
            });
            return std::this_thread::get_id();
        });
        BOOST_TEST(c.y.call([&] { return c.destination.cancel(); }));
        const auto heard = told.get_future().get();
        BOOST_TEST((heard.first == x_thread));
        BOOST_TEST(heard.second);
        BOOST_TEST(c.x.end().empty());
        BOOST_TEST(c.y.end().empty());
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(TH_10_d_for_a_loop_that_is_closed_nothing_happens, On,
                              support::EverySelector) {
    Chained<int> c(On::name(), true);
    BOOST_TEST(c.y.end().empty());
    c.x.call([&] { c.source.set_result(1); });
    c.x.settle();
    BOOST_TEST(c.x.call([&] { return c.source.result(); }) == 1);
    BOOST_TEST(!c.destination.done());
    BOOST_TEST(c.x.end().empty());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(TH_10_d_but_an_error_stays_unread, On, support::EverySelector) {
    Chained<int> c(On::name(), true);
    c.y.end();
    c.x.call([&] {
        c.source.set_exception(Own());
        c.source = Promise<int>();
    });
    c.x.settle();
    BOOST_TEST(c.x.end() == std::vector<std::string>{"Promise exception was never retrieved"},
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_source_that_goes_breaks_the_destination, On,
                              support::EverySelector) {
    for (const bool loop_too : {false, true}) {
        Chained<int> c(On::name(), true);
        auto heard = c.at_destination([](const Promise<int>& done) {
            try {
                done.result();
            } catch (const BrokenPromise&) {
                return true;
            } catch (...) {
            }
            return false;
        });
        if (loop_too) {
            c.x.end();
        } else {
            c.x.call([&] { c.source = Promise<int>(); });
        }
        BOOST_TEST(heard.get());
    }
    // Its loop is closed before it has heard of the chain.
    LoopThread y(On::name());
    std::unique_ptr<LoopThread> x(new LoopThread(On::name()));
    const auto source = x->call([&] { return x->loop().template create_promise<int>(); });
    x.reset();
    std::promise<bool> told;
    Promise<int> destination;
    y.call([&] {
        destination = y.loop().template create_promise<int>();
        destination.add_done_callback(
            [&](const Promise<int>& done) { told.set_value(done.error() != nullptr); });
        chain(source, destination);
    });
    BOOST_TEST(told.get_future().get());
}

BOOST_AUTO_TEST_CASE(a_third_thread_is_refused) {
    Chained<int> c("epoll", true);
    BOOST_CHECK_THROW(chain(c.source, c.destination), StateError);
}

// Values and cancellations that meet: each end is done in the end, and TSan sees every step.
BOOST_AUTO_TEST_CASE_TEMPLATE(values_and_cancellations_that_meet, On, support::EverySelector) {
    constexpr std::size_t count = 200;
    LoopThread x(On::name());
    LoopThread y(On::name());
    std::vector<Promise<std::string>> sources(count), destinations(count);
    x.call([&] {
        for (auto& source : sources) source = x.loop().template create_promise<std::string>();
    });
    y.call([&] {
        for (auto& end : destinations) end = y.loop().template create_promise<std::string>();
    });
    for (std::size_t i = 0; i < count; ++i) {
        (i % 2 ? x : y).loop().call_soon_threadsafe([&, i] { chain(sources[i], destinations[i]); });
        x.loop().call_soon_threadsafe([&, i] {
            if (!sources[i].done()) sources[i].set_result(std::string(60, 's'));
        });
        y.loop().call_soon_threadsafe([&, i] { destinations[i].cancel(); });
    }
    x.settle();
    y.settle();
    x.settle();
    y.settle();
    std::size_t done = x.call([&] {
        std::size_t ended = 0;
        for (const auto& source : sources) ended += source.done();
        return ended;
    });
    done += y.call([&] {
        std::size_t ended = 0;
        for (const auto& end : destinations) ended += end.done();
        return ended;
    });
    BOOST_TEST(done == 2 * count);
    BOOST_TEST(x.end().empty());
    BOOST_TEST(y.end().empty());
}

BOOST_AUTO_TEST_SUITE_END()
