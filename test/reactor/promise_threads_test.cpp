// SPDX-License-Identifier: BSL-1.0
#include <reactor/promise.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <reactor/task.hpp>

using reactor::EventLoop;
using reactor::Promise;
using reactor::StateError;

namespace {

using Text = Promise<std::string>;

/// What one thread hands to another.
class Queue {
public:
    void put(Text p) {
        const std::lock_guard<std::mutex> lock(mutex_);
        queue_.push_back(std::move(p));
        changed_.notify_one();
    }
    void stop() {
        const std::lock_guard<std::mutex> lock(mutex_);
        stopped_ = true;
        changed_.notify_one();
    }
    void clear() {
        const std::lock_guard<std::mutex> lock(mutex_);
        queue_.clear();
    }
    /// Empty: stopped.
    Text get() {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return stopped_ || !queue_.empty(); });
        if (queue_.empty()) return Text();
        Text p = std::move(queue_.front());
        queue_.pop_front();
        return p;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Text> queue_;
    bool stopped_ = false;
};

class Random {
public:
    explicit Random(unsigned seed) : state_(seed) {}
    unsigned below(unsigned n) {
        state_ = state_ * 1664525u + 1013904223u;
        return (state_ >> 16) % n;
    }

private:
    unsigned state_;
};

/// Counts what is alive of callbacks and checks the thread that destroys it.
class Capture {
public:
    Capture(std::atomic<int>& alive, std::atomic<int>& strays) : alive_(alive), strays_(strays) {
        ++alive_;
    }
    Capture(const Capture& other)
        : alive_(other.alive_), strays_(other.strays_), home_(other.home_) {
        ++alive_;
    }
    ~Capture() {
        if (std::this_thread::get_id() != home_) ++strays_;
        --alive_;
    }

private:
    std::atomic<int>& alive_;
    std::atomic<int>& strays_;
    std::thread::id home_ = std::this_thread::get_id();
};

/// Copies, keeps, drops and passes on what it gets.
void juggle(Queue& own, Queue& other, unsigned seed) {
    Random random(seed);
    std::vector<Text> kept;
    for (Text p = own.get(); p; p = own.get()) {
        switch (random.below(5)) {
            case 0:
                kept.push_back(p);
                break;
            case 1:
                kept.push_back(std::move(p));
                break;
            case 2: {
                const Text copy = p;
                kept.push_back(copy);
                break;
            }
            case 3:
                other.put(p);
                break;
            default:
                break;
        }
        if (kept.size() > 8) kept.erase(kept.begin() + random.below(8));
        p = Text();
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(promises_across_threads)

BOOST_AUTO_TEST_CASE(copies_and_last_drops_elsewhere_while_the_loop_runs) {
    std::atomic<int> alive{0}, strays{0};
    EventLoop loop;
    const std::size_t before = loop.core().live();
    constexpr unsigned workers = 3;
    Queue queues[workers];
    std::vector<std::thread> threads;
    for (unsigned k = 0; k < workers; ++k) {
        threads.emplace_back(juggle, std::ref(queues[k]), std::ref(queues[(k + 1) % workers]),
                             k + 1);
    }
    Random random(99);
    int left = 20000;
    std::function<void()> feed = [&] {
        for (int i = 0; i < 16 && left > 0; ++i, --left) {
            const Text p = loop.create_promise<std::string>();
            const Capture capture(alive, strays);
            p.add_done_callback([capture](const Text&) {});
            if (random.below(2) == 0) p.set_result(std::string(40, 'v'));
            Queue& to = queues[random.below(workers)];
            to.put(p);
            if (random.below(2) == 0) to.put(p);
        }
        if (left > 0) {
            loop.call_soon(std::ref(feed));
        } else {
            loop.stop();
        }
    };
    loop.call_soon(std::ref(feed));
    loop.run_forever();
    for (Queue& queue : queues) queue.stop();
    // The loop goes on while the last of them are dropped, and is woken for each batch of these.
    std::thread joiner([&] {
        for (std::thread& thread : threads) thread.join();
        loop.stop_threadsafe();
    });
    loop.run_forever();
    joiner.join();
    for (Queue& queue : queues) queue.clear();  // passed on to one who had stopped
    loop.run_once(reactor::Duration::zero());
    loop.run_once(reactor::Duration::zero());
    BOOST_TEST(alive == 0);
    BOOST_TEST(strays == 0);
    BOOST_TEST(loop.core().live() == before);
}

BOOST_AUTO_TEST_CASE(a_last_drop_elsewhere_wakes_the_sleeping_loop) {
    EventLoop loop;
    auto capture = std::make_shared<int>(1);
    const std::weak_ptr<int> gone = capture;
    std::thread dropper;
    loop.call_soon([&] {
        Text p = loop.create_promise<std::string>();
        struct StopAtEnd {
            EventLoop* loop;
            std::shared_ptr<int> capture;
            ~StopAtEnd() {
                if (capture) loop->stop();
            }
            StopAtEnd(EventLoop* l, std::shared_ptr<int> c) : loop(l), capture(std::move(c)) {}
            StopAtEnd(StopAtEnd&&) = default;
            void operator()(const Text&) {}
        };
        p.add_done_callback(StopAtEnd(&loop, std::move(capture)));
        dropper = std::thread([](Text last) { last = Text(); }, std::move(p));
    });
    loop.run_forever();  // would sleep for ever
    dropper.join();
    BOOST_TEST(gone.expired());
}

BOOST_AUTO_TEST_CASE(the_loop_may_end_before_those_who_hold_its_promises) {
    for (unsigned round = 0; round < 200; ++round) {
        std::vector<std::thread> threads;
        std::atomic<int> ready{0};
        std::atomic<bool> go{false};
        std::vector<Text> given;
        {
            EventLoop loop;
            loop.call_soon([&] {
                for (int i = 0; i < 6; ++i) {
                    given.push_back(loop.create_promise<std::string>());
                    if (i % 2 == 0) given.back().set_result(std::string(40, 'v'));
                }
                loop.stop();
            });
            loop.run_forever();
            for (int k = 0; k < 3; ++k) {
                const std::vector<Text> copies = given;
                threads.emplace_back([copies, &ready, &go] {
                    std::vector<Text> mine = copies;
                    ++ready;
                    while (!go) std::this_thread::yield();
                    mine.clear();
                });
            }
            while (ready < 3) std::this_thread::yield();
            go = true;
        }
        BOOST_TEST(given[0].result().size() == 40u);
        given.clear();
        for (std::thread& thread : threads) thread.join();
    }
}

BOOST_AUTO_TEST_CASE(everything_else_is_refused_on_another_thread_while_the_loop_runs) {
    EventLoop loop;
    const Text p = loop.create_promise<std::string>();
    std::thread stranger;
    loop.call_soon([&] {
        stranger = std::thread([&] {
            BOOST_CHECK_THROW(p.done(), StateError);
            BOOST_CHECK_THROW(p.result(), StateError);
            BOOST_CHECK_THROW(p.error(), StateError);
            BOOST_CHECK_THROW(p.cancel(), StateError);
            BOOST_CHECK_THROW(p.set_result("x"), StateError);
            BOOST_CHECK_THROW(p.add_done_callback([](const Text&) {}), StateError);
            BOOST_CHECK_THROW(p.then([](const std::string&) {}), StateError);
            BOOST_CHECK_THROW(p.except([](std::exception_ptr) { return ""; }), StateError);
            BOOST_CHECK_THROW(loop.create_promise<int>(), StateError);
            loop.stop_threadsafe();
        });
    });
    loop.run_forever();
    stranger.join();
    BOOST_TEST(!p.done());
}

// The maker may still take the loop for his own when another thread begins to run it.
BOOST_AUTO_TEST_CASE(a_task_is_shared_by_its_maker_and_the_thread_that_runs_its_loop) {
    class Turns : public reactor::Task<int> {
        reactor::Next start() override { return turn(); }
        reactor::Next turn() { return ++turns_ == 100 ? finish(turns_) : yield(&Turns::turn); }
        int turns_ = 0;
    };
    for (int round = 0; round < 50; ++round) {
        EventLoop loop;
        reactor::TaskHandle<int> task = loop.create_task<Turns>();
        std::atomic<bool> ready{false};
        std::thread runner([&loop, &ready] {
            ready = true;
            for (int i = 0; i < 110; ++i) loop.run_once(reactor::Duration::zero());
        });
        while (!ready) {
        }
        for (int i = 0; i < 200; ++i) {
            const reactor::TaskHandle<int> copy = task;
            static_cast<void>(copy);
        }
        runner.join();
        BOOST_TEST(task.result() == 100);
    }
}

BOOST_AUTO_TEST_CASE(a_loop_may_move_to_another_thread_between_runs) {
    EventLoop loop;
    Text p = loop.create_promise<std::string>();
    int ran = 0;
    p.add_done_callback([&](const Text&) { ++ran; });
    std::thread runner([&] {
        loop.call_soon([&] { p.set_result("there"); });
        BOOST_TEST(loop.run_until_complete(p) == "there");
        const Text made_there = loop.create_promise<std::string>();
        made_there.cancel();
    });
    runner.join();
    BOOST_TEST(ran == 1);
    BOOST_TEST(p.result() == "there");
    p = loop.create_promise<std::string>();
    loop.call_soon([&] { p.set_result("here"); });
    BOOST_TEST(loop.run_until_complete(p) == "here");
}

BOOST_AUTO_TEST_SUITE_END()
