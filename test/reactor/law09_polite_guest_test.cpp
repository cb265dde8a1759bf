// SPDX-License-Identifier: BSL-1.0
#include <reactor/runner.hpp>

#include <boost/test/unit_test.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <reactor/combinators.hpp>
#include <reactor/executor.hpp>
#include <reactor/scope.hpp>
#include <reactor/signals.hpp>

#include "forked.hpp"
#include <test/support/loop_test.hpp>

using namespace support;
using reactor::Duration;
using reactor::EventLoop;
using reactor::testing::open_descriptors;

namespace {

/// The entries of a directory of /proc/self that are numbers, but for the one that lists it.
std::vector<int> numbers_in(const char* path) {
    std::vector<int> numbers;
    ::DIR* const directory = ::opendir(path);
    BOOST_REQUIRE(directory);
    while (const ::dirent* const entry = ::readdir(directory)) {
        const int number = std::atoi(entry->d_name);
        if (entry->d_name[0] != '.' && number != ::dirfd(directory)) numbers.push_back(number);
    }
    ::closedir(directory);
    return numbers;
}
std::size_t threads() { return numbers_in("/proc/self/task").size(); }

/// All that a process has only once.
struct ProcessState {
    ProcessState() {
        for (int signal = 1; signal < NSIG; ++signal) {
            struct ::sigaction now = {};
            ::sigaction(signal, nullptr, &now);
            handlers.push_back(now.sa_handler);
        }
        ::sigset_t blocked;
        ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
        for (int signal = 1; signal < NSIG; ++signal)
            mask.push_back(::sigismember(&blocked, signal));
    }
    bool operator==(const ProcessState& other) const {
        return handlers == other.handlers && mask == other.mask && descriptors == other.descriptors;
    }
    std::vector<void (*)(int)> handlers;
    std::vector<int> mask;
    std::size_t descriptors = open_descriptors();
};

/// Something of everything, on a loop that may be any.
void use(EventLoop& loop) {
    SocketPair pair;
    pair.send();
    loop.add_reader(pair.mine, [&] { pair.receive(); });
    loop.add_writer(pair.mine, [&] { loop.remove_writer(pair.mine); });
    loop.call_soon([] {});
    loop.call_every(milliseconds(1), [] {});
    std::thread other([&loop] { loop.call_soon_threadsafe([] {}); });
    loop.run_until_complete(reactor::sleep(loop, milliseconds(3)));
    other.join();
    loop.forget_descriptor(pair.mine);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(law09_polite_guest)

BOOST_AUTO_TEST_CASE_TEMPLATE(nothing_is_left_behind, OnSelector, EverySelector) {
    { EventLoop first; }  // what the C++ library sets up once
    const ProcessState before;
    {
        EventLoop loop(reactor::make_selector(OnSelector::name()));
        use(loop);
        loop.add_signal_handler(SIGUSR1, [] {});
        BOOST_TEST(!(ProcessState() == before));  // so that this test sees something
    }
    BOOST_TEST((ProcessState() == before));
    {
        reactor::Runner runner;
        runner.run([](EventLoop& loop) { return reactor::sleep(loop, milliseconds(1)); });
    }
    BOOST_TEST((ProcessState() == before));
}

BOOST_AUTO_TEST_CASE(sigpipe_stays_what_it_was) {
    struct ::sigaction now;
    EventLoop loop;
    use(loop);
    ::sigaction(SIGPIPE, nullptr, &now);
    BOOST_TEST((now.sa_handler == SIG_DFL));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(every_descriptor_is_closed_on_exec, OnSelector, EverySelector) {
    const auto before = numbers_in("/proc/self/fd");
    EventLoop loop(reactor::make_selector(OnSelector::name()));
    loop.add_signal_handler(SIGUSR1, [] {});
    use(loop);
    int ours = 0;
    for (const int fd : numbers_in("/proc/self/fd")) {
        if (std::find(before.begin(), before.end(), fd) != before.end()) continue;
        ++ours;
        BOOST_TEST((::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    }
    BOOST_TEST(ours >= 2);  // two wake-ups at least
}

BOOST_AUTO_TEST_CASE(no_thread_before_it_is_needed) {
    on_another_thread([] {});  // a sanitizer may start its own with the first one
    const std::size_t before = threads();
    EventLoop loop;
    loop.run_until_complete(reactor::sleep(loop, milliseconds(1)));
    loop.add_signal_handler(SIGUSR1, [] {});
    reactor::ThreadPool pool(4);
    reactor::default_executor(loop);
    loop.run_until_complete(reactor::shutdown_default_executor(loop));
    BOOST_TEST(threads() == before);
    loop.run_until_complete(run_in_executor(loop, pool, [] {}));
    BOOST_TEST(threads() == before + 1);
    loop.run_until_complete(pool.shutdown(loop));
    while (threads() != before) std::this_thread::yield();  // its end is the system's
}

// The child has the parent's epoll set and wake-up: a removal there would be one here.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_forked_child_leaves_the_parents_registrations, OnSelector,
                              EverySelector) {
    for (const bool by_close : {true, false}) {
        SocketPair pair;
        std::unique_ptr<EventLoop> loop(new EventLoop(reactor::make_selector(OnSelector::name())));
        std::unique_ptr<reactor::Scope> scope(new reactor::Scope(*loop));
        int read = 0;
        loop->add_reader(pair.mine, [&] {
            ++read;
            pair.receive();
        });
        scope->add_writer(pair.mine, [] {});
        loop->run_once(Duration::zero());
        const Forked child = forked([&] {
            scope.reset();
            loop->remove_reader(pair.mine);
            loop->forget_descriptor(pair.mine);
            pair.close_mine();
            if (by_close) loop->close();
            loop.reset();
        });
        BOOST_TEST(child.status == 0);
        BOOST_TEST(child.errors == "");
        pair.send();
        scope->clear();
        loop->run_once(milliseconds(1000));
        BOOST_TEST(read == 1);
        loop->remove_reader(pair.mine);
        bool posted = false;
        on_another_thread([&] { loop->call_soon_threadsafe([&] { posted = true; }); });
        loop->run_once();
        BOOST_TEST(posted);
    }
}

BOOST_AUTO_TEST_CASE(a_forked_child_may_end_a_loop_whose_pool_is_at_work) {
    EventLoop loop;
    std::atomic<bool> end{false};
    const auto job = loop.run_in_executor([&end] {
        while (!end) std::this_thread::yield();
    });
    const Forked child = forked([&] {
        loop.close();  // has none of the threads, and must not wait for one
    });
    BOOST_TEST(child.status == 0);
    end = true;
    loop.run_until_complete(job);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_loop_inside_a_foreign_loop, OnSelector, EverySelector) {
    EventLoop loop(reactor::make_selector(OnSelector::name()));
    SocketPair pair;
    std::string log;
    loop.add_reader(pair.mine, [&] { log += pair.receive(); });
    loop.call_later(milliseconds(1), [&] { log += "t"; });
    bool sent = false;
    while (log.size() < 2) {  // the host's own loop
        if (!sent) pair.send("r");
        sent = true;
        loop.run_once(Duration::zero());
        BOOST_TEST(!loop.is_running());
        BOOST_TEST((reactor::running_loop() == nullptr));
    }
    BOOST_TEST(log == "rt");
    loop.remove_reader(pair.mine);
}

BOOST_AUTO_TEST_CASE(several_loops_in_one_process) {
    EventLoop first;
    EventLoop second(reactor::make_selector("poll"));
    std::string log;
    first.call_soon([&] { log += "1"; });
    second.call_soon([&] { log += "2"; });
    second.run_once(Duration::zero());
    first.run_once(Duration::zero());
    BOOST_TEST(log == "21");
    std::vector<std::thread> others;
    std::atomic<int> done{0};
    for (int i = 0; i < 4; ++i) {
        others.emplace_back([&done] {
            EventLoop own;
            own.run_until_complete(reactor::sleep(own, milliseconds(1)));
            if (own.run_until_complete(own.run_in_executor([] { return 1; })) == 1) ++done;
        });
    }
    for (std::thread& other : others) other.join();
    BOOST_TEST(done.load() == 4);
}

BOOST_AUTO_TEST_SUITE_END()
