// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_EVENT_LOOP_HPP
#define REACTOR_EVENT_LOOP_HPP

#include <reactor/callback.hpp>
#include <reactor/clock.hpp>
#include <reactor/detail/loop_core.hpp>
#include <reactor/error.hpp>
#include <reactor/handle.hpp>
#include <reactor/report.hpp>
#include <reactor/selector.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace reactor {

class Poster;
template <class T>
class Promise;
template <class R>
class TaskHandle;

namespace detail {

class Inbox;
class LoopState;
class SubmissionBase;

struct PromiseState;
void run_until_done(EventLoop& loop, PromiseState& state, const char* call);

template <class S>
struct ResultOfTask;
template <class F, class... A>
struct ExecutorResult;

template <class F>
using NotOptions =
    typename std::enable_if<!std::is_same<typename std::decay<F>::type, Options>::value>::type;

}  // namespace detail

/// Runs callbacks, one after the other, when what they wait for has come: a turn of the queue, a
/// time, a descriptor, another thread. asyncio: AbstractEventLoop.
///
/// Owned by whoever makes it; usually a local of main(). It belongs to one thread: the one that
/// runs it while it runs, and at other times to one thread at a time, which the program sees to;
/// handing it over includes the last drops of its promises, until the new thread's run has begun.
/// Free from any thread: call_soon_threadsafe, poster, stop_threadsafe, is_running, is_closed,
/// time. Every other call throws StateError on the wrong thread, and names itself.
///
/// All callbacks go through one queue, in the order in which they became due; none is ever called
/// inside the function that caused it. An iteration polls once and runs exactly what is ready:
///
///     prune timers, time to wait ─> poll ─> posts, descriptors, due timers into the queue ─> run
///
/// Callables and their arguments are bound as std::thread binds them. Calls that run once move the
/// arguments into the call; watches and call_every, which run many times, pass lvalues.
class EventLoop {
public:
    /// On the default selector (see default_selector()) and the steady clock. Throws
    /// std::system_error if the system has no descriptors left, and std::invalid_argument if
    /// REACTOR_SELECTOR names no selector.
    EventLoop();
    /// On a selector of the caller's choice, and a clock that must outlive the loop. Throws
    /// std::invalid_argument for a null selector.
    explicit EventLoop(std::unique_ptr<Selector> selector, const Clock& clock = Clock::steady());
    /// close(), which in debug mode is logged as a warning if it comes only here. While the loop
    /// runs it says so on standard error and terminates.
    virtual ~EventLoop();
    EventLoop(const EventLoop&) = delete;
    EventLoop& operator=(const EventLoop&) = delete;

    // ---- running ----

    /// Runs until stop(), or until a callback throws LoopExit, which comes out. Throws StateError
    /// if this or another loop runs on this thread already, or the loop is closed; and what stands
    /// in the way of waiting itself: std::system_error, std::bad_alloc. What was queued stays
    /// queued then.
    void run_forever();

    /// Runs until `promise` is done and returns its value, or throws its error; CancelledError if
    /// it was cancelled; StateError if stop() came first, which leaves the promise pending.
    template <class T>
    T run_until_complete(Promise<T> promise);
    /// Makes a task of class S and runs until it is done.
    template <class S, class... A>
    typename detail::ResultOfTask<S>::type run_until_complete(A&&... arguments);

    /// One iteration, waiting for at most `max_wait` if nothing is ready; for embedding the loop in
    /// another one. Throws what run_forever() throws.
    void run_once(Duration max_wait = forever());

    /// Ends run_forever() after the batch that runs now; called before the run, after its first
    /// iteration. What the batch queued is kept for the next run. Fine on a closed loop.
    void stop();
    /// stop() from any thread. The loop's thread may destroy the loop as soon as it has stopped.
    void stop_threadsafe() noexcept;

    /// Drops what is queued, armed and watched, the callbacks of pending promises and the services,
    /// in this order, without running anything, and closes the loop's descriptors. Again: no
    /// effect. Throws StateError while the loop runs. In a forked child it only closes descriptors.
    void close();

    /// Before it sleeps the loop goes on looking for this long, of real time, whether something is
    /// ready, posted or due: what comes in that time is served some microseconds earlier, and who
    /// posts need not wake it. Costs a whole CPU meanwhile; 50 microseconds are what others begin
    /// with. Default: zero, off. On io_uring looking costs no system call. Negative: zero. However
    /// often it looks, an iteration runs one batch.
    void set_busy_poll(Duration duration);
    Duration busy_poll() const noexcept;

    bool is_running() const noexcept { return core_->running.load(std::memory_order_acquire); }
    bool is_closed() const noexcept { return core_->closed.load(std::memory_order_acquire); }

    /// The loop's clock, which timers go by.
    TimePoint time() const noexcept { return core_->clock->now(); }

    // ---- callbacks ----

    /// Calls f(arguments…) in the next iteration. Throws StateError on a closed loop and
    /// std::invalid_argument for a null callable, as all of the following do.
    template <class F, class... A, class = detail::NotOptions<F>>
    Handle call_soon(F&& f, A&&... arguments) {
        return soon<detail::BindOnce<F, A...>>(nullptr, f, std::forward<F>(f),
                                               std::forward<A>(arguments)...);
    }
    template <class F, class... A>
    Handle call_soon(const Options& options, F&& f, A&&... arguments) {
        return soon<detail::BindOnce<F, A...>>(&options, f, std::forward<F>(f),
                                               std::forward<A>(arguments)...);
    }

    /// Calls f(arguments…) once `delay` has passed: never earlier, equal deadlines in the order
    /// they were set. Negative: at once, by order of deadline; forever() or an infinite
    /// floating-point duration: never. Throws std::invalid_argument for NaN.
    template <class Rep, class Period, class F, class... A>
    TimerHandle call_later(std::chrono::duration<Rep, Period> delay, F&& f, A&&... arguments) {
        return at<detail::BindOnce<F, A...>>("call_later", nullptr, due("call_later", delay),
                                             Duration::zero(), f, std::forward<F>(f),
                                             std::forward<A>(arguments)...);
    }
    template <class Rep, class Period, class F, class... A>
    TimerHandle call_later(const Options& options, std::chrono::duration<Rep, Period> delay, F&& f,
                           A&&... arguments) {
        return at<detail::BindOnce<F, A...>>("call_later", &options, due("call_later", delay),
                                             Duration::zero(), f, std::forward<F>(f),
                                             std::forward<A>(arguments)...);
    }

    /// The same for a point of the loop's time().
    template <class F, class... A>
    TimerHandle call_at(TimePoint when, F&& f, A&&... arguments) {
        return at<detail::BindOnce<F, A...>>("call_at", nullptr, when, Duration::zero(), f,
                                             std::forward<F>(f), std::forward<A>(arguments)...);
    }
    template <class F, class... A>
    TimerHandle call_at(const Options& options, TimePoint when, F&& f, A&&... arguments) {
        return at<detail::BindOnce<F, A...>>("call_at", &options, when, Duration::zero(), f,
                                             std::forward<F>(f), std::forward<A>(arguments)...);
    }

    /// Calls f(arguments…) every `period`, first in one period from now, until cancelled. The
    /// deadlines stay on the grid of the first one; ticks that a late loop missed are left out and
    /// counted by missed_ticks(). Throws std::invalid_argument for a period that is not positive.
    template <class Rep, class Period, class F, class... A>
    TimerHandle call_every(std::chrono::duration<Rep, Period> period, F&& f, A&&... arguments) {
        return every<detail::BindMany<F, A...>>(nullptr, saturated(period, "call_every"), f,
                                                std::forward<F>(f), std::forward<A>(arguments)...);
    }
    template <class Rep, class Period, class F, class... A>
    TimerHandle call_every(const Options& options, std::chrono::duration<Rep, Period> period, F&& f,
                           A&&... arguments) {
        return every<detail::BindMany<F, A...>>(&options, saturated(period, "call_every"), f,
                                                std::forward<F>(f), std::forward<A>(arguments)...);
    }

    /// call_soon() from any thread, in the order of each thread's calls; the callback carries a
    /// copy of the caller's context. From a callback of this loop it is call_soon(). Throws
    /// StateError once the loop is closed, and std::system_error if the loop sleeps and cannot be
    /// woken; the loop object must still exist: else use a poster().
    template <class F, class... A, class = detail::NotOptions<F>>
    void call_soon_threadsafe(F&& f, A&&... arguments) {
        detail::refuse_null(f, "call_soon_threadsafe");
        Callback callback(std::forward<F>(f), std::forward<A>(arguments)...);
        post(nullptr, callback);
    }
    template <class F, class... A>
    void call_soon_threadsafe(const Options& options, F&& f, A&&... arguments) {
        detail::refuse_null(f, "call_soon_threadsafe");
        Callback callback(std::forward<F>(f), std::forward<A>(arguments)...);
        post(&options, callback);
    }

    /// Something to post with that may outlive the loop. Any thread.
    Poster poster() const;

    // ---- descriptors ----

    /// Calls f(arguments…) in every iteration in which `fd` is readable, or hung up, or in error:
    /// once per iteration, reader before writer. Replaces the reader that was there. The descriptor
    /// stays the caller's, who removes it here before closing it. What can always be read (a
    /// regular file) is always ready. Throws std::system_error for a descriptor that is not open or
    /// cannot be watched, std::invalid_argument for a negative one, and, as remove_reader() and its
    /// kin do, StateError for one that belongs to a transport or a listening socket of this loop,
    /// also while that waits for nothing. If the loop has to let go of it later (its selector
    /// refuses to watch on; it was closed; its number is that of another file now, which a socket,
    /// a transport or another part of this loop has), its callbacks are cancelled, and a report
    /// names it and says why.
    template <class F, class... A, class = detail::NotOptions<F>>
    Handle add_reader(int fd, F&& f, A&&... arguments) {
        return watch<detail::BindMany<F, A...>>("add_reader", nullptr, detail::NodeKind::reader, fd,
                                                f, std::forward<F>(f),
                                                std::forward<A>(arguments)...);
    }
    template <class F, class... A>
    Handle add_reader(const Options& options, int fd, F&& f, A&&... arguments) {
        return watch<detail::BindMany<F, A...>>("add_reader", &options, detail::NodeKind::reader,
                                                fd, f, std::forward<F>(f),
                                                std::forward<A>(arguments)...);
    }
    /// The same for writability.
    template <class F, class... A, class = detail::NotOptions<F>>
    Handle add_writer(int fd, F&& f, A&&... arguments) {
        return watch<detail::BindMany<F, A...>>("add_writer", nullptr, detail::NodeKind::writer, fd,
                                                f, std::forward<F>(f),
                                                std::forward<A>(arguments)...);
    }
    template <class F, class... A>
    Handle add_writer(const Options& options, int fd, F&& f, A&&... arguments) {
        return watch<detail::BindMany<F, A...>>("add_writer", &options, detail::NodeKind::writer,
                                                fd, f, std::forward<F>(f),
                                                std::forward<A>(arguments)...);
    }
    /// The same for urgent data (POLLPRI).
    template <class F, class... A, class = detail::NotOptions<F>>
    Handle add_urgent_reader(int fd, F&& f, A&&... arguments) {
        return watch<detail::BindMany<F, A...>>("add_urgent_reader", nullptr,
                                                detail::NodeKind::urgent, fd, f, std::forward<F>(f),
                                                std::forward<A>(arguments)...);
    }

    /// Whether there was one. The callback does not run again, also if it is in the batch that runs
    /// now. Never throws but for the wrong thread and the descriptor of a transport or a listening
    /// socket; false on a closed loop.
    bool remove_reader(int fd);
    bool remove_writer(int fd);
    bool remove_urgent_reader(int fd);
    /// Removes every watch of `fd` and takes it out of the selector at once: what the owner of an
    /// `owned_descriptor` calls before closing it. Whether there was any watch. The descriptor of a
    /// transport or a listening socket is left alone.
    bool forget_descriptor(int fd) noexcept;

    // ---- promises, tasks, threads, signals (defined in the headers of those names) ----

    /// A pending promise of this loop. Works on a closed loop. promise.hpp
    template <class T>
    Promise<T> create_promise(Here here = Here());

    /// Makes a task of class S and schedules its first step. task.hpp
    template <class S, class... A>
    TaskHandle<typename detail::ResultOfTask<S>::type> create_task(A&&... arguments);
    template <class S, class... A>
    TaskHandle<typename detail::ResultOfTask<S>::type> create_task(const Options& options,
                                                                   A&&... arguments);

    /// Calls f(arguments…) on a thread of the default pool. executor.hpp
    template <class F, class... A>
    Promise<typename detail::ExecutorResult<F, A...>::type> run_in_executor(F&& f,
                                                                            A&&... arguments);

    /// Calls f(arguments…) on this loop for each arrival of `signal`. signals.hpp
    template <class F, class... A>
    void add_signal_handler(int signal, F&& f, A&&... arguments);
    bool remove_signal_handler(int signal);

    // ---- services ----

    /// The loop's one S, made on first use as S(EventLoop&) and destroyed by close(), the last made
    /// first: what a layer above needs once per loop. Throws StateError on a closed loop.
    template <class S>
    S& service() {
        core_->check("service");
        const char* const type = detail::callable_name<S>();
        void* found = find_service(type);
        if (!found) {
            std::unique_ptr<S> made(new S(*this));
            found = made.get();
            keep_service(type, std::shared_ptr<void>(std::move(made)));
        }
        return *static_cast<S*>(found);
    }

    /// The same if it was made already, else null; also on a closed loop.
    template <class S>
    S* service_if_made() const noexcept {
        return static_cast<S*>(find_service(detail::callable_name<S>()));
    }

    // ---- errors and debugging ----

    /// Who is told of errors that nobody else hears of; empty: default_exception_handler().
    void set_exception_handler(ExceptionHandler handler);
    const ExceptionHandler& exception_handler() const noexcept;
    /// Hands a report to the handler. Never throws but LoopExit out of the handler; what else the
    /// handler throws is logged with the report.
    void call_exception_handler(const Report& report);
    /// Logs the report's text at level error.
    virtual void default_exception_handler(const Report& report);

    /// Where log records go; empty: log_to_standard_error().
    void set_log(LogSink sink);
    void log(LogLevel level, const std::string& text) noexcept;

    /// In debug mode each callback is timed, and one that takes at least slow_callback_duration()
    /// (default 100 ms) is logged as a warning. Looked at before each callback. asyncio: set_debug.
    void set_debug(bool enabled);
    bool debug() const noexcept { return core_->debug; }
    void set_slow_callback_duration(Duration duration);
    Duration slow_callback_duration() const noexcept;

    /// The selector's name: "epoll", "poll", "select", "io_uring".
    const char* selector_name() const noexcept;
    /// How many callbacks are queued or posted, timers armed, and callbacks of descriptors
    /// registered, the loop's own excluded: what is left for tests to find.
    std::size_t ready_count() const;
    std::size_t timer_count() const noexcept;
    std::size_t watch_count() const noexcept;

    /// For the library's own parts.
    detail::LoopCore& core() const noexcept { return *core_; }

private:
    friend class Scope;
    friend void detail::run_until_done(EventLoop&, detail::PromiseState&, const char*);

    /// run_forever(), for the call of that name.
    void run(const char* call);

    template <class B, class F, class... A>
    Handle soon(const Options* options, const F& given, A&&... construct) {
        detail::LoopCore& core = *core_;
        const bool here = core.runs_here();
        if (!here) enter_call_soon();
        detail::refuse_null(given, "call_soon");
        detail::Node* const node =
            core.make<B>(detail::NodeKind::soon, std::forward<A>(construct)...);
        // While the loop runs, what was copied just now cannot have closed it.
        if (!here) core.refuse_if_closed("call_soon", node);
        if (options) {
            core.set_context(node, options);
        } else {
            core.snapshot_context(node, here);
        }
        Handle handle = detail::HandleAccess::handle(node);
        core.push(node);
        return handle;
    }

    template <class B, class F, class... A>
    TimerHandle at(const char* call, const Options* options, TimePoint when, Duration period,
                   const F& given, A&&... construct) {
        detail::LoopCore& core = *core_;
        core.check(call);
        detail::refuse_null(given, call);
        detail::TimerNode* const node =
            core.fill_for<B>(call, core.take_timer(), std::forward<A>(construct)...);
        TimerHandle handle = detail::HandleAccess::adopt(node);  // gives it back if arm() throws
        if (period != Duration::zero()) {
            node->set(detail::NodeFlag::repeating);
            node->period = period;
        }
        if (options) {
            core.set_context(node, options);
        } else {
            core.snapshot_context(node, core.runs_here());
        }
        core.timers.arm(node, when);
        return handle;
    }

    template <class B, class F, class... A>
    TimerHandle every(const Options* options, Duration period, const F& given, A&&... construct) {
        if (period <= Duration::zero()) refuse_period();
        return at<B>("call_every", options, deadline_after(time(), period), period, given,
                     std::forward<A>(construct)...);
    }

    template <class B, class F, class... A>
    Handle watch(const char* call, const Options* options, detail::NodeKind kind, int fd,
                 const F& given, A&&... construct) {
        core_->check(call);
        detail::refuse_null(given, call);
        detail::Node* const node = core_->make_for<B>(call, kind, std::forward<A>(construct)...);
        core_->set_context(node, options);
        const Handle handle = detail::HandleAccess::handle(node);
        core_->release(node);
        add_watch(call, fd, node, options);
        return handle;
    }

    template <class Rep, class Period>
    TimePoint due(const char* call, std::chrono::duration<Rep, Period> delay) const {
        return deadline_after(time(), saturated(delay, call));
    }

    [[noreturn]] static void refuse_period();
    void enter_call_soon();
    void tell_handler(const Report& report);
    bool report_failed_handler(const Report& told, std::exception_ptr failure);
    void add_watch(const char* call, int fd, detail::Node* node, const Options* options);
    void post(const Options* options, Callback& callback);
    void* find_service(const char* type) const noexcept;
    void keep_service(const char* type, std::shared_ptr<void> service);
    detail::LoopState& state() const noexcept;

    detail::LoopCore* core_;
};

/// Posts callbacks to a loop that may end earlier than the poster. Copyable, any thread.
class Poster {
public:
    /// Posts nowhere: post() is false.
    Poster() noexcept = default;

    /// call_soon_threadsafe(), but false instead of an exception once the loop is closed; the
    /// callable is destroyed then. Always goes through the inbox, from the loop's thread too.
    /// Throws std::invalid_argument for a null callable.
    template <class F, class... A>
    bool post(F&& f, A&&... arguments) const {
        detail::refuse_null(f, "Poster::post");
        return put(Callback(std::forward<F>(f), std::forward<A>(arguments)...));
    }

private:
    friend class EventLoop;
    friend class detail::SubmissionBase;
    explicit Poster(std::shared_ptr<detail::Inbox> inbox) noexcept : inbox_(std::move(inbox)) {}
    bool put(Callback callback) const;

    std::shared_ptr<detail::Inbox> inbox_;
};

/// The loop that runs on this thread; throws StateError if none does. asyncio: get_running_loop.
EventLoop& get_running_loop();
/// The same, null if none does.
EventLoop* running_loop() noexcept;
namespace detail {
/// get_running_loop() for the call of that name; `remedy` ends the error's sentence.
EventLoop& running_loop_for(const char* call, const char* remedy);
}  // namespace detail
/// The running loop, else the one set for this thread, else one that is made for this thread and
/// destroyed when it ends.
EventLoop& get_event_loop();
/// Sets this thread's loop, which stays the caller's and must be unset (null) before it ends.
void set_event_loop(EventLoop* loop) noexcept;
/// A loop on the default selector. asyncio: new_event_loop.
std::unique_ptr<EventLoop> new_event_loop();

}  // namespace reactor

#endif
