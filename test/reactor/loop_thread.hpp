// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_REACTOR_LOOP_THREAD_HPP
#define REACTOR_TEST_REACTOR_LOOP_THREAD_HPP

#include <reactor/event_loop.hpp>
#include <reactor/selector.hpp>

#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

/// A loop that runs on a thread of its own, and is closed and destroyed there. The test's thread
/// alone talks to Boost.Test.
class LoopThread {
public:
    explicit LoopThread(const std::string& selector) {
        std::promise<reactor::EventLoop*> made;
        std::future<reactor::EventLoop*> loop = made.get_future();
        thread_ = std::thread([this, selector, &made] {
            reactor::EventLoop own(reactor::make_selector(selector));
            own.set_exception_handler([this](reactor::EventLoop&, const reactor::Report& report) {
                reports_.push_back(report.message);
            });
            made.set_value(&own);
            own.run_forever();
        });
        loop_ = loop.get();
    }
    LoopThread(const LoopThread&) = delete;
    LoopThread& operator=(const LoopThread&) = delete;
    ~LoopThread() { end(); }

    reactor::EventLoop& loop() { return *loop_; }

    /// Calls f in the loop, waits for it, and gives what it returns.
    template <class F>
    auto call(F f) -> decltype(f()) {
        std::packaged_task<decltype(f())()> task(std::move(f));
        auto result = task.get_future();
        loop_->call_soon_threadsafe([&task] { task(); });
        return result.get();
    }
    /// Lets what the loop has queued run, and what that queues.
    void settle() {
        for (int i = 0; i < 4; ++i) call([] {});
    }

    /// Stops and closes the loop, and gives what was reported.
    std::vector<std::string> end() {
        if (thread_.joinable()) {
            loop_->stop_threadsafe();
            thread_.join();
        }
        return reports_;
    }

private:
    std::thread thread_;
    reactor::EventLoop* loop_ = nullptr;
    std::vector<std::string> reports_;  // the loop's thread's, until that has ended
};

#endif
