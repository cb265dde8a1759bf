// SPDX-License-Identifier: BSL-1.0
#include <net/create_connection.hpp>
#include <net/open_connection.hpp>

#include "connected.hpp"
#include "transport_fixture.hpp"

#include <memory>
#include <string>

using namespace connected;
using reactor::net::create_connection;
using reactor::net::open_connection;
using reactor::net::Stream;
using reactor::net::Transport;
using reactor::testing::open_descriptors;
using transports::Course;

namespace {

/// What a loop's first socket costs for good is there before descriptors are counted.
void warm_up(TestLoop& loop, const Endpoint& to) {
    Socket socket(loop);
    loop.run_until_complete(socket.connect(to));
    loop.run_until_idle();
}

/// Takes the clients that there are, and says how many have gone.
int accept_those_that_are_gone(TestLoop& loop, Listener& listener, int expected) {
    int gone = 0;
    for (int i = 0; i < expected; ++i) {
        Socket peer = loop.run_until_complete(listener.accept());
        const Promise<std::string> end = peer.read();
        try {
            gone += loop.run_until_complete(end).empty();
        } catch (const std::system_error&) {  // a reset
            ++gone;
        }
    }
    return gone;
}

void check_nothing_left(TestLoop& loop, std::size_t descriptors_before) {
    BOOST_TEST(open_descriptors() == descriptors_before);
    BOOST_TEST(loop.timer_count() == 0u);
    BOOST_TEST(loop.watch_count() == 0u);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(create_connection_cancel)

// In each iteration from the call to the connection once.
REACTOR_LOOP_TEST(a_cancelled_create_connection_leaves_nothing) {
    be_patient(loop);
    Listener listener(loop, any_port);
    const Endpoint to = listener.local_endpoint();
    warm_up(loop, to);
    accept_those_that_are_gone(loop, listener, 1);
    loop.selector().set_patience(milliseconds(0));
    const std::size_t before = open_descriptors();
    for (std::size_t iteration = 0;; ++iteration) {
        Course course;
        const Promise<Transport> promise = create_connection(
            loop, [&] { return transports::told(course); }, to, seconds(5));
        loop.run_iterations(iteration);
        if (promise.done()) {
            BOOST_TEST(course.calls == "made");
            BOOST_TEST(iteration > 5u);
            promise.result().abort();
            loop.run_until_idle();
            break;
        }
        BOOST_TEST(promise.cancel());
        loop.run_until_idle();
        BOOST_TEST(promise.cancelled());
        course.transport = Transport();
        check_nothing_left(loop, before);
        BOOST_TEST((course.calls == "" || course.calls == "made lost"), course.calls);
        BOOST_TEST(course.destroyed == (course.calls.empty() ? 0 : 1));
        BOOST_TEST(!course.error);
    }
}

REACTOR_LOOP_TEST(a_cancelled_open_connection_leaves_nothing) {
    be_patient(loop);
    Listener listener(loop, any_port);
    const Endpoint to = listener.local_endpoint();
    warm_up(loop, to);
    accept_those_that_are_gone(loop, listener, 1);
    loop.selector().set_patience(milliseconds(0));
    loop.set_log([](reactor::LogLevel, const std::string& text) { BOOST_ERROR(text); });
    const std::size_t before = open_descriptors();
    for (std::size_t iteration = 0;; ++iteration) {
        const Promise<Stream> promise = open_connection(loop, to, seconds(5));
        loop.run_iterations(iteration);
        if (promise.done()) {
            BOOST_TEST(iteration > 5u);
            promise.take().abort();
            loop.run_until_idle();
            break;
        }
        BOOST_TEST(promise.cancel());
        loop.run_until_idle();
        BOOST_TEST(promise.cancelled());
        check_nothing_left(loop, before);
    }
}

// By those who are told of the connection, and in the factory.
REACTOR_LOOP_TEST(a_create_connection_is_cancelled_from_within) {
    be_patient(loop);
    Listener listener(loop, any_port);
    warm_up(loop, listener.local_endpoint());
    accept_those_that_are_gone(loop, listener, 1);
    const std::size_t before = open_descriptors();
    for (const bool in_factory : {false, true}) {
        Course course;
        Promise<Transport> promise;
        if (!in_factory) course.on_made = [&] { BOOST_TEST(promise.cancel()); };
        promise = create_connection(
            loop,
            [&] {
                if (in_factory) BOOST_TEST(promise.cancel());
                return transports::told(course);
            },
            listener.local_endpoint());
        BOOST_CHECK_THROW(loop.run_until_complete(promise), CancelledError);
        while (!course.destroyed) loop.run_once();
        BOOST_TEST(course.calls == "made lost");
        BOOST_TEST(accept_those_that_are_gone(loop, listener, 1) == 1);
        course.transport = Transport();
        BOOST_TEST(open_descriptors() == before);
    }
}

// Nobody holds the promise: the connection is made all the same, and lives by itself.
REACTOR_LOOP_TEST(a_dropped_promise_leaves_the_connection_to_its_protocol) {
    be_patient(loop);
    Listener listener(loop, any_port);
    Course course;
    create_connection(
        loop, [&] { return transports::told(course); }, listener.local_endpoint());
    Socket peer = loop.run_until_complete(listener.accept());
    while (course.calls.empty()) loop.run_once();
    loop.run_until_complete(peer.send("hello"));
    while (course.bytes.empty()) loop.run_once();
    course.transport = Transport();
    loop.run_until_complete(peer.close());
    while (!course.destroyed) loop.run_once();
    BOOST_TEST(course.calls == "made data eof lost");
}

// In each iteration once.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_loop_that_closes_meanwhile_closes_the_connection, On,
                              support::EverySelector) {
    for (const bool stream : {false, true}) {
        bool over = false;
        for (std::size_t iteration = 0; !over; ++iteration) {
            const std::size_t before = open_descriptors();
            Course course;
            Promise<Transport> transport;
            Promise<Stream> opened;
            {
                TestLoop loop(On::name());
                loop.set_log([](reactor::LogLevel, const std::string&) {});
                Listener listener(loop, any_port);
                if (stream) {
                    opened = open_connection(loop, listener.local_endpoint(), seconds(5));
                } else {
                    transport = create_connection(
                        loop, [&] { return transports::told(course); }, listener.local_endpoint());
                }
                loop.run_iterations(iteration);
                over = stream ? opened.done() : transport.done();
                if (stream && over) opened.take().abort();
                loop.close();
            }
            BOOST_TEST((course.calls == "" || course.calls == "made"), course.calls);
            if (course.calls == "made") BOOST_TEST(course.destroyed == 1);
            course.transport = Transport();
            transport = Promise<Transport>();
            opened = Promise<Stream>();
            BOOST_TEST(open_descriptors() == before);
        }
    }
}

// A cancelled wait does not cancel what others wait for; what the winner of a race with time is, is
// not lost: fault D5.
REACTOR_LOOP_TEST(a_connection_that_comes_about_as_its_time_is_up_is_a_connection_or_closed) {
    Listener listener(loop, any_port);
    warm_up(loop, listener.local_endpoint());
    be_patient(loop);
    accept_those_that_are_gone(loop, listener, 1);
    loop.selector().set_patience(milliseconds(0));
    const std::size_t before = open_descriptors();
    for (const bool cancelled : {false, true}) {
        Course course;
        const Promise<Transport> promise = create_connection(
            loop, [&] { return transports::told(course); }, listener.local_endpoint(),
            milliseconds(5));
        while (loop.watch_count() == 0 && course.calls.empty()) loop.run_iterations(1);
        loop.clock().advance(milliseconds(5));
        if (cancelled) BOOST_TEST(promise.cancel());
        loop.run_until_idle();
        BOOST_TEST(promise.done());
        BOOST_TEST(promise.cancelled() == cancelled);
        if (!cancelled) promise.result().abort();
        loop.run_until_idle();
        course.transport = Transport();
        BOOST_TEST(open_descriptors() == before);
        BOOST_TEST(loop.timer_count() == 0u);
    }
}

BOOST_AUTO_TEST_SUITE_END()
