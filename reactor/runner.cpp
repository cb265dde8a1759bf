// SPDX-License-Identifier: BSL-1.0
#include <reactor/executor.hpp>
#include <reactor/runner.hpp>
#include <reactor/signals.hpp>

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <vector>

#include <cxxabi.h>

namespace reactor {

namespace {

// asyncio's THREAD_JOIN_TIMEOUT (constants.py): a job that hangs must not keep the program for
// ever.
constexpr std::chrono::seconds longest_shutdown(300);

bool is_first_thread() noexcept { return ::syscall(SYS_gettid) == ::getpid(); }

/// Ctrl-C during one run. Only if it would end the process otherwise: a program that has a handler
/// of its own, or was started with SIGINT ignored (nohup, a shell's background job), means it.
class InterruptGuard {
public:
    InterruptGuard(EventLoop& loop, const AnyPromise& main, bool wanted)
        : loop_(loop), main_(main) {
        struct ::sigaction now;
        if (!wanted || !is_first_thread() || ::sigaction(SIGINT, nullptr, &now) != 0 ||
            (now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL) {
            return;
        }
        const Handle handler =
            detail::make_signal_callback(loop_.core(), &InterruptGuard::interrupt, this);
        detail::HandleAccess::node(handler)->label = detail::own_label;
        detail::put_signal_handler(loop_, SIGINT, handler);
        installed_ = true;
    }
    ~InterruptGuard() {
        if (installed_) loop_.remove_signal_handler(SIGINT);
    }
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    /// The main promise is done: throws Interrupted if it was cancelled by Ctrl-C and nothing else.
    void check() const {
        if (count_ == 0 || !main_.cancelled()) return;
        detail::PromiseState& state = *detail::PromiseAccess::state(main_);
        detail::TaskCore* const task = state.as_task();
        if (!task || task->uncancel() == 0) throw Interrupted();
    }

private:
    void interrupt() {
        // Once politely; who asks again does not want to wait for the clean-up.
        if (++count_ == 1 && main_.cancel()) return;
        throw Interrupted();
    }

    EventLoop& loop_;
    const AnyPromise& main_;
    int count_ = 0;
    bool installed_ = false;
};

void refuse_while_running(const char* call) {
    if (running_loop()) {
        throw StateError(std::string(call) +
                         ": an event loop runs on this thread: a callback cannot run another one");
    }
}

}  // namespace

Runner::Runner(RunnerOptions options) : options_(std::move(options)) {}

Runner::~Runner() {
    try {
        close();
    } catch (...) {
        log_to_standard_error(LogLevel::error, "Error while a Runner was closed\n" +
                                                   describe(std::current_exception()));
    }
}

void Runner::check() {
    if (closed_) throw StateError("Runner::run: it is closed: make a new one");
    refuse_while_running("Runner::run");
}

EventLoop& Runner::get_loop() {
    if (closed_) throw StateError("Runner::get_loop: it is closed: make a new one");
    if (!loop_) {
        std::unique_ptr<Context> context(new Context(copy_context()));
        std::unique_ptr<EventLoop> loop =
            options_.loop_factory ? options_.loop_factory() : new_event_loop();
        if (!loop) {
            throw StateError(
                "Runner::get_loop: the loop factory returned null: return a loop, or give no "
                "factory");
        }
        if (options_.debug) loop->set_debug(true);
        context_ = std::move(context);
        loop_ = std::move(loop);
    }
    return *loop_;
}

Options Runner::in_context(Options options) {
    get_loop();
    if (!options.has_context()) options.context(*context_);
    return options;
}

void Runner::run_until_done(const AnyPromise& main) {
    const InterruptGuard guard(*loop_, main, options_.handle_sigint);
    detail::run_until_done(*loop_, detail::PromiseAccess::require(main, "run"), "run");
    guard.check();
}

void Runner::finish_tasks() {
    std::vector<AnyPromise> tasks;
    for (detail::PromiseState* state = loop_->core().pending; state; state = state->next) {
        if (state->is_task) tasks.push_back(detail::PromiseAccess::share<AnyPromise>(state));
    }
    std::reverse(tasks.begin(), tasks.end());  // the loop's list begins with the newest
    for (const AnyPromise& task : tasks) task.cancel();
    for (const AnyPromise& task : tasks) {
        while (!task.done()) loop_->run_once();
        detail::PromiseState& state = *detail::PromiseAccess::state(task);
        const std::exception_ptr error = state.failure("Runner::close");
        if (!error || task.cancelled()) continue;
        Report report("Unhandled exception during the shutdown of a Runner", error);
        report.task = state.describe();
        loop_->call_exception_handler(report);
    }
}

void Runner::close() {
    if (!loop_ || closed_) return;
    refuse_while_running("Runner::close");
    closed_ = true;
    // What leaves the loop meanwhile (a second Ctrl-C, LoopExit) must not leave it open.
    std::exception_ptr leaving;
    try {
        finish_tasks();
        loop_->run_until_complete(shutdown_default_executor(*loop_, longest_shutdown));
    } catch (const abi::__forced_unwind&) {
        throw;  // pthread_exit() in a clean-up: the destructors close the loop
    } catch (...) {
        leaving = std::current_exception();
    }
    loop_->close();
    context_.reset();
    if (leaving) std::rethrow_exception(leaving);
}

}  // namespace reactor
