// SPDX-License-Identifier: BSL-1.0
#include <reactor/combinators.hpp>
#include <reactor/loop_group.hpp>
#include <reactor/submit.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>

#include "forked.hpp"

using reactor::CancelledError;
using reactor::EventLoop;
using reactor::LoopExit;
using reactor::LoopGroup;
using reactor::Poster;
using reactor::Promise;
using reactor::RunnerOptions;
using reactor::StateError;
using std::chrono::hours;

namespace {

/// How many more threads the process can start; negative: any number.
std::atomic<int> threads_left{-1};

}  // namespace

/// In place of the system's, which it calls: a machine that has no room for another thread.
extern "C" int pthread_create(::pthread_t* thread, const ::pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) {
    if (threads_left == 0) return EAGAIN;
    if (threads_left > 0) --threads_left;
    using Create = int (*)(::pthread_t*, const ::pthread_attr_t*, void* (*)(void*), void*);
    static const Create create = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
    return create(thread, attributes, start, argument);
}

namespace {

/// Checks at its end that the process has the descriptors and threads that it had before.
struct NothingLeft {
    ~NothingLeft() {
        BOOST_TEST(entries("/proc/self/fd") == descriptors);
        BOOST_TEST(entries("/proc/self/task") == threads);
    }
    static int entries(const char* path) {
        ::DIR* const directory = ::opendir(path);
        BOOST_REQUIRE(directory);
        int count = 0;
        while (::readdir(directory)) ++count;
        ::closedir(directory);
        return count;
    }
    // With the first thread ThreadSanitizer starts one of its own.
    const bool has_started_one = (std::thread([] {}).join(), true);
    const int descriptors = entries("/proc/self/fd");
    const int threads = entries("/proc/self/task");
};

/// What the loops' threads tell the test's.
class Heard {
public:
    void operator()(const std::string& word) {
        const std::lock_guard<std::mutex> lock(mutex_);
        words_.insert(word);
    }
    std::multiset<std::string> words() const {
        const std::lock_guard<std::mutex> lock(mutex_);
        return words_;
    }
    std::string text() const {
        std::string all;
        for (const std::string& word : words()) all += (all.empty() ? "" : " ") + word;
        return all;
    }

private:
    mutable std::mutex mutex_;
    std::multiset<std::string> words_;
};

std::string number(std::size_t index) { return std::to_string(index); }

/// Waits on its loop until it is cancelled, and for one iteration longer.
class Waiting : public reactor::Task<int> {
public:
    Waiting(Heard& heard, std::string name) : heard_(heard), name_(std::move(name)) {}

private:
    reactor::Next start() override { return await(reactor::sleep(hours(1)), &Waiting::slept); }
    reactor::Next slept() { return finish(1); }
    reactor::Next finally() override { return yield(&Waiting::clean); }
    reactor::Next clean() {
        heard_(name_);
        return end();
    }

    Heard& heard_;
    std::string name_;
};

/// The text of what f throws.
template <class F>
std::string thrown_by(F f) {
    try {
        f();
    } catch (const std::exception& error) {
        return error.what();
    } catch (const LoopExit& exit) {
        return "exit " + std::to_string(exit.code());
    } catch (const CancelledError&) {
        return "cancelled";
    }
    return std::string();
}

/// A step that fails on loop 1.
void fail_on_one(EventLoop&, std::size_t index) {
    if (index == 1) throw std::runtime_error("no");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(loop_group)

BOOST_AUTO_TEST_CASE(each_loop_is_made_run_and_closed_on_a_thread_of_its_own) {
    const NothingLeft nothing_left;
    LoopGroup group(3);
    BOOST_TEST(group.size() == 3u);
    std::thread::id threads[3];
    EventLoop* loops[3] = {};
    group.start([&](EventLoop& loop, std::size_t index) {
        threads[index] = std::this_thread::get_id();
        loops[index] = &loop;
    });
    for (std::size_t i = 0; i < 3; ++i) {
        BOOST_TEST((threads[i] != std::this_thread::get_id()));
        BOOST_TEST((threads[i] != threads[(i + 1) % 3]));
        BOOST_TEST(loops[i]->is_running());
        BOOST_TEST((submit(group.poster(i), [] { return &reactor::get_running_loop(); }).take() ==
                    loops[i]));
    }
    group.stop();
    group.join();
    BOOST_TEST(!group.poster(0).post([] {}));
}

BOOST_AUTO_TEST_CASE(the_destructor_stops_and_joins) {
    const NothingLeft nothing_left;
    Heard heard;
    {
        LoopGroup group(2);
        group.start([&](EventLoop& loop, std::size_t index) {
            loop.create_task<Waiting>(heard, "task" + number(index));
        });
        LoopGroup never_started(2);
        never_started.stop();
        never_started.join();
    }
    BOOST_TEST(heard.text() == "task0 task1");
}

BOOST_AUTO_TEST_CASE(posts_go_to_one_loop_and_to_each_in_turn) {
    LoopGroup group(2);
    BOOST_TEST(!group.next().post([] {}));
    group.start();
    const Poster first = group.next();
    const auto thread = [] { return std::this_thread::get_id(); };
    const std::thread::id one = submit(group.next(), thread).take();
    const std::thread::id other = submit(group.next(), thread).take();
    BOOST_TEST((one != other));
    BOOST_TEST((submit(group.next(), thread).take() == one));
    BOOST_CHECK_THROW(group.poster(2), std::out_of_range);
    BOOST_CHECK_THROW(group.start(), StateError);
}

BOOST_AUTO_TEST_CASE(each_loop_has_its_own_copy_of_main_destroyed_on_its_thread) {
    struct Sentinel {
        explicit Sentinel(Heard& h) : heard(h) {}
        ~Sentinel() { heard(std::this_thread::get_id() == made_on ? "here" : "elsewhere"); }
        Heard& heard;
        const std::thread::id made_on = std::this_thread::get_id();
    };
    struct Main {
        Heard* heard;
        int calls;
        std::shared_ptr<Sentinel> kept;
        void operator()(EventLoop&, std::size_t) {
            kept = std::make_shared<Sentinel>(*heard);
            (*heard)("call " + std::to_string(++calls));
        }
    };
    Heard heard;
    LoopGroup group(2);
    group.start(Main{&heard, 0, nullptr});
    group.stop();
    group.join();
    BOOST_TEST(heard.text() == "call 1 call 1 here here");
}

BOOST_AUTO_TEST_CASE(stop_cancels_the_main_tasks_first_and_then_the_others) {
    Heard heard;
    std::atomic<int> others{0};
    LoopGroup group(2);
    group.start([&](EventLoop& loop, std::size_t index) {
        loop.create_task<Waiting>(heard, "other" + number(index))
            .add_done_callback([&others](const Promise<int>&) { ++others; });
        return loop.create_task<Waiting>(heard, "main" + number(index));
    });
    group.stop();
    group.stop();
    group.join();
    BOOST_TEST(heard.text() == "main0 main1 other0 other1");
}

BOOST_AUTO_TEST_CASE(a_main_task_that_ends_by_itself_ends_its_loop_alone) {
    LoopGroup group(2);
    group.start([&](EventLoop&, std::size_t index) {
        return index == 0 ? reactor::sleep(hours(0)) : reactor::sleep(hours(1));
    });
    while (group.poster(0).post([] {})) std::this_thread::yield();
    BOOST_TEST(submit(group.poster(1), [] { return 7; }).take() == 7);
    group.stop();
    group.join();
}

BOOST_AUTO_TEST_CASE(the_main_promise_is_cancelled_on_a_loop_that_begins_late) {
    LoopGroup group(2);
    group.start([&](EventLoop&, std::size_t index) {
        if (index == 0) group.stop();
    });
    group.join();
}

// ---- errors ---------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(what_main_throws_comes_out_of_start) {
    const NothingLeft nothing_left;
    LoopGroup group(3);
    BOOST_TEST(thrown_by([&] { group.start(fail_on_one); }) == "no");
    BOOST_TEST(!group.poster(0).post([] {}));
    BOOST_TEST(thrown_by([&] { group.join(); }) == "no");
    BOOST_CHECK_THROW(group.start(), StateError);
}

BOOST_AUTO_TEST_CASE(a_loop_that_cannot_be_made_comes_out_of_start) {
    const NothingLeft nothing_left;
    std::atomic<int> made{0};
    RunnerOptions options;
    options.loop_factory = [&made]() -> std::unique_ptr<EventLoop> {
        if (++made == 2) throw std::system_error(EMFILE, std::system_category(), "loop");
        return reactor::new_event_loop();
    };
    LoopGroup group(2, options);
    BOOST_TEST(thrown_by([&] { group.start(); }) == "loop: Too many open files");
}

BOOST_AUTO_TEST_CASE(a_thread_that_cannot_be_started_comes_out_of_start) {
    const NothingLeft nothing_left;
    Heard heard;
    LoopGroup group(4);
    threads_left = 2;
    const std::string error = thrown_by([&] {
        group.start(
            [&](EventLoop& loop, std::size_t) { loop.create_task<Waiting>(heard, "task"); });
    });
    threads_left = -1;
    BOOST_TEST(error == "LoopGroup::start: thread 3 of 4: Resource temporarily unavailable");
    BOOST_TEST(heard.text() == "task task");
    BOOST_TEST(!group.poster(0).post([] {}));
}

BOOST_AUTO_TEST_CASE(what_leaves_one_loop_ends_all_and_comes_out_of_join) {
    const NothingLeft nothing_left;
    Heard heard;
    LoopGroup group(2);
    group.start([&](EventLoop& loop, std::size_t index) {
        loop.create_task<Waiting>(heard, "task" + number(index));
    });
    group.poster(1).post([] { throw LoopExit(5); });
    BOOST_TEST(thrown_by([&] { group.join(); }) == "exit 5");
    BOOST_TEST(thrown_by([&] { group.join(); }) == "exit 5");
    BOOST_TEST(heard.text() == "task0 task1");
}

BOOST_AUTO_TEST_CASE(a_main_promise_that_fails_ends_all) {
    LoopGroup group(2);
    std::promise<Promise<void>> second;
    group.start([&](EventLoop& loop, std::size_t index) {
        const Promise<void> main = loop.create_promise<void>();
        if (index == 1) second.set_value(main);
        return main;
    });
    const Promise<void> main = second.get_future().get();
    group.poster(1).post([main] { main.set_exception(std::runtime_error("failed")); });
    BOOST_TEST(thrown_by([&] { group.join(); }) == "failed");
}

BOOST_AUTO_TEST_CASE(a_main_promise_that_somebody_else_cancels_is_an_error) {
    LoopGroup group(2);
    group.start([&](EventLoop& loop, std::size_t index) {
        const Promise<void> main = loop.create_promise<void>();
        if (index == 1) loop.call_soon([main] { main.cancel(); });
        return main;
    });
    BOOST_TEST(thrown_by([&] { group.join(); }) == "cancelled");
}

BOOST_AUTO_TEST_CASE(what_a_callback_throws_is_for_the_exception_handler) {
    LoopGroup group(1);
    Heard heard;
    group.start([&](EventLoop& loop, std::size_t) {
        loop.set_exception_handler([&](EventLoop&, const reactor::Report& report) {
            heard(reactor::describe(report.exception));
        });
    });
    group.poster(0).post([] { throw std::runtime_error("mine"); });
    BOOST_TEST(submit(group.poster(0), [] { return 7; }).take() == 7);
    BOOST_TEST(heard.text() == "mine");
    // A handler decides that it ends all.
    submit(group.poster(0), [] {
        reactor::get_running_loop().set_exception_handler(
            [](EventLoop&, const reactor::Report&) { throw LoopExit(3); });
    }).take();
    group.poster(0).post([] { throw std::runtime_error("mine"); });
    BOOST_TEST(thrown_by([&] { group.join(); }) == "exit 3");
}

// ---- waiting --------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_loop_that_is_none_of_them_waits_for_the_end) {
    LoopGroup group(2);
    EventLoop loop;
    BOOST_CHECK_THROW(group.wait(loop), StateError);
    group.start();
    const Promise<void> ended = group.wait(loop);
    loop.run_once(reactor::Duration::zero());
    BOOST_TEST(!ended.done());
    group.stop();
    loop.run_until_complete(ended);
    loop.run_until_complete(group.wait(loop));
    group.join();
}

BOOST_AUTO_TEST_CASE(a_loop_that_waits_hears_of_the_error) {
    LoopGroup group(2);
    EventLoop loop;
    group.start();
    const Promise<void> ended = group.wait(loop);
    group.poster(0).post([] { throw LoopExit(4); });
    BOOST_TEST(thrown_by([&] { loop.run_until_complete(ended); }) == "exit 4");
    BOOST_TEST(thrown_by([&] { loop.run_until_complete(group.wait(loop)); }) == "exit 4");
}

BOOST_AUTO_TEST_CASE(joining_on_a_thread_of_its_own_is_refused) {
    LoopGroup group(1);
    group.start();
    const auto join = [&group] { return thrown_by([&group] { group.join(); }); };
    BOOST_TEST(submit(group.poster(0), join).take().find("wait for itself") != std::string::npos);
}

// ---- a polite guest -------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(its_threads_have_names_and_take_no_signals) {
    LoopGroup group(2, RunnerOptions(), "a-name-that-is-long");
    group.start();
    const auto look = [] {
        char name[16];
        ::pthread_getname_np(::pthread_self(), name, sizeof name);
        ::sigset_t blocked;
        ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
        return std::string(name) + (::sigismember(&blocked, SIGTERM) ? " blocked" : " open");
    };
    BOOST_TEST(submit(group.poster(0), look).take() == "a-name-that-i-0 blocked");
    BOOST_TEST(submit(group.poster(1), look).take() == "a-name-that-i-1 blocked");
}

BOOST_AUTO_TEST_CASE(a_forked_child_only_forgets_it) {
    std::unique_ptr<LoopGroup> group(new LoopGroup(2));
    group->start();
    const Forked child = forked([&] { group.reset(); });
    BOOST_TEST(child.status == 0);
    BOOST_TEST(submit(group->poster(1), [] { return 7; }).take() == 7);
}

BOOST_AUTO_TEST_SUITE_END()
