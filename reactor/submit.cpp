// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/inbox.hpp>
#include <reactor/submit.hpp>

#include <cxxabi.h>

#include <stdexcept>

namespace reactor {
namespace detail {

// ---- on the thread that waits ---------------------------------------------------------------

bool SubmissionBase::done() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return status_ != PromiseStatus::pending;
}

bool SubmissionBase::cancelled() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return status_ == PromiseStatus::cancelled;
}

bool SubmissionBase::wait(Duration limit, const char* call) const {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto over = [this] { return status_ != PromiseStatus::pending; };
    if (over()) return true;
    if (limit <= Duration::zero()) return false;
    const EventLoop* const here = running_loop();
    if (here && here->core().inbox == inbox_) {
        throw StateError(std::string(call) +
                         ": this thread runs the event loop that is to bring the result: use "
                         "create_task() and its promise here");
    }
    if (limit == forever()) {
        changed_.wait(lock, over);
        return true;
    }
    // The thread's own time: the loop's clock may be one that stands still while nobody runs it.
    const TimePoint deadline = deadline_after(std::chrono::steady_clock::now(), limit);
    return changed_.wait_until(lock, deadline, over);
}

std::exception_ptr SubmissionBase::failure(const char* call) {
    wait(forever(), call);
    const std::lock_guard<std::mutex> lock(mutex_);
    read_ = true;
    if (status_ == PromiseStatus::cancelled && !error_) {
        return std::make_exception_ptr(CancelledError());
    }
    return error_;
}

bool SubmissionBase::cancel(const std::shared_ptr<SubmissionBase>& self,
                            const std::string& message) {
    std::unique_lock<std::mutex> lock = self->lock_pending();
    if (!lock) return false;
    self->settle(std::move(lock), PromiseStatus::cancelled,
                 message.empty() ? nullptr : std::make_exception_ptr(CancelledError(message)));
    const auto cancel_work = [self, message] {
        if (self->working_) self->working_->cancel(message);
    };
    // Refused by a closed loop, where nothing works any more.
    Callback callback(cancel_work);
    self->inbox_->post(callback);
    return true;
}

void SubmissionBase::let_go() noexcept {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        gone_ = true;
        if (status_ != PromiseStatus::error || read_) return;
        read_ = true;
    }
    report_unread(std::move(error_));
}

void SubmissionBase::report_unread(std::exception_ptr unread) noexcept {
    static const char* const text = "Exception of submitted work was never retrieved";
    try {
        // Shared, not copied: a copy here would end while the loop's thread still looks at it.
        const auto error = std::make_shared<std::exception_ptr>(std::move(unread));
        Callback report(
            [error] { get_running_loop().call_exception_handler(Report(text, *error)); });
        if (inbox_->post(report)) return;
        log_to_standard_error(LogLevel::error, text + ("\n" + describe(*error)));
    } catch (...) {
        log_to_standard_error(LogLevel::error, text);  // no memory, or a loop that is not woken
    }
}

void SubmissionBase::refuse_empty(const char* call) {
    throw StateError(std::string(call) + ": nothing was submitted: get one from submit()");
}

void throw_context_refused() {
    throw std::invalid_argument(
        "submit: a context stays on its thread: leave it out of the options, the task gets a copy "
        "of this thread's");
}

void SubmissionBase::refuse_post() const {
    if (!inbox_) {
        throw StateError("submit: the Poster is empty: get one from EventLoop::poster()");
    }
    throw StateError("submit: the event loop is closed: make a new one, or submit before close()");
}

// ---- on the loop's thread -------------------------------------------------------------------

PromiseState& SubmissionBase::check_work(PromiseState* state) {
    if (!state) throw StateError("submit: the callable returned an empty promise");
    if (state->core != &get_running_loop().core()) {
        throw std::invalid_argument(
            "submit: the callable returned a promise of another event loop: bring its outcome over "
            "with chain()");
    }
    state->check_attach("submit");
    return *state;
}

void SubmissionBase::work_by(PromiseState& state) {
    working_ = &state;
    if (state.as_task()) kept_ = PromiseAccess::share<AnyPromise>(&state);
}

void SubmissionBase::work_ended() noexcept {
    working_ = nullptr;
    kept_ = AnyPromise();
}

std::unique_lock<std::mutex> SubmissionBase::lock_pending() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (status_ != PromiseStatus::pending) lock = std::unique_lock<std::mutex>();
    return lock;
}

void SubmissionBase::settle(std::unique_lock<std::mutex> lock, PromiseStatus status,
                            std::exception_ptr error) noexcept {
    status_ = status;
    error_ = std::move(error);
    const bool for_nobody = gone_ && status == PromiseStatus::error && !read_;
    read_ = read_ || for_nobody;
    lock.unlock();
    changed_.notify_all();
    if (for_nobody) report_unread(std::move(error_));
}

bool SubmissionBase::fail(std::exception_ptr&& error, PromiseStatus status) noexcept {
    std::unique_lock<std::mutex> lock = lock_pending();
    if (!lock) return false;
    settle(std::move(lock), status, std::move(error));
    return true;
}

void SubmissionBase::abandon() noexcept {
    std::unique_lock<std::mutex> lock = lock_pending();
    if (!lock) return;
    read_ = true;  // nothing went wrong that anybody must hear of who does not wait
    settle(std::move(lock), PromiseStatus::error,
           std::make_exception_ptr(BrokenPromise(
               "the event loop was closed, or what the submitted work waited for was dropped, "
               "before it was done")));
}

void SubmissionBase::fail_by_current_exception(bool report) {
    std::exception_ptr error;
    try {
        throw;
    } catch (const CancelledError&) {
        fail(std::current_exception(), PromiseStatus::cancelled);
        return;
    } catch (const LoopExit&) {
        fail(std::current_exception());
        throw;
    } catch (const abi::__forced_unwind&) {
        abandon();
        throw;
    } catch (...) {
        error = std::current_exception();
    }
    if (report) {
        // Told first, so that the thread gets the last reference of the error.
        try {
            get_running_loop().call_exception_handler(
                Report("Exception while a submitted task was made", error));
        } catch (...) {
            fail(std::move(error));
            throw;  // LoopExit of the handler
        }
    }
    if (!fail(std::move(error)) && !report) report_unread(std::move(error));
}

}  // namespace detail
}  // namespace reactor
