// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_LOOP_STATE_HPP
#define REACTOR_DETAIL_LOOP_STATE_HPP

#include <reactor/detail/inbox.hpp>
#include <reactor/detail/loop_core.hpp>
#include <reactor/detail/loop_counters.hpp>
#include <reactor/detail/observer.hpp>
#include <reactor/detail/watch_table.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/report.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

namespace reactor {
namespace detail {

/// What an EventLoop is made of, behind its header. Owned by the EventLoop, and counted as its
/// LoopCore is.
class LoopState final : public LoopCore {
public:
    LoopState(EventLoop& facade, std::unique_ptr<Selector> selector, const Clock& c);

    // ---- one iteration ----

    void run_once(Duration max_wait);

    // ---- the rest of what the loop does ----

    void close() noexcept;
    void log(LogLevel level, const std::string& text) noexcept;
    void report(const Report& report) noexcept override;
    void forget_watch(Node& node) noexcept override { watches.forget(node); }
    void watch_registered(const Node& node) noexcept override {
        observers.tell(&Observer::registered, node);
    }
    void caused_by(std::uint64_t id) noexcept override {
        if (id != 0) observers.tell(&Observer::caused_by, id);
    }

    // ---- what is measured ----

    /// How many nodes of the batch that runs now have not had their turn yet; 0 between batches.
    std::size_t left_in_batch() const noexcept;

    void set_debug(bool enabled) noexcept {
        debug = enabled;
        measured = debug || !observers.empty();
    }
    void add_observer(Observer& observer) {
        observers.add(observer);
        measured = true;
    }
    void remove_observer(const Observer& observer) noexcept {
        observers.remove(observer);
        set_debug(debug);
    }

    /// Moves into the queue what other threads have posted.
    void take_posts() noexcept;
    bool has_posts() const noexcept { return inbox->has_posts(); }

    /// Queues a callback that came from outside of call_soon().
    void push_callback(Callback& callback, ContextMapPtr&& context, const char* label);

    /// Marks the loop as running on this thread, as long as it lives.
    class Running {
    public:
        Running(LoopState& state, const char* call);
        ~Running();
        Running(const Running&) = delete;
        Running& operator=(const Running&) = delete;

    private:
        LoopState& state_;
    };

    struct Service {
        const char* type;
        std::shared_ptr<void> object;
    };

    Observers observers;
    LoopCounters counters;
    bool traced = false;
    WatchTable watches;
    std::vector<Service> services;
    ExceptionHandler exception_handler;
    LogSink sink;
    Duration slow_callback_duration;
    Duration busy_poll = Duration::zero();  // how long to look before sleeping
    bool stopping = false;
    std::atomic<bool> stop_requested{false};

private:
    class Turn;
    class Observed;

    Duration time_to_wait(Duration max_wait);
    void poll_and_collect_measured(Duration timeout);
    void poll(Duration timeout);
    bool poll_busily(Duration& timeout);
    void collect();
    void replace_wakeup() noexcept;
    void run_batch();

    void run_plain(ContextCell& cell, std::size_t end);
    void end_plain(Node* node, const CallableOps* ops, ContextCell& cell) noexcept;
    void end_watch(Node* node, ContextCell& cell) noexcept;
    void run(Node* node, ContextCell& cell, ContextCell*& slot);
    void invoke(Node* node);
    void report_exception(Node* node, std::exception_ptr error);
    void rearm(TimerNode* timer) noexcept;

    bool in_batch_ = false;
    std::size_t batch_end_ = 0;  // what was `pushed` when the batch began
};

/// The table of the loop that is behind `core`.
inline WatchTable& watches_of(LoopCore& core) noexcept {
    return static_cast<LoopState&>(core).watches;
}

}  // namespace detail
}  // namespace reactor

#endif
