// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_SUBMIT_HPP
#define REACTOR_SUBMIT_HPP

#include <reactor/clock.hpp>
#include <reactor/detail/submission.hpp>
#include <reactor/detail/submission_call.hpp>
#include <reactor/event_loop.hpp>

#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace reactor {

/// The result of what a thread has given a loop to do, for that thread to wait for. Owned by one
/// thread at a time, any one; move-only; may outlive the loop. Empty when default-constructed or
/// moved from: every function but bool then throws StateError. An error that is never asked for is
/// reported by the loop, once this object goes; dropping it cancels nothing.
/// Python: concurrent.futures.Future.
template <class R>
class Submitted {
public:
    Submitted() noexcept = default;
    Submitted(Submitted&&) noexcept = default;
    Submitted& operator=(Submitted&& other) noexcept {
        Submitted(std::move(other)).work_.swap(work_);
        return *this;
    }
    ~Submitted() {
        if (work_) work_->let_go();
    }

    explicit operator bool() const noexcept { return work_ != nullptr; }

    /// Whether the outcome is there: a value, an error, or it was cancelled.
    bool done() const { return work("done").done(); }
    bool cancelled() const { return work("cancelled").cancelled(); }

    /// Waits for the outcome, `limit` at the most: whether it is there. Zero or negative: looks,
    /// and does not wait. Not in a callback of the loop that is to bring it: throws StateError,
    /// since that would wait for ever.
    template <class Rep, class Period>
    bool wait_for(std::chrono::duration<Rep, Period> limit) const {
        return work("wait_for").wait(saturated(limit, "wait_for"), "wait_for");
    }

    /// Wait for the outcome and give it, result() as a reference that lasts as long as this object,
    /// take() by value, once. Throw the error; CancelledError if it was cancelled; BrokenPromise if
    /// the loop was closed first. In a callback of the loop: StateError unless it is there.
    typename detail::ResultReference<R>::type result() const {
        return work("result").result(detail::Is<R>());
    }
    R take() { return work("take").take(detail::Is<R>()); }
    /// What result() would throw, null for a value.
    std::exception_ptr error() const { return work("error").failure("error"); }

    /// False: it is done. True: it is cancelled now, for this thread; a task or promise that works
    /// for it is cancelled soon, on the loop's thread, and what has not begun never will. Throws
    /// std::system_error, with the result cancelled, if the loop sleeps and cannot be woken.
    bool cancel(const std::string& message = std::string()) {
        return detail::SubmissionBase::cancel(shared("cancel"), message);
    }

private:
    template <class Q, class B, bool task, class... A>
    friend Submitted<Q> detail::submit_call(const Poster& loop, A&&... construct);

    explicit Submitted(std::shared_ptr<detail::Submission<R>> work) noexcept
        : work_(std::move(work)) {}

    const std::shared_ptr<detail::Submission<R>>& shared(const char* call) const {
        if (!work_) detail::SubmissionBase::refuse_empty(call);
        return work_;
    }
    detail::Submission<R>& work(const char* call) const { return *shared(call); }

    std::shared_ptr<detail::Submission<R>> work_;
};

/// Makes a task of class S on `loop`, from any thread:
///
///     reactor::Submitted<Page> page = reactor::submit<Fetch>(loop, url);      // on a thread
///     if (!page.wait_for(seconds(5))) page.cancel();
///
/// The arguments (options first, as for create_task) are moved or copied to the loop's thread,
/// where the machine is made, with a copy of this thread's context; what its constructor throws is
/// the result's error, and is reported by the loop as well. Options with a context are refused
/// (std::invalid_argument), as a context stays on its thread. The loop object must still exist; a
/// Poster may outlive it. Throws StateError once the loop is closed and for an empty Poster,
/// std::system_error if it sleeps and cannot be woken. asyncio: run_coroutine_threadsafe.
template <class S, class... A>
Submitted<typename detail::ResultOfTask<S>::type> submit(const Poster& loop, A&&... arguments) {
    detail::refuse_context(arguments...);
    return detail::submit_call<typename detail::ResultOfTask<S>::type,
                               detail::BindJob<detail::MakeTask<S>, A...>, true>(
        loop, detail::MakeTask<S>(), std::forward<A>(arguments)...);
}
template <class S, class... A>
Submitted<typename detail::ResultOfTask<S>::type> submit(EventLoop& loop, A&&... arguments) {
    return submit<S>(loop.poster(), std::forward<A>(arguments)...);
}

/// The same for a callable, which is called on the loop's thread, bound as everywhere: the result
/// is what it returns; of a promise, what becomes of that. What it throws is the result's error.
template <class F, class... A>
Submitted<typename detail::SubmitResult<F, A...>::type> submit(const Poster& loop, F&& f,
                                                               A&&... arguments) {
    detail::refuse_null(f, "submit");
    return detail::submit_call<typename detail::SubmitResult<F, A...>::type,
                               detail::BindJob<F, A...>, false>(loop, std::forward<F>(f),
                                                                std::forward<A>(arguments)...);
}
template <class F, class... A>
Submitted<typename detail::SubmitResult<F, A...>::type> submit(EventLoop& loop, F&& f,
                                                               A&&... arguments) {
    return submit(loop.poster(), std::forward<F>(f), std::forward<A>(arguments)...);
}

}  // namespace reactor

#endif
