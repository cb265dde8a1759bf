// SPDX-License-Identifier: BSL-1.0
#include <reactor/event_loop.hpp>

#include <boost/test/unit_test.hpp>

#include <limits>
#include <memory>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/select.h>

#include <reactor/bind_weak.hpp>
#include <reactor/combinators.hpp>
#include <reactor/executor.hpp>
#include <reactor/promise.hpp>
#include <reactor/scope.hpp>
#include <reactor/signals.hpp>
#include <reactor/timeout.hpp>

#include "misuse.hpp"
#include <test/support/loop_test.hpp>

using namespace support;
using misuse::Call;
using reactor::Options;
using reactor::Promise;
using reactor::Scope;

BOOST_AUTO_TEST_SUITE(misuse_arguments)

REACTOR_LOOP_TEST(a_null_callable_is_refused_by_the_call_that_got_it) {
    SocketPair pair;
    const int fd = pair.mine;
    Scope scope(loop);
    Scope* const s = &scope;
    const Promise<int> promise = loop.create_promise<int>();
    reactor::ThreadPool pool(1);
    const auto object = std::make_shared<int>(1);
    const Options options = Options().label("null");
    const std::function<void()> null;
    const std::function<void(const Promise<int>&)> null_done;
    const std::function<void(int)> null_then;
    int (*const null_except)(std::exception_ptr) = nullptr;
    void (*const pointer)() = nullptr;
    const std::vector<Call> calls = {
        {"call_soon", [&] { loop.call_soon(null); }},
        {"call_soon", [&] { loop.call_soon(pointer); }},
        {"call_soon", [&] { loop.call_soon(options, null); }},
        {"call_later", [&] { loop.call_later(seconds(1), null); }},
        {"call_later", [&] { loop.call_later(options, seconds(1), pointer); }},
        {"call_at", [&] { loop.call_at(loop.time(), null); }},
        {"call_at", [&] { loop.call_at(options, loop.time(), pointer); }},
        {"call_every", [&] { loop.call_every(seconds(1), null); }},
        {"call_every", [&] { loop.call_every(options, seconds(1), pointer); }},
        {"call_soon_threadsafe", [&] { loop.call_soon_threadsafe(null); }},
        {"call_soon_threadsafe", [&] { loop.call_soon_threadsafe(options, pointer); }},
        {"add_reader", [&] { loop.add_reader(fd, null); }},
        {"add_reader", [&] { loop.add_reader(options, fd, pointer); }},
        {"add_writer", [&] { loop.add_writer(fd, null); }},
        {"add_writer", [&] { loop.add_writer(options, fd, pointer); }},
        {"add_urgent_reader", [&] { loop.add_urgent_reader(fd, null); }},
        {"add_signal_handler", [&] { loop.add_signal_handler(SIGUSR1, null); }},
        {"run_in_executor", [&] { loop.run_in_executor(null); }},
        {"run_in_executor", [&] { run_in_executor(loop, pool, pointer); }},
        {"add_done_callback", [&] { promise.add_done_callback(null_done); }},
        {"add_done_callback", [&] { promise.add_done_callback(options, null_done); }},
        {"add_done_callback", [&] { promise.add_done_callback(reactor::DoneKey(), null_done); }},
        {"add_done_callback", [&] { promise.add_done_callback(*s, null_done); }},
        {"then", [&] { promise.then(null_then); }},
        {"except", [&] { promise.except(null_except); }},
        {"call_soon", [&] { s->call_soon(null); }},
        {"call_later", [&] { s->call_later(seconds(1), null); }},
        {"call_at", [&] { s->call_at(loop.time(), null); }},
        {"call_every", [&] { s->call_every(seconds(1), null); }},
        {"add_reader", [&] { s->add_reader(fd, null); }},
        {"add_writer", [&] { s->add_writer(fd, null); }},
        {"bind", [&] { s->bind(null); }},
        {"bind_weak", [&] { reactor::bind_weak(object, pointer); }},
        {"Callback", [&] { reactor::Callback{null}; }},
        {"submit", [&] { pool.submit(reactor::Callback()); }},
    };
    misuse::expect<std::invalid_argument>(calls, "give it something to call");
    BOOST_TEST(loop.ready_count() == 0u);
    BOOST_TEST(loop.timer_count() == 0u);
    BOOST_TEST(loop.watch_count() == 0u);
    promise.set_result(1);
    loop.run_iterations(1);
}

REACTOR_LOOP_TEST(a_delay_that_is_no_number_is_refused_and_arms_nothing) {
    const std::chrono::duration<double> nan(std::numeric_limits<double>::quiet_NaN());
    const std::chrono::duration<float> float_nan(std::numeric_limits<float>::quiet_NaN());
    Scope scope(loop);
    const Promise<int> promise = loop.create_promise<int>();
    bool ran = false;
    const auto run = [&ran] { ran = true; };
    BOOST_CHECK_THROW(loop.call_later(nan, run), std::invalid_argument);
    BOOST_CHECK_THROW(loop.call_later(float_nan, run), std::invalid_argument);
    BOOST_CHECK_THROW(loop.call_later(Options(), nan, run), std::invalid_argument);
    BOOST_CHECK_THROW(loop.call_every(nan, run), std::invalid_argument);
    BOOST_CHECK_THROW(loop.call_every(Options(), float_nan, run), std::invalid_argument);
    BOOST_CHECK_THROW(scope.call_later(nan, run), std::invalid_argument);
    BOOST_CHECK_THROW(scope.call_every(nan, run), std::invalid_argument);
    BOOST_CHECK_THROW(reactor::sleep(loop, nan), std::invalid_argument);
    BOOST_CHECK_THROW(reactor::wait_for(promise, nan), std::invalid_argument);
    loop.call_soon([&] {
        BOOST_CHECK_THROW(reactor::sleep(float_nan), std::invalid_argument);
        reactor::Timeout limit;
        BOOST_CHECK_THROW(limit.enter(nan), std::invalid_argument);
        BOOST_TEST(!limit.active());
    });
    loop.run_iterations(1);
    BOOST_TEST(loop.timer_count() == 0u);
    BOOST_TEST(!ran);
    // Of a period also what is not positive.
    const std::vector<Call> calls = {
        {"call_every", [&] { loop.call_every(seconds(0), run); }},
        {"call_every", [&] { loop.call_every(Options(), seconds(-1), run); }},
        {"call_every", [&] { scope.call_every(nanoseconds(0), run); }},
    };
    misuse::expect<std::invalid_argument>(calls, "use call_soon()");
    BOOST_TEST(loop.timer_count() == 0u);
}

REACTOR_LOOP_TEST(a_number_that_is_no_descriptor_is_refused_and_leaves_nothing) {
    SocketPair pair;
    Scope scope(loop);
    const auto never = say("never");
    const Options owned = Options().owned_descriptor();
    const int closed = pair.theirs;
    pair.close_theirs();
    for (const int fd : {-1, std::numeric_limits<int>::min()}) {
        const std::vector<Call> calls = {
            {"add_reader", [&, fd] { loop.add_reader(fd, never); }},
            {"add_reader", [&, fd] { loop.add_reader(owned, fd, never); }},
            {"add_writer", [&, fd] { loop.add_writer(fd, never); }},
            {"add_writer", [&, fd] { loop.add_writer(owned, fd, never); }},
            {"add_urgent_reader", [&, fd] { loop.add_urgent_reader(fd, never); }},
            {"add_reader", [&, fd] { scope.add_reader(fd, never); }},
            {"add_writer", [&, fd] { scope.add_writer(fd, never); }},
        };
        misuse::expect<std::invalid_argument>(
            calls, std::to_string(fd) + " is no descriptor: give the number of an open one");
    }
    for (const int fd : {closed, 5000, std::numeric_limits<int>::max()}) {
        const std::vector<Call> calls = {
            {"add_reader", [&, fd] { loop.add_reader(fd, never); }},
            {"add_reader", [&, fd] { loop.add_reader(owned, fd, never); }},
            {"add_writer", [&, fd] { loop.add_writer(fd, never); }},
            {"add_urgent_reader", [&, fd] { loop.add_urgent_reader(fd, never); }},
            {"add_reader", [&, fd] { scope.add_reader(fd, never); }},
        };
        misuse::expect<std::system_error>(
            calls,
            "descriptor " + std::to_string(fd) + " is not open: give the number of an open one");
        try {
            loop.add_reader(fd, never);
        } catch (const std::system_error& error) {
            BOOST_TEST(error.code().value() == EBADF);
        }
        BOOST_TEST(!loop.remove_reader(fd));
        BOOST_TEST(!loop.remove_writer(fd));
        BOOST_TEST(!loop.remove_urgent_reader(fd));
        BOOST_TEST(!loop.forget_descriptor(fd));
    }
    BOOST_TEST(loop.watch_count() == 0u);
    // What has the number next is watched as ever.
    SocketPair next;
    loop.add_reader(next.mine, say("read"));
    next.send();
    loop.run_iterations(1);
    BOOST_TEST(heard() == "read");
    loop.remove_reader(next.mine);
}

// A descriptor that cannot be waited for at all, a regular file that always can, and a directory.
REACTOR_LOOP_TEST(odd_files_have_one_answer_on_every_selector) {
    const int path_only = ::open("/", O_PATH | O_CLOEXEC);
    BOOST_REQUIRE(path_only >= 0);
    const std::vector<Call> calls = {
        {"add_reader", [&] { loop.add_reader(path_only, say("no")); }},
        {"add_writer", [&] { loop.add_writer(path_only, say("no")); }},
    };
    misuse::expect<std::system_error>(calls, "is not open");
    ::close(path_only);
    const int directory = ::open("/", O_RDONLY | O_CLOEXEC);
    loop.add_reader(directory, say("ready"));
    loop.run_iterations(2);
    BOOST_TEST(heard() == "ready ready");
    loop.remove_reader(directory);
    ::close(directory);
}

REACTOR_LOOP_TEST(numbers_beyond_what_select_can_watch_are_told_by_the_call) {
    ::rlimit before;
    BOOST_REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    ::rlimit more = before;
    more.rlim_cur = before.rlim_max;
    BOOST_REQUIRE(::setrlimit(RLIMIT_NOFILE, &more) == 0);
    {
        SocketPair pair;
        const int high = ::fcntl(pair.mine, F_DUPFD_CLOEXEC, FD_SETSIZE);
        if (high < 0) {
            BOOST_TEST_MESSAGE("the hard limit of descriptors is too low for this test");
        } else if (std::string(loop.selector_name()) == "select") {
            const std::vector<Call> calls = {
                {"add_reader", [&] { loop.add_reader(high, say("no")); }},
                {"add_writer", [&] { loop.add_writer(high, say("no")); }},
                {"add_urgent_reader", [&] { loop.add_urgent_reader(high, say("no")); }},
            };
            misuse::expect<std::system_error>(calls, "use the epoll or the poll selector");
            BOOST_TEST(loop.watch_count() == 0u);
        } else {
            loop.add_reader(high, say("high"));
            pair.send();
            loop.run_iterations(1);
            BOOST_TEST(heard() == "high");
            loop.remove_reader(high);
        }
        ::close(high);
    }
    ::setrlimit(RLIMIT_NOFILE, &before);
}

REACTOR_LOOP_TEST(other_odd_arguments_are_refused_with_a_remedy) {
    const Promise<int> promise = loop.create_promise<int>();
    reactor::testing::TestLoop other_loop(loop.selector_name());
    const Promise<int> other_loops = other_loop.create_promise<int>();
    const Promise<int> done = loop.create_promise<int>();
    done.set_result(1);
    const auto nothing = [] {};
    using Calls = std::vector<Call>;
    misuse::expect<std::invalid_argument>(
        Calls{{"set_exception", [&] { promise.set_exception(nullptr); }}}, "call cancel()");
    misuse::expect<std::invalid_argument>(
        Calls{{"add_signal_handler", [&] { loop.add_signal_handler(0, nothing); }},
              {"add_signal_handler", [&] { loop.add_signal_handler(-1, nothing); }},
              {"add_signal_handler", [&] { loop.add_signal_handler(SIGRTMAX + 1, nothing); }},
              {"remove_signal_handler", [&] { loop.remove_signal_handler(0); }}},
        "give one, such as SIGINT");
    misuse::expect<reactor::StateError>(
        Calls{{"add_signal_handler", [&] { loop.add_signal_handler(SIGKILL, nothing); }}},
        "cannot be caught");
    misuse::expect<std::invalid_argument>(
        Calls{{"gather", [&] { reactor::gather(promise, other_loops); }},
              {"gather_settled", [&] { reactor::gather_settled(promise, other_loops); }}},
        "bring its outcome over with chain()");
    misuse::expect<reactor::StateError>(
        Calls{{"run_until_complete", [&] { loop.run_until_complete(other_loops); }}},
        "run that one");
    misuse::expect<reactor::InvalidStateError>(
        Calls{{"set_result", [&] { done.set_result(2); }},
              {"set_exception", [&] { done.set_exception(std::runtime_error("late")); }}},
        "ask done() first");
    misuse::expect<reactor::InvalidStateError>(
        Calls{{"result", [&] { promise.result(); }},
              {"take", [&] { promise.take(); }},
              {"error", [&] { promise.error(); }},
              {"exception", [&] { promise.exception(); }}},
        "use add_done_callback(), then() or run_until_complete()");
    BOOST_TEST(done.take() == 1);
    misuse::expect<reactor::InvalidStateError>(
        Calls{{"result", [&] { done.result(); }}, {"take", [&] { done.take(); }}},
        "or read it by result()");
    misuse::expect<std::invalid_argument>(
        Calls{{"EventLoop", [] { reactor::EventLoop{std::unique_ptr<reactor::Selector>()}; }}},
        "give one, or use the default");
    promise.cancel();
}

BOOST_AUTO_TEST_SUITE_END()
