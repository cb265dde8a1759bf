// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_SUBMISSION_CALL_HPP
#define REACTOR_DETAIL_SUBMISSION_CALL_HPP

#include <reactor/detail/executor_job.hpp>
#include <reactor/detail/submission.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>
#include <reactor/task.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace reactor {

template <class R>
class Submitted;

namespace detail {

/// The callable of the callback of the promise that works for a submission.
template <class R>
class SubmissionDone {
public:
    explicit SubmissionDone(std::shared_ptr<Submission<R>> to) noexcept : to_(std::move(to)) {}
    SubmissionDone(const SubmissionDone&) = delete;
    SubmissionDone& operator=(const SubmissionDone&) = delete;
    ~SubmissionDone() {
        if (!to_) return;
        to_->work_ended();
        to_->abandon();
    }

    void operator()(const Promise<R>& done) {
        const std::shared_ptr<Submission<R>> to = std::move(to_);
        to->work_ended();
        if (to->done()) return;  // cancelled: an error is reported as ever
        Carried<R> carried;
        carried.load(typed_state(done));
        if (!to->complete(carried)) carried.give_back(typed_state(done));
    }

private:
    std::shared_ptr<Submission<R>> to_;
};

/// What is posted to the loop: calls a B, whose result, or the promise that it returns, is the
/// submission's. `task`: the call makes a task.
template <class R, class B, bool task>
class SubmissionCall {
public:
    SubmissionCall(std::shared_ptr<Submission<R>> to, std::unique_ptr<B> callable) noexcept
        : to_(std::move(to)), callable_(std::move(callable)) {}
    SubmissionCall(SubmissionCall&&) noexcept = default;
    SubmissionCall& operator=(SubmissionCall&&) = delete;
    ~SubmissionCall() {
        if (to_) to_->abandon();
    }

    void operator()() {
        const std::shared_ptr<Submission<R>> to = std::move(to_);
        const std::unique_ptr<B> callable = std::move(callable_);
        if (to->done()) return;  // cancelled before it began
        try {
            call(to, *callable, IsPromise<typename B::Result>());
        } catch (...) {
            to->fail_by_current_exception(task);
        }
    }

private:
    static void call(const std::shared_ptr<Submission<R>>& to, B& callable, std::true_type) {
        const Promise<R> work = callable();
        PromiseState& state = SubmissionBase::check_work(PromiseAccess::state(work));
        attach_own<Promise<R>, SubmissionDone<R>>(state, to);
        to->work_by(state);
    }
    static void call(const std::shared_ptr<Submission<R>>& to, B& callable, std::false_type) {
        Carried<R> carried;
        carried.status = PromiseStatus::value;
        give(carried.value, callable);
        to->complete(carried);
    }
    template <class T>
    static void give(CarriedValue<T>& value, B& callable) {
        value.value.reset(new T(callable()));
    }
    static void give(CarriedValue<void>&, B& callable) { callable(); }

    std::shared_ptr<Submission<R>> to_;
    std::unique_ptr<B> callable_;
};

/// Makes a task on the loop that runs.
template <class S>
struct MakeTask {
    template <class... A>
    TaskHandle<typename ResultOfTask<S>::type> operator()(A&&... arguments) const {
        return get_running_loop().create_task<S>(std::forward<A>(arguments)...);
    }
};

/// What submit(loop, f, arguments…) brings; no type for a task's class.
template <bool is_task, class F, class... A>
struct SubmitResultOf {
    using type = typename Flattened<typename BindJob<F, A...>::Result>::type;
};
template <class F, class... A>
struct SubmitResultOf<true, F, A...> {};
template <class F, class... A>
struct SubmitResult
    : SubmitResultOf<std::is_base_of<TaskBase, typename std::decay<F>::type>::value, F, A...> {};

/// A context is counted for one thread: its Options must not be copied to another.
[[noreturn]] void throw_context_refused();
inline void refuse_context() {}
template <class T, class... A>
void refuse_context(const T&, const A&...) {}
template <class... A>
void refuse_context(const Options& options, const A&...) {
    if (options.has_context()) throw_context_refused();
}

template <class R, class B, bool task, class... A>
Submitted<R> submit_call(const Poster& loop, A&&... construct) {
    const auto work = std::make_shared<Submission<R>>(loop);
    Submitted<R> submitted(work);
    std::unique_ptr<B> callable(new B(std::forward<A>(construct)...));
    if (!loop.post(SubmissionCall<R, B, task>(work, std::move(callable)))) work->refuse_post();
    return submitted;
}

}  // namespace detail
}  // namespace reactor

#endif
