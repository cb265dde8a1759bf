// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/loop_state.hpp>
#include <reactor/event_loop.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>

#include <cxxabi.h>

namespace reactor {

namespace {

struct ThreadLoops {
    // The thread's context is made first, so that it is still there when `own` is closed at the
    // thread's end.
    ThreadLoops() noexcept { detail::current_context_slot(); }

    EventLoop* running = nullptr;
    EventLoop* set = nullptr;
    std::unique_ptr<EventLoop> own;
};

ThreadLoops& thread_loops() noexcept {
    static thread_local ThreadLoops loops;
    return loops;
}

}  // namespace

namespace detail {

LoopState::Running::Running(LoopState& state, const char* call) : state_(state) {
    const auto refuse = [call](const char* why) { throw StateError(std::string(call) + why); };
    if (state.closed.load(std::memory_order_relaxed)) {
        refuse(": the event loop is closed: make a new one");
    }
    EventLoop*& running = thread_loops().running;
    if (running) {
        refuse(running == state.loop ? ": the event loop runs already: a callback cannot run it"
                                     : ": another event loop runs on this thread: run this one "
                                       "on a thread of its own");
    }
    if (state.running.exchange(true, std::memory_order_acquire)) {
        refuse(": the event loop runs on another thread");
    }
    const void* const thread = thread_mark();
    if (state.thread.load(std::memory_order_relaxed) != thread) state.has_moved = true;
    state.thread.store(thread, std::memory_order_relaxed);
    state.home.store(thread, std::memory_order_relaxed);
    state.context_slot = &current_context_slot();
    state.runner.store(thread, std::memory_order_relaxed);
    running = state.loop;
}

LoopState::Running::~Running() {
    thread_loops().running = nullptr;
    state_.runner.store(nullptr, std::memory_order_relaxed);
    state_.context_slot = nullptr;
    state_.stopping = false;
    state_.running.store(false, std::memory_order_release);
}

}  // namespace detail

// ---- the loop's life ------------------------------------------------------------------------

EventLoop::EventLoop() : EventLoop(default_selector()) {}

EventLoop::EventLoop(std::unique_ptr<Selector> selector, const Clock& clock)
    : core_(new detail::LoopState(*this, std::move(selector), clock)) {}

EventLoop::~EventLoop() {
    if (is_running()) {
        std::fprintf(stderr,
                     "reactor: an EventLoop is destroyed while it runs: stop() it and let "
                     "run_forever() return first\n");
        std::terminate();
    }
    ThreadLoops& loops = thread_loops();
    if (loops.set == this) loops.set = nullptr;
    if (core_->debug && !is_closed()) {
        log(LogLevel::warning, "an EventLoop is destroyed that was not closed");
    }
    close();
    core_->end();
}

detail::LoopState& EventLoop::state() const noexcept {
    return static_cast<detail::LoopState&>(*core_);
}

void EventLoop::run_forever() { run("run_forever"); }

void EventLoop::run(const char* call) {
    detail::LoopState& loop = state();
    const detail::LoopState::Running running(loop, call);
    do {
        loop.run_once(forever());
    } while (!loop.stopping);
}

void EventLoop::run_once(Duration max_wait) {
    detail::LoopState& loop = state();
    const detail::LoopState::Running running(loop, "run_once");
    loop.run_once(max_wait);
}

void EventLoop::stop() {
    core_->check_thread("stop");
    state().stopping = true;
}

void EventLoop::stop_threadsafe() noexcept {
    // Who runs the loop may see the flag before the wake-up, and destroy the loop at once.
    const std::shared_ptr<detail::Inbox> inbox = core_->inbox;
    state().stop_requested.store(true, std::memory_order_release);
    inbox->wake();
}

void EventLoop::close() {
    if (is_running()) {
        throw StateError("close: the event loop runs: stop() it and let run_forever() return");
    }
    if (!is_closed()) state().close();
}

void EventLoop::set_busy_poll(Duration duration) {
    core_->check_thread("set_busy_poll");
    state().busy_poll = std::max(duration, Duration::zero());
}

Duration EventLoop::busy_poll() const noexcept { return state().busy_poll; }

// ---- posting --------------------------------------------------------------------------------

void EventLoop::post(const Options* options, Callback& callback) {
    detail::ContextMapPtr context = detail::LoopCore::context_for_post(options);
    const char* const label = options ? options->label() : nullptr;
    // Not on_thread(): a loop that does not run yet may be about to, on another thread.
    if (core_->runs_here()) {
        state().push_callback(callback, std::move(context), label);
    } else if (!core_->inbox->post(callback, std::move(context), label)) {
        core_->check("call_soon_threadsafe");
    }
}

void EventLoop::enter_call_soon() {
    core_->check("call_soon");
    // One queue: what was posted before this call_soon() runs before it.
    const bool runs = core_->running.load(std::memory_order_relaxed);
    if (!runs && state().has_posts()) state().take_posts();
}

Poster EventLoop::poster() const { return Poster(core_->inbox); }

bool Poster::put(Callback callback) const {
    if (!inbox_ || !callback) return false;
    return inbox_->post(callback, detail::LoopCore::context_for_post(nullptr));
}

// ---- descriptors ----------------------------------------------------------------------------

void EventLoop::add_watch(const char* call, int fd, detail::Node* node, const Options* options) {
    state().watches.require_free(call, fd);
    state().watches.add(call, fd, node, options);
}

bool EventLoop::remove_reader(int fd) {
    core_->check_thread("remove_reader");
    state().watches.require_free("remove_reader", fd);
    return state().watches.remove(fd, detail::NodeKind::reader);
}

bool EventLoop::remove_writer(int fd) {
    core_->check_thread("remove_writer");
    state().watches.require_free("remove_writer", fd);
    return state().watches.remove(fd, detail::NodeKind::writer);
}

bool EventLoop::remove_urgent_reader(int fd) {
    core_->check_thread("remove_urgent_reader");
    state().watches.require_free("remove_urgent_reader", fd);
    return state().watches.remove(fd, detail::NodeKind::urgent);
}

bool EventLoop::forget_descriptor(int fd) noexcept {
    core_->require_thread("forget_descriptor");
    return !state().watches.reserved(fd) && state().watches.forget_all(fd);
}

void EventLoop::refuse_period() {
    throw std::invalid_argument(
        "call_every: the period is not positive: use call_soon() to run in every iteration");
}

std::size_t EventLoop::ready_count() const { return core_->ready() + core_->inbox->count(); }

std::size_t EventLoop::timer_count() const noexcept {
    return core_->timers.entries() - core_->timers.dead_entries();
}

std::size_t EventLoop::watch_count() const noexcept { return state().watches.count(); }

const char* EventLoop::selector_name() const noexcept { return state().watches.selector_name(); }

// ---- services -------------------------------------------------------------------------------

void* EventLoop::find_service(const char* type) const noexcept {
    // By name and not by address: two shared libraries have the same type, but not the same copy
    // of its name.
    for (const auto& service : state().services) {
        if (service.type == type || std::strcmp(service.type, type) == 0) {
            return service.object.get();
        }
    }
    return nullptr;
}

void EventLoop::keep_service(const char* type, std::shared_ptr<void> service) {
    state().services.push_back(detail::LoopState::Service{type, std::move(service)});
}

// ---- errors and debugging -------------------------------------------------------------------

void EventLoop::set_exception_handler(ExceptionHandler handler) {
    core_->check_thread("set_exception_handler");
    state().exception_handler = std::move(handler);
}

const ExceptionHandler& EventLoop::exception_handler() const noexcept {
    return state().exception_handler;
}

void EventLoop::call_exception_handler(const Report& report) {
    if (!core_->measured) {
        tell_handler(report);
        return;
    }
    Report explained("");
    try {
        explained = report;
        state().observers.ask(&detail::Observer::explain, explained);
    } catch (const std::bad_alloc&) {
        tell_handler(report);
        return;
    }
    tell_handler(explained);
}

void EventLoop::tell_handler(const Report& report) {
    const bool custom = static_cast<bool>(state().exception_handler);
    std::exception_ptr failure;
    try {
        if (!custom) {
            default_exception_handler(report);
            return;
        }
        const ExceptionHandler handler = state().exception_handler;  // it may replace itself
        handler(*this, report);
        return;
    } catch (const LoopExit&) {
        throw;
    } catch (const abi::__forced_unwind&) {
        throw;  // pthread_cancel(): swallowing it would abort the process
    } catch (...) {
        failure = std::current_exception();
    }
    if (custom && report_failed_handler(report, std::move(failure))) return;
    try {
        log(LogLevel::error,
            std::string("Exception in default exception handler") +
                (custom ? " while handling an unexpected error in custom exception handler" : "") +
                "\n" + report.text());
    } catch (...) {
        log_to_standard_error(LogLevel::error, report.message);  // out of memory
    }
}

// False if the default handler throws, too.
bool EventLoop::report_failed_handler(const Report& told, std::exception_ptr failure) {
    try {
        Report report("Unhandled error in exception handler", std::move(failure));
        report.details.emplace_back("while handling", told.text());
        default_exception_handler(report);
        return true;
    } catch (const LoopExit&) {
        throw;
    } catch (const abi::__forced_unwind&) {
        throw;
    } catch (...) {
        return false;
    }
}

void EventLoop::default_exception_handler(const Report& report) {
    log(LogLevel::error, report.text());
}

void EventLoop::set_log(LogSink sink) {
    core_->check_thread("set_log");
    state().sink = std::move(sink);
}

void EventLoop::log(LogLevel level, const std::string& text) noexcept { state().log(level, text); }

void EventLoop::set_debug(bool enabled) {
    core_->check_thread("set_debug");
    state().set_debug(enabled);
}

void EventLoop::set_slow_callback_duration(Duration duration) {
    core_->check_thread("set_slow_callback_duration");
    state().slow_callback_duration = duration;
}

Duration EventLoop::slow_callback_duration() const noexcept {
    return state().slow_callback_duration;
}

// ---- this thread's loop ---------------------------------------------------------------------

EventLoop* running_loop() noexcept { return thread_loops().running; }

EventLoop& detail::running_loop_for(const char* call, const char* remedy) {
    EventLoop* const loop = running_loop();
    if (!loop) {
        throw StateError(std::string(call) + ": no event loop runs on this thread: " + remedy);
    }
    return *loop;
}

EventLoop& get_running_loop() {
    return detail::running_loop_for("get_running_loop", "call from a callback, or name the loop");
}

EventLoop& get_event_loop() {
    ThreadLoops& loops = thread_loops();
    if (loops.running) return *loops.running;
    if (loops.set) return *loops.set;
    if (!loops.own || loops.own->is_closed()) loops.own = new_event_loop();
    return *loops.own;
}

void set_event_loop(EventLoop* loop) noexcept { thread_loops().set = loop; }

std::unique_ptr<EventLoop> new_event_loop() { return std::unique_ptr<EventLoop>(new EventLoop()); }

}  // namespace reactor
