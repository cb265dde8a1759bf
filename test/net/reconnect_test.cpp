// SPDX-License-Identifier: BSL-1.0
#include <net/reconnect.hpp>

#include "names.hpp"

#include <cerrno>
#include <memory>
#include <stdexcept>

using namespace connected;
using namespace names;
using reactor::Duration;
using reactor::TimePoint;
using reactor::net::Backoff;
using reactor::net::BackoffOptions;
using reactor::net::connect_with_backoff;
using reactor::net::ReconnectOptions;
using reactor::net::Reconnector;

namespace {

/// One second, two, four, …
ReconnectOptions doubling() {
    return ReconnectOptions().backoff(
        BackoffOptions().first(seconds(1)).factor(2).most(seconds(60)).jitter(0));
}

/// A server that can be reached when the test says so, and when it was tried.
struct Reconnecting : support::LoopTest {
    using LoopTest::LoopTest;

    Reconnector reconnector(const ReconnectOptions& options) {
        begin = loop.time();
        return Reconnector(
            loop,
            [this](TimePoint deadline) -> Promise<Socket> {
                tried.push_back(std::chrono::duration_cast<seconds>(loop.time() - begin).count());
                last_deadline = deadline;
                if (refusals-- > 0) {
                    throw std::system_error(ECONNREFUSED, std::system_category(), "connect");
                }
                const Promise<Socket> connection = loop.create_promise<Socket>();
                connection.set_result(loop);
                return connection;
            },
            options);
    }
    std::vector<long long> times() {
        std::vector<long long> all;
        all.swap(tried);
        return all;
    }

    int refusals = 0;
    std::vector<long long> tried;  // in seconds
    TimePoint begin;
    TimePoint last_deadline;
};

using Times = std::vector<long long>;

}  // namespace

BOOST_AUTO_TEST_SUITE(reconnect)

REACTOR_LOOP_TEST_IN(Reconnecting, it_tries_again_after_longer_and_longer_pauses) {
    std::vector<Duration> told;
    Reconnector server =
        reconnector(doubling().on_retry([&](const std::system_error& error, Duration pause) {
            BOOST_TEST(error.code().value() == ECONNREFUSED);
            told.push_back(pause);
        }));
    refusals = 4;
    const Promise<Socket> connection = server.connect();
    BOOST_CHECK_THROW(server.connect(), StateError);
    BOOST_TEST(tried.empty());  // never inside the call
    loop.run_until_complete(connection);
    BOOST_TEST(times() == (Times{0, 1, 3, 7, 15}), boost::test_tools::per_element());
    BOOST_TEST((told == std::vector<Duration>{seconds(1), seconds(2), seconds(4), seconds(8)}));
    BOOST_TEST((last_deadline == reactor::never()));
}

REACTOR_LOOP_TEST_IN(Reconnecting, the_pauses_have_the_jitter_of_their_seed) {
    const auto options = BackoffOptions().first(seconds(1)).seed(42);
    std::vector<Duration> told;
    Reconnector server = reconnector(ReconnectOptions().backoff(options).on_retry(
        [&](const std::system_error&, Duration pause) { told.push_back(pause); }));
    refusals = 5;
    loop.run_until_complete(server.connect());
    Backoff same(options);
    Duration total{0};
    BOOST_TEST(told.size() == 5u);
    for (const Duration pause : told) {
        BOOST_TEST((pause == same.next()));
        total += pause;
    }
    BOOST_TEST((loop.time() - begin == total));
}

REACTOR_LOOP_TEST_IN(Reconnecting, a_connection_that_lasted_is_followed_by_one_at_once) {
    Reconnector server = reconnector(doubling().stable_after(seconds(10)));
    refusals = 2;
    loop.run_until_complete(server.connect());
    BOOST_TEST(times() == (Times{0, 1, 3}), boost::test_tools::per_element());
    loop.run_for(seconds(10));
    refusals = 1;
    loop.run_until_complete(server.connect());
    BOOST_TEST(times() == (Times{13, 14}), boost::test_tools::per_element());
}

// A server that accepts and hangs up must not be asked as fast as it can do that.
REACTOR_LOOP_TEST_IN(Reconnecting, a_connection_that_did_not_last_counts_as_a_failure) {
    Reconnector server = reconnector(doubling().stable_after(seconds(10)));
    for (int i = 0; i < 5; ++i) loop.run_until_complete(server.connect());
    BOOST_TEST(times() == (Times{0, 1, 3, 7, 15}), boost::test_tools::per_element());
    server.reset();
    loop.run_until_complete(server.connect());
    loop.run_until_complete(server.connect());
    BOOST_TEST(times() == (Times{15, 16}), boost::test_tools::per_element());
}

REACTOR_LOOP_TEST_IN(Reconnecting, the_number_of_tries_has_a_limit) {
    Reconnector server = reconnector(doubling().tries(3));
    refusals = 4;
    BOOST_TEST(error_of(loop, server.connect()) == "connect: Connection refused");
    BOOST_TEST(times() == (Times{0, 1, 3}), boost::test_tools::per_element());
    BOOST_TEST(loop.timer_count() == 0u);
    // Asked again at once, it goes on where it was.
    loop.run_until_complete(server.connect());
    BOOST_TEST(times() == (Times{7, 15}), boost::test_tools::per_element());
}

REACTOR_LOOP_TEST_IN(Reconnecting, the_deadline_is_for_all_tries) {
    Reconnector server = reconnector(doubling().deadline(seconds(10)));
    refusals = 100;
    BOOST_TEST(error_of(loop, server.connect()) == "connect: Connection refused");
    // The next one would have been at 15.
    BOOST_TEST(times() == (Times{0, 1, 3, 7}), boost::test_tools::per_element());
    BOOST_TEST((loop.time() - begin == seconds(7)));
    BOOST_TEST((last_deadline - begin == seconds(10)));
}

REACTOR_LOOP_TEST_IN(Reconnecting, other_errors_end_the_tries) {
    int calls = 0;
    Reconnector broken(loop, [&](TimePoint) -> Promise<Socket> {
        ++calls;
        throw std::logic_error("a fault of the program");
    });
    BOOST_CHECK_THROW(loop.run_until_complete(broken.connect()), std::logic_error);
    BOOST_TEST(calls == 1);

    Reconnector told = reconnector(doubling().on_retry(
        [](const std::system_error&, Duration) { throw std::runtime_error("enough"); }));
    refusals = 9;
    BOOST_CHECK_THROW(loop.run_until_complete(told.connect()), std::runtime_error);
    BOOST_CHECK_THROW(Reconnector(loop, Reconnector::Connect()), std::invalid_argument);
    const Reconnector moved = std::move(told);
    BOOST_CHECK_THROW(told.connect(), StateError);
    BOOST_CHECK_THROW(told.reset(), StateError);
}

REACTOR_LOOP_TEST_IN(Reconnecting, cancelling_ends_the_pause) {
    Reconnector server = reconnector(doubling());
    refusals = 1;
    const Promise<Socket> connection = server.connect();
    loop.run_for(milliseconds(500));
    BOOST_TEST(loop.timer_count() == 1u);
    BOOST_TEST(connection.cancel());
    loop.run_until_idle();
    BOOST_TEST(connection.cancelled());
    BOOST_TEST(loop.timer_count() == 0u);
    BOOST_TEST(times() == Times{0}, boost::test_tools::per_element());
    // Cancelled before its first step it is none, either.
    BOOST_TEST(server.connect().cancel());
    loop.run_until_idle();
    BOOST_TEST(times().empty());
    loop.run_until_complete(server.connect());
}

REACTOR_LOOP_TEST_IN(Reconnecting, a_pending_connect_goes_on_without_its_reconnector) {
    Promise<Socket> connection;
    {
        Reconnector server = reconnector(doubling());
        refusals = 2;
        connection = server.connect();
    }
    loop.run_until_complete(connection);
    BOOST_TEST(times() == (Times{0, 1, 3}), boost::test_tools::per_element());
}

REACTOR_LOOP_TEST_IN(Reconnecting, a_server_that_comes_up_later_is_found_by_name) {
    const Endpoint at = Refusing("127.0.0.1").endpoint;  // which nobody has any more
    answer(loop, {at.with_port(0)});
    loop.selector().set_patience(seconds(1));
    std::unique_ptr<Listener> listener;
    int retries = 0;
    const auto options = doubling().on_retry([&](const std::system_error& error, Duration) {
        BOOST_TEST(error.what() == "connect to " + at.str() + ": Connection refused");
        if (++retries == 2) listener.reset(new Listener(loop, at));
    });
    const Socket client = loop.run_until_complete(
        connect_with_backoff(loop, "pics.example", at.port(), options, seconds(5)));
    BOOST_TEST((client.remote_endpoint() == at));
    BOOST_TEST(retries == 2);
    loop.run_until_idle();
}

BOOST_AUTO_TEST_SUITE_END()
