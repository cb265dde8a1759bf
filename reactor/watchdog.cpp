// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/loop_state.hpp>
#include <reactor/detail/signals_blocked.hpp>
#include <reactor/watchdog.hpp>

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include <cxxabi.h>

namespace reactor {

namespace {

// Real time, whatever the loop's clock says: a test's clock stands still during a callback.
Duration::rep real_time() noexcept {
    return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

void warn(const StallWatchdog::Stall& stall) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.3f",
                  std::chrono::duration<double>(stall.lasted).count());
    log_to_standard_error(LogLevel::warning, "The event loop is blocked: " + stall.callback +
                                                 " has been running for " + seconds + " seconds");
}

}  // namespace

class StallWatchdog::Watch final : public detail::Observer {
public:
    Watch(EventLoop& loop, Duration threshold, Listener listener)
        : state_(static_cast<detail::LoopState*>(&loop.core())),
          threshold_(threshold),
          listener_(listener ? std::move(listener) : Listener(&warn)) {
        if (threshold <= Duration::zero()) {
            throw std::invalid_argument(
                "StallWatchdog: the threshold is not positive: every callback takes that long");
        }
        loop.core().check("StallWatchdog");
        if (const detail::Node* const running = state_->current) begins(*running);
        state_->add_observer(*this);
        try {
            const detail::SignalsBlocked blocked;
            thread_ = std::thread([this] { watch(); });
        } catch (...) {
            state_->remove_observer(*this);
            throw;
        }
        ::pthread_setname_np(thread_.native_handle(), "reactor-stall");
    }

    ~Watch() {
        if (state_) {
            state_->require_thread("a StallWatchdog's destructor");
            state_->remove_observer(*this);
        }
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            ended_ = true;
        }
        wake_.notify_one();
        thread_.join();
    }

    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    /// In a forked child: the thread stayed with the parent, perhaps holding the mutex, and glibc
    /// waits for it where the condition is destroyed. Nothing of that can be given back.
    bool stayed_behind() const noexcept { return ::getpid() != process_; }
    void leave() noexcept {
        if (state_) state_->remove_observer(*this);
    }

    // The loop's side. The name is stored before the time, which is never the same twice: whoever
    // reads the same time before and after the name has the name of that callback.

    void begins(const detail::Node& node) noexcept override {
        last_ = std::max(real_time(), last_ + 1);
        name_.store(node.raw_name(), std::memory_order_release);
        since_.store(last_, std::memory_order_release);
    }
    void ends() noexcept override { since_.store(idle, std::memory_order_release); }
    void polls(Duration) noexcept override { ends(); }  // it began before we were there to see
    void closes() noexcept override {
        ends();
        state_ = nullptr;
    }

private:
    static constexpr Duration::rep idle = 0;

    // The thread's side: it wakes when what runs now will have run for long enough, or what begins
    // now would have.
    void watch() {
        Duration::rep told = idle;  // the last stall
        std::unique_lock<std::mutex> lock(mutex_);
        while (!ended_) {
            const Duration::rep since = since_.load(std::memory_order_acquire);
            const Duration::rep now = real_time();
            const bool running = since != idle && since != told;
            if (running && now - since >= threshold_.count()) {
                const char* const name = name_.load(std::memory_order_acquire);
                if (since_.load(std::memory_order_relaxed) != since) continue;
                told = since;
                lock.unlock();
                tell(name, Duration(now - since));
                lock.lock();
                continue;
            }
            const TimePoint next =
                deadline_after(TimePoint(Duration(running ? since : now)), threshold_);
            // In pieces: some systems take no deadline that is centuries away.
            const TimePoint latest(Duration(now) + std::chrono::hours(24));
            wake_.wait_until(lock, std::min(next, latest));
        }
    }

    void tell(const char* name, Duration lasted) {
        try {
            Stall stall;
            stall.callback = detail::callable_text(name);
            stall.lasted = lasted;
            listener_(stall);
        } catch (const abi::__forced_unwind&) {
            throw;
        } catch (...) {
            log_to_standard_error(LogLevel::error,
                                  "Exception in the listener of a StallWatchdog\n" +
                                      describe(std::current_exception()));
        }
    }

    detail::LoopState* state_;  // null once the loop is closed
    const Duration threshold_;
    const Listener listener_;
    const ::pid_t process_ = ::getpid();
    Duration::rep last_ = idle;  // when a callback began, on the loop's thread

    std::atomic<const char*> name_{nullptr};  // a label or a type's name, which are never destroyed
    std::atomic<Duration::rep> since_{idle};

    std::mutex mutex_;
    std::condition_variable wake_;
    bool ended_ = false;
    std::thread thread_;
};

constexpr Duration::rep StallWatchdog::Watch::idle;

StallWatchdog::StallWatchdog(EventLoop& loop, Duration threshold, Listener listener, Exactly)
    : watch_(new Watch(loop, threshold, std::move(listener))) {}

StallWatchdog::~StallWatchdog() {
    if (!watch_->stayed_behind()) return;
    watch_->leave();
    static_cast<void>(watch_.release());
}

}  // namespace reactor
