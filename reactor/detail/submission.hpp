// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_SUBMISSION_HPP
#define REACTOR_DETAIL_SUBMISSION_HPP

#include <reactor/clock.hpp>
#include <reactor/detail/carried.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace reactor {

namespace detail {

/// Work that a thread has given a loop, whatever its result is. Shared by the thread's Submitted
/// and, on the loop's thread, by what brings the result.
class SubmissionBase {
public:
    SubmissionBase(const SubmissionBase&) = delete;
    SubmissionBase& operator=(const SubmissionBase&) = delete;

    // ---- any thread ----

    bool done() const;
    bool cancelled() const;
    /// Whether it is done, after `limit` at the latest; throws as Submitted::wait_for() does.
    bool wait(Duration limit, const char* call) const;
    /// What result() would throw, null for a value; waits, and counts as read.
    std::exception_ptr failure(const char* call);
    static bool cancel(const std::shared_ptr<SubmissionBase>& self, const std::string& message);
    /// The thread looks no more: an error that it did not ask for is reported.
    void let_go() noexcept;
    [[noreturn]] static void refuse_empty(const char* call);
    /// Says why there is no posting to the loop.
    [[noreturn]] void refuse_post() const;

    // ---- the loop's thread ----

    /// Throws StateError for an empty promise, std::invalid_argument for one of another loop.
    static PromiseState& check_work(PromiseState* state);
    /// `state` works for it now; a task is kept, as if the waiting thread held its handle.
    void work_by(PromiseState& state);
    void work_ended() noexcept;
    /// False: it was cancelled meanwhile, and the error is still the caller's.
    bool fail(std::exception_ptr&& error, PromiseStatus status = PromiseStatus::error) noexcept;
    /// Nobody will bring the result any more.
    void abandon() noexcept;
    /// Inside a handler: ends by the exception that is handled; `report`: which the loop is told
    /// of, too, as it always is if the thread has cancelled and looks no more. What must leave the
    /// loop is thrown again.
    void fail_by_current_exception(bool report);

protected:
    explicit SubmissionBase(const Poster& loop) : inbox_(loop.inbox_) {}
    ~SubmissionBase() = default;

    /// The lock, if it is pending; else one that owns nothing.
    std::unique_lock<std::mutex> lock_pending();
    void settle(std::unique_lock<std::mutex> lock, PromiseStatus status,
                std::exception_ptr error) noexcept;

private:
    void report_unread(std::exception_ptr unread) noexcept;

    const std::shared_ptr<Inbox> inbox_;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    PromiseStatus status_ = PromiseStatus::pending;
    bool read_ = false;
    bool gone_ = false;  // nobody waits any more
    std::exception_ptr error_;
    PromiseState* working_ = nullptr;  // on the loop's thread; not owned
    AnyPromise kept_;                  // the same
};

template <class R>
class Submission final : public SubmissionBase {
public:
    explicit Submission(const Poster& loop) : SubmissionBase(loop) {}

    /// False: it was cancelled meanwhile, and the outcome is still in `carried`.
    bool complete(Carried<R>& carried) {
        std::unique_lock<std::mutex> lock = lock_pending();
        if (!lock) return false;
        value_ = std::move(carried.value);
        settle(std::move(lock), carried.status, std::move(carried.error));
        return true;
    }

    // On the thread; they wait.
    template <class T>
    const T& result(Is<T>) {
        check("result");
        return *value_.value;
    }
    void result(Is<void>) { check("result"); }
    template <class T>
    T take(Is<T>) {
        check("take");
        taken_ = true;
        return std::move(*value_.value);
    }
    void take(Is<void>) { check("take"); }

private:
    void check(const char* call) {
        if (const std::exception_ptr error = failure(call)) std::rethrow_exception(error);
        if (taken_) PromiseState::refuse_taken(call);
    }

    CarriedValue<R> value_;
    bool taken_ = false;
};

}  // namespace detail
}  // namespace reactor

#endif
