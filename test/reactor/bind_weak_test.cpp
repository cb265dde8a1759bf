// SPDX-License-Identifier: BSL-1.0
#include <reactor/bind_weak.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include <reactor/testing.hpp>

namespace {

using reactor::bind_weak;
using std::chrono::seconds;

struct Session {
    void expire() { ++expired; }
    void add(int value) { sum += value; }
    int expired = 0;
    int sum = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(weak_binding)

BOOST_AUTO_TEST_CASE(calls_the_object_as_long_as_it_is_there) {
    auto session = std::make_shared<Session>();
    const std::function<void(int)> add = bind_weak(session, &Session::add);
    auto twice = bind_weak(session, [](Session& s, int value) { s.add(2 * value); });
    Session* const raw = session.get();
    auto captured = bind_weak(session, [raw](int value) { raw->add(3 * value); });
    add(1);
    twice(1);
    captured(1);
    BOOST_TEST(session->sum == 6);
    BOOST_TEST(session.use_count() == 1);
    session.reset();
    add(1);
    twice(1);
    captured(1);
}

BOOST_AUTO_TEST_CASE(keeps_the_object_during_the_call) {
    auto session = std::make_shared<Session>();
    const std::weak_ptr<Session> watch = session;
    int sum = 0;
    auto release = bind_weak(session, [&](Session& s) {
        session.reset();
        s.add(5);
        sum = s.sum;
        BOOST_TEST(!watch.expired());
    });
    release();
    BOOST_TEST(sum == 5);
    BOOST_TEST(watch.expired());
}

BOOST_AUTO_TEST_CASE(works_as_a_callback_of_the_loop) {
    reactor::testing::LoopFixture fixture;
    auto session = std::make_shared<Session>();
    fixture.loop.call_later(seconds(1), bind_weak(session, &Session::expire));
    fixture.loop.call_later(seconds(1), bind_weak(session, &Session::add), 7);
    auto every = fixture.loop.call_every(seconds(2), bind_weak(session, &Session::expire));
    fixture.loop.run_for(seconds(4));
    BOOST_TEST(session->expired == 3);
    BOOST_TEST(session->sum == 7);
    session.reset();
    fixture.loop.run_for(seconds(4));
    every.cancel();
}

BOOST_AUTO_TEST_CASE(passes_errors_and_refuses_null) {
    const auto session = std::make_shared<Session>();
    auto throwing = bind_weak(session, [](Session&) { throw std::runtime_error("thrown"); });
    BOOST_CHECK_THROW(throwing(), std::runtime_error);
    void (Session::*none)() = nullptr;
    BOOST_CHECK_THROW(bind_weak(session, none), std::invalid_argument);
    BOOST_CHECK_THROW(bind_weak(session, std::function<void()>()), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
