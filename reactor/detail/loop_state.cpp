// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/loop_state.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <string>
#include <utility>

#include <cxxabi.h>

namespace reactor {
namespace detail {

namespace {

// asyncio's default (base_events.py): what blocks a loop for longer is felt by its users.
constexpr Duration default_slow_callback_duration = std::chrono::milliseconds(100);

// asyncio's MAXIMUM_SELECT_TIMEOUT: a day, which every system call can express.
constexpr Duration longest_wait = std::chrono::hours(24);

}  // namespace

LoopState::LoopState(EventLoop& facade, std::unique_ptr<Selector> selector, const Clock& c)
    : LoopCore(c, std::make_shared<Inbox>()),
      watches(*this, std::move(selector), inbox->wakeup()->fd()),
      slow_callback_duration(default_slow_callback_duration) {
    loop = &facade;
    inbox->belong_to(*this);
}

// ---- one iteration --------------------------------------------------------------------------

void LoopState::run_once(Duration max_wait) {
    // First: what an observer has to tell may run the log sink, which may schedule.
    if (measured) observers.tell(&Observer::polls, time_to_wait(max_wait));
    watches.flush();
    const Duration timeout = time_to_wait(max_wait);
    if (measured) {
        poll_and_collect_measured(timeout);
    } else {
        poll(timeout);
        collect();
    }
    run_batch();
}

void LoopState::poll_and_collect_measured(Duration timeout) {
    poll(timeout);
    observers.tell(&Observer::polled);
    collect();
    observers.tell(&Observer::collected);
}

Duration LoopState::time_to_wait(Duration max_wait) {
    // Removes cancelled heads.
    const TimePoint deadline = timers.empty() ? never() : timers.next_deadline();
    if (ready() != 0 || stopping || max_wait <= Duration::zero() || has_posts() ||
        watches.has_changes()) {
        return Duration::zero();
    }
    if (deadline == never()) return max_wait;
    const TimePoint now = clock->now();
    if (deadline <= now) return Duration::zero();
    // A deadline so far off that the difference overflows is beyond the longest wait as well.
    const bool far = deadline_after(now, longest_wait) <= deadline;
    return std::min(max_wait, far ? longest_wait : deadline - now);
}

/// Looks for a while without sleeping. True if that has found something; else `timeout` is less by
/// the time it took.
bool LoopState::poll_busily(Duration& timeout) {
    // Real time, since a test's clock may stand still; the rest of the time-out is the loop's.
    using Real = std::chrono::steady_clock;
    const Duration longest = std::min(busy_poll, timeout);
    const TimePoint begin = clock->now();
    const Real::time_point start = Real::now();
    do {
        watches.wait(Duration::zero());
        if (watches.found_any() || has_posts()) return true;
    } while (Real::now() - start < longest);
    if (timeout != forever()) {
        timeout = std::max(timeout - (clock->now() - begin), Duration::zero());
    }
    return false;
}

void LoopState::poll(Duration timeout) {
    if (timeout > Duration::zero() && busy_poll > Duration::zero() && poll_busily(timeout)) return;
    if (timeout <= Duration::zero() || !inbox->fall_asleep()) {
        watches.wait(Duration::zero());
        return;
    }
    struct Awake {
        Inbox& inbox;
        ~Awake() { inbox.wake_up(); }
    } awake{*inbox};
    watches.wait(timeout);
}

void LoopState::collect() {
    // The order of law 1: what was queued is queued already; then posts, descriptors, due timers.
    if (has_posts()) take_posts();
    if (stop_requested.load(std::memory_order_relaxed) &&
        stop_requested.exchange(false, std::memory_order_acquire)) {
        stopping = true;
    }
    drain_dropped();
    if (watches.found_any() && watches.dispatch() && !inbox->wakeup()->drain()) replace_wakeup();
    if (!timers.empty()) {
        const TimePoint now = clock->now();
        while (TimerNode* const timer = timers.pop_due(now)) {
            if (timer->is(NodeFlag::queued)) {
                // Rescheduled while it was in a batch that a LoopExit cut short: it still waits
                // there, and runs there now that it is due again.
                release(timer);
            } else {
                timer->set(NodeFlag::queued);
                push(timer);
            }
        }
    }
}

// Somebody has closed it, as programs do that close a descriptor twice; the number is always ready
// now, or somebody else's. The loop must neither spin nor be deaf.
void LoopState::replace_wakeup() noexcept {
    try {
        Report told("The loop's wake-up descriptor " + std::to_string(inbox->wakeup()->fd()) +
                    " was closed by somebody else");
        told.details.emplace_back("remedy",
                                  "find who closes a descriptor that is not its own, or twice");
        try {
            inbox->wakeup()->renew();
            watches.replace_wakeup(inbox->wakeup()->fd());
        } catch (...) {
            watches.replace_wakeup(-1);
            told.message += ", and there is none to replace it: other threads cannot wake the loop";
            told.exception = std::current_exception();
        }
        report(told);
    } catch (...) {
        log_to_standard_error(LogLevel::error, "The loop's wake-up descriptor was closed");
    }
}

// ---- one callback ---------------------------------------------------------------------------

void LoopState::invoke(Node* node) {
    std::exception_ptr error;
    try {
        node->ops->invoke(node->storage());
        return;
    } catch (const LoopExit&) {
        throw;
    } catch (const abi::__forced_unwind&) {
        throw;  // pthread_cancel(): swallowing it would abort the process
    } catch (...) {
        error = std::current_exception();
    }
    // Outside of the catch clause: a thread that is cancelled inside one is terminated.
    report_exception(node, std::move(error));
}

void LoopState::report_exception(Node* node, std::exception_ptr error) {
    try {
        Report report("Exception in callback " + node->name(), std::move(error));
        report.handle = HandleAccess::handle(node);
        loop->call_exception_handler(report);
    } catch (const LoopExit&) {
        throw;
    } catch (const abi::__forced_unwind&) {
        throw;
    } catch (...) {
        // Out of memory while reporting: the batch goes on all the same.
        log_to_standard_error(LogLevel::error, "Exception in callback, and no memory to report it");
    }
}

/// The end of a callback that ran once, however it ended. Nobody else takes the callable of a node
/// that runs, nor gives it a context.
inline void LoopState::end_plain(Node* node, const CallableOps* ops, ContextCell& cell) noexcept {
    current = nullptr;
    node->ops = nullptr;
    if (ops->destroy) ops->destroy(node->storage());
    if (cell.map) cell.map = nullptr;  // the snapshot, or what the callback has set
    release_here(node);
}

/// The end of a watch's turn, however it ended: it waits for the next event, unless it was
/// cancelled meanwhile.
inline void LoopState::end_watch(Node* node, ContextCell& cell) noexcept {
    current = nullptr;
    if (node->is(NodeFlag::cancelled)) {
        node->drop_callable();
        if (cell.map) cell.map = nullptr;
    } else if (cell.map) {
        node->context = cell.map.release();  // the snapshot, or what the callback has set
    }
    release(node);
}

/// Most callbacks: run once, or for an event of a descriptor, in no context but a snapshot,
/// unmeasured. Runs them as long as one follows the other: most of what a callback costs the loop
/// is in this function.
void LoopState::run_plain(ContextCell& cell, std::size_t end) {
    struct Unfinished {
        LoopState& state;
        ContextCell& cell;
        ~Unfinished() {
            Node* const node = state.current;
            if (!node) return;
            if (node->is(NodeFlag::repeating)) {
                state.end_watch(node, cell);
            } else {
                state.end_plain(node, node->ops, cell);
            }
        }
    };
    for (std::exception_ptr error;; error = nullptr) {
        const Unfinished unfinished{*this, cell};
        try {
            // The queue is not empty before the batch has ended.
            for (std::size_t at = popped; at != end;) {
                Node* const node = head;
                const CallableOps* const ops = node->ops;
                if (measured || !ops) return;
                const bool watch = !node->runs_plainly();
                if (watch && !node->watches_plainly()) return;
                Node* const following = node->next;
                head = following;
                if (!following) tail = &head;
                popped = ++at;
                current = node;
                if (node->context) {
                    // set() in the callback works on the snapshot where it is current.
                    cell.map = ContextMapPtr::adopt(static_cast<ContextMap*>(node->context));
                    node->context = nullptr;
                }
                if (watch) {
                    node->clear(NodeFlag::queued);  // an event may queue it anew from here on
                    ops->invoke(node->storage());
                    end_watch(node, cell);
                } else {
                    ops->invoke(node->storage());
                    end_plain(node, ops, cell);
                }
            }
            return;
        } catch (const LoopExit&) {
            throw;
        } catch (const abi::__forced_unwind&) {
            throw;  // pthread_cancel(): swallowing it would abort the process
        } catch (...) {
            error = std::current_exception();
        }
        // Outside of the catch clause: a thread that is cancelled inside one is terminated.
        report_exception(current, std::move(error));
    }
}

/// The state of a node around its call, restored however the call ends.
class LoopState::Turn {
public:
    Turn(LoopState& state, Node* node, ContextCell& cell, ContextCell*& slot) noexcept
        : state_(state), node_(node), cell_(cell), slot_(slot) {
        state.current = node;
        if (!node->context) return;
        if (node->is(NodeFlag::explicit_context)) {
            ContextCell* const own = static_cast<ContextCell*>(node->context);
            own->entered = true;
            slot_ = own;
        } else {
            // The snapshot moves to where set() works on it; a watch gets it back, changed.
            cell_.map = ContextMapPtr::adopt(static_cast<ContextMap*>(node->context));
            node->context = nullptr;
        }
    }

    ~Turn() {
        state_.current = nullptr;
        const bool again = node_->is(NodeFlag::repeating) && !node_->is(NodeFlag::cancelled);
        if (node_->is(NodeFlag::explicit_context) && node_->context) {
            static_cast<ContextCell*>(node_->context)->entered = false;
            slot_ = &cell_;
        } else if (cell_.map && again) {
            node_->context = cell_.map.release();
        }
        if (again) {
            if (node_->kind() == NodeKind::timer) state_.rearm(static_cast<TimerNode*>(node_));
        } else {
            node_->drop_callable();
        }
        if (cell_.map) cell_.map = nullptr;
        state_.release(node_);
    }

    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

private:
    LoopState& state_;
    Node* node_;
    ContextCell& cell_;
    ContextCell*& slot_;
};

/// What the observers see of a callback. Its end comes after the callable's: what the destructors
/// of captures queue was queued by this callback, too.
class LoopState::Observed {
public:
    Observed(LoopState& state, const Node& node) noexcept : state_(state) {
        if (state.measured) state.observers.tell(&Observer::begins, node);
    }
    ~Observed() {
        if (state_.measured) state_.observers.tell(&Observer::ends);
    }
    Observed(const Observed&) = delete;
    Observed& operator=(const Observed&) = delete;

private:
    LoopState& state_;
};

void LoopState::run(Node* node, ContextCell& cell, ContextCell*& slot) {
    node->clear(NodeFlag::queued);
    // Cancelled since it was queued, or a timer that was given a new deadline since it was due.
    if (!node->ops || (node->kind() == NodeKind::timer && static_cast<TimerNode*>(node)->armed())) {
        ++counters.passed_over;
        if (measured) observers.tell(&Observer::passes);
        release(node);
        return;
    }
    const Observed observed(*this, *node);
    const bool blocked = node->is(NodeFlag::explicit_context) && node->context &&
                         static_cast<ContextCell*>(node->context)->entered;
    if (blocked) {
        // The loop itself runs inside Context::run() of that very context.
        {
            Report report("Callback not run: its context is entered already");
            report.handle = HandleAccess::handle(node);
            this->report(report);
        }
        // The handler of the report may have cancelled or rescheduled it.
        TimerNode* const timer =
            node->kind() == NodeKind::timer ? static_cast<TimerNode*>(node) : nullptr;
        const bool again = node->is(NodeFlag::repeating) && !node->is(NodeFlag::cancelled);
        if (timer && again) rearm(timer);
        if (!again && !(timer && timer->armed())) node->drop_callable();
        release(node);
        return;
    }
    const Turn turn(*this, node, cell, slot);
    if (!debug) {
        invoke(node);
        return;
    }
    const TimePoint begin = clock->now();
    const std::string name = node->name();
    invoke(node);
    const Duration took = clock->now() - begin;
    if (took >= slow_callback_duration) {
        char seconds[32];
        std::snprintf(seconds, sizeof seconds, "%.3f", std::chrono::duration<double>(took).count());
        log(LogLevel::warning, "Executing " + name + " took " + seconds + " seconds");
    }
}

void LoopState::run_batch() {
    ContextCell cell;
    ContextCell*& slot = *context_slot;
    struct Restore {
        LoopState& state;
        ContextCell*& slot;
        ContextCell* before;
        ~Restore() {
            slot = before;
            // A callback that has called an observer in was not seen to begin.
            if (state.measured) state.observers.tell(&Observer::ends);
            if (!state.in_batch_) return;
            state.counters.taken -= state.left_in_batch();  // an exception leaves them queued
            state.in_batch_ = false;
        }
    } restore{*this, slot, slot};
    slot = &cell;
    in_batch_ = true;
    ++counters.iterations;
    counters.taken += ready();
    counters.longest_batch = std::max(counters.longest_batch, ready());
    // Exactly what is ready now: what these callbacks queue belongs to the next iteration.
    const std::size_t end = batch_end_ = pushed;
    while (popped != end) {
        run_plain(cell, end);
        if (popped != end) run(pop(), cell, slot);
    }
    in_batch_ = false;
}

std::size_t LoopState::left_in_batch() const noexcept {
    return in_batch_ ? batch_end_ - popped : 0;
}

void LoopState::rearm(TimerNode* timer) noexcept {
    if (timer->armed()) return;  // its callback has rescheduled it
    const Duration period = timer->period;
    TimePoint next = deadline_after(timer->when, period);
    const TimePoint now = clock->now();
    if (next <= now) {
        // Unsigned, since reschedule() may have put the grid's origin so far back that the
        // difference is beyond what a signed one can hold.
        const std::uint64_t step = static_cast<std::uint64_t>(period.count());
        const std::uint64_t late = static_cast<std::uint64_t>(now.time_since_epoch().count()) -
                                   static_cast<std::uint64_t>(next.time_since_epoch().count());
        const std::uint64_t room = (std::numeric_limits<std::uint32_t>::max)() - timer->missed;
        timer->missed += static_cast<std::uint32_t>(std::min(late / step + 1, room));
        next = deadline_after(now, Duration(static_cast<Duration::rep>(step - late % step)));
    }
    try {
        timers.arm(timer, next);
    } catch (...) {
        report(Report("A call_every() timer ends: no memory to arm it", std::current_exception()));
    }
}

// ---- posts ----------------------------------------------------------------------------------

void LoopState::push_callback(Callback& callback, ContextMapPtr&& context, const char* label) {
    Node* const node = take(NodeKind::soon, room_for(callback.size()));
    node->ops = callback.move_to(node->storage());
    node->context = context.release();
    node->label = label;
    push(node);
}

void LoopState::take_posts() noexcept {
    const NodeList posts = inbox->take(posts_run);
    if (!posts.first) return;
    append(posts.first, posts.last, posts.count);
    posts_out += posts.count;
    counters.posts += posts.count;
}

std::vector<const void*> LoopCore::blocks_of_posts() const {
    std::vector<const void*> blocks;
    inbox->for_each_block([&blocks](const void* block) { blocks.push_back(block); });
    return blocks;
}

// ---- running, closing, reporting ------------------------------------------------------------

void LoopState::report(const Report& report) noexcept {
    try {
        if (loop) {
            loop->call_exception_handler(report);
        } else {
            log_to_standard_error(LogLevel::error, report.text());
        }
    } catch (...) {
        log(LogLevel::error, "LoopExit thrown by the exception handler outside of a callback");
    }
}

void LoopState::log(LogLevel level, const std::string& text) noexcept {
    try {
        if (sink) {
            const LogSink now = sink;  // it may replace itself
            now(level, text);
            return;
        }
    } catch (...) {
        // A sink that fails must not take the record with it.
    }
    log_to_standard_error(level, text);
}

void LoopState::close() noexcept {
    closed.store(true, std::memory_order_release);
    home.store(nullptr, std::memory_order_relaxed);
    observers.close();
    measured = debug;
    inbox->close();
    while (Node* const node = pop()) {
        node->drop_callable();
        release(node);
    }
    while (Node* const timer = timers.pop_any()) {
        timer->drop_callable();
        release(timer);
    }
    // The epoll set goes before the descriptors of services do: none is closed while registered.
    watches.close();
    abandon_promises();
    while (!services.empty()) {
        const std::shared_ptr<void> last = std::move(services.back().object);
        services.pop_back();
    }
    drain_dropped();
}

}  // namespace detail
}  // namespace reactor
