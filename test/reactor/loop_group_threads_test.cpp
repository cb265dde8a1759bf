// SPDX-License-Identifier: BSL-1.0
#include <reactor/combinators.hpp>
#include <reactor/loop_group.hpp>
#include <reactor/submit.hpp>
#include <reactor/task.hpp>

#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <functional>
#include <future>
#include <string>
#include <thread>

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>

using reactor::EventLoop;
using reactor::LoopGroup;
using reactor::Promise;
using reactor::StateError;

namespace {

/// Called around the start of each thread, by the thread that starts it. False: there is no room
/// for another one.
std::function<bool()> before_thread;
std::function<void()> after_thread;

}  // namespace

/// In place of the system's, which it calls.
extern "C" int pthread_create(::pthread_t* thread, const ::pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) {
    if (before_thread && !before_thread()) return EAGAIN;
    using Create = int (*)(::pthread_t*, const ::pthread_attr_t*, void* (*)(void*), void*);
    static const Create create = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
    const int code = create(thread, attributes, start, argument);
    if (after_thread) after_thread();
    return code;
}

namespace {

struct Hooks {
    ~Hooks() {
        before_thread = nullptr;
        after_thread = nullptr;
    }
};

/// The text of what f throws.
template <class F>
std::string thrown_by(F f) {
    try {
        f();
    } catch (const std::exception& error) {
        return error.what();
    }
    return std::string();
}

const std::string ended_by_force =
    "LoopGroup: the thread of loop 1 was ended by pthread_exit() or pthread_cancel(): end the "
    "loops by stop()";

}  // namespace

BOOST_AUTO_TEST_SUITE(loop_group_threads)

// ---- ended by force -------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_thread_that_ends_itself_in_main_comes_out_of_start) {
    LoopGroup group(3);
    BOOST_TEST(thrown_by([&] {
                   group.start([](EventLoop&, std::size_t index) {
                       if (index == 1) ::pthread_exit(nullptr);
                   });
               }) == ended_by_force);
    BOOST_TEST(!group.poster(0).post([] {}));
}

BOOST_AUTO_TEST_CASE(a_thread_that_ends_itself_later_ends_all_and_comes_out_of_join) {
    LoopGroup group(3);
    group.start();
    EventLoop loop;
    const Promise<void> ended = group.wait(loop);
    group.poster(1).post([] { ::pthread_exit(nullptr); });
    BOOST_TEST(thrown_by([&] { loop.run_until_complete(ended); }) == ended_by_force);
    BOOST_TEST(thrown_by([&] { group.join(); }) == ended_by_force);
    BOOST_TEST(!group.poster(0).post([] {}));
}

BOOST_AUTO_TEST_CASE(a_thread_that_ends_itself_while_its_loop_closes) {
    struct Exiting : reactor::Task<int> {
        reactor::Next start() override {
            return await(reactor::sleep(std::chrono::hours(1)), &Exiting::slept);
        }
        reactor::Next slept() { return finish(1); }
        reactor::Next finally() override { ::pthread_exit(nullptr); }
    };
    LoopGroup group(2);
    group.start([](EventLoop& loop, std::size_t index) {
        if (index == 1) loop.create_task<Exiting>();
    });
    group.stop();
    BOOST_TEST(thrown_by([&] { group.join(); }) == ended_by_force);
}

// ---- start() --------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(joining_in_main_is_refused_before_start_knows_the_thread) {
    const Hooks hooks;
    std::promise<std::string> said;
    std::future<std::string> answer = said.get_future();
    after_thread = [&answer] { answer.wait(); };
    LoopGroup group(1);
    group.start(
        [&](EventLoop&, std::size_t) { said.set_value(thrown_by([&group] { group.join(); })); });
    BOOST_TEST(answer.get().find("wait for itself") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(who_waits_while_start_fails_hears_of_it) {
    const Hooks hooks;
    EventLoop loop;
    LoopGroup group(3);
    Promise<void> ended;
    int threads = 0;
    before_thread = [&] {
        if (++threads == 1) ended = group.wait(loop);
        return threads == 1;
    };
    const std::string error = "LoopGroup::start: thread 2 of 3: Resource temporarily unavailable";
    BOOST_TEST(thrown_by([&] { group.start(); }) == error);
    BOOST_TEST(!ended.done());
    BOOST_TEST(thrown_by([&] { loop.run_until_complete(ended); }) == error);
    BOOST_TEST(thrown_by([&] { group.join(); }) == error);
}

BOOST_AUTO_TEST_CASE(an_empty_promise_of_main_comes_out_of_start) {
    LoopGroup group(2);
    BOOST_TEST(thrown_by([&] {
                   group.start([](EventLoop& loop, std::size_t index) {
                       return index == 0 ? loop.create_promise<void>() : Promise<void>();
                   });
               }) ==
               "LoopGroup::start: the main function has returned an empty promise: return one that "
               "is made, or nothing");
}

BOOST_AUTO_TEST_CASE(by_default_there_are_as_many_as_processors_that_may_be_used) {
    ::cpu_set_t before;
    BOOST_REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
    BOOST_TEST(LoopGroup().size() == static_cast<std::size_t>(CPU_COUNT(&before)));
    std::size_t first = 0;
    while (!CPU_ISSET(first, &before)) ++first;
    ::cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    BOOST_REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
    const std::size_t size = LoopGroup().size();
    ::sched_setaffinity(0, sizeof before, &before);
    BOOST_TEST(size == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
