// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_EXECUTOR_JOB_HPP
#define REACTOR_DETAIL_EXECUTOR_JOB_HPP

#include <reactor/context.hpp>
#include <reactor/detail/invoke.hpp>
#include <reactor/detail/promise_state.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace reactor {

class Executor;

namespace detail {

/// BoundOnce, with a result.
template <class F, class... A>
class BoundJob {
public:
    template <class G, class... B>
    explicit BoundJob(G&& f, B&&... arguments)
        : f_(std::forward<G>(f)), arguments_(std::forward<B>(arguments)...) {
        // Here and not in the class, whose Result is asked for before: clang would have more to
        // say.
        static_assert(valid,
                      "run_in_executor: the callable cannot be called with these arguments (a null "
                      "pointer is nullptr, not NULL or 0; a reference is std::ref; a member "
                      "function takes its object first)");
    }

    static constexpr bool takes_rvalues = IsInvocable<F, typename Unwrap<A>::Moved...>::value;
    static constexpr bool valid =
        takes_rvalues || IsInvocable<F&, typename Unwrap<A>::Kept...>::value;

    /// 1: with rvalues, 0: with lvalues, 2: the assertion has said that it is neither.
    using How = std::integral_constant<int, !valid ? 2 : takes_rvalues ? 1 : 0>;

    template <class Which, class Unused>
    struct ResultOf {
        using type = void;
    };
    template <class Unused>
    struct ResultOf<std::integral_constant<int, 1>, Unused> {
        using type = InvokeResult<F, typename Unwrap<A>::Moved...>;
    };
    template <class Unused>
    struct ResultOf<std::integral_constant<int, 0>, Unused> {
        using type = InvokeResult<F&, typename Unwrap<A>::Kept...>;
    };
    using Result = typename ResultOf<How, void>::type;

    Result operator()() { return call(How(), IndicesFor<sizeof...(A)>()); }

private:
    template <std::size_t... I>
    Result call(std::integral_constant<int, 1>, Indices<I...>) {
        return detail::invoke(std::move(f_), Unwrap<A>::move(std::get<I>(arguments_))...);
    }
    template <std::size_t... I>
    Result call(std::integral_constant<int, 0>, Indices<I...>) {
        return detail::invoke(f_, Unwrap<A>::keep(std::get<I>(arguments_))...);
    }
    template <std::size_t... I>
    Result call(std::integral_constant<int, 2>, Indices<I...>) {}

    F f_;
    std::tuple<A...> arguments_;
};

template <class F, class... A>
using BindJob = BoundJob<typename std::decay<F>::type, typename std::decay<A>::type...>;

template <class F, class... A>
struct ExecutorResult {
    using type = typename std::decay<typename BindJob<F, A...>::Result>::type;
};

/// A job on its way to another thread and back; shared by the executor's callback, the promise and
/// the delivery, never by two threads at a time but for the stage.
///
///     waiting ──claim──> claimed: by a worker, which runs it and posts it back to the loop; by
///                        cancel(), which destroys the callable at once; or by the executor, which
///                        ends without having run it: the promise is cancelled
class JobBase {
public:
    JobBase(EventLoop& loop, ContextMapPtr context);
    JobBase(const JobBase&) = delete;
    JobBase& operator=(const JobBase&) = delete;
    virtual ~JobBase();

    /// True for the first one to ask.
    bool claim() noexcept { return !claimed_.exchange(true, std::memory_order_acq_rel); }
    bool claimed() const noexcept { return claimed_.load(std::memory_order_acquire); }

    /// By the worker that has claimed it. Only a thread's cancellation comes out.
    void run(const std::shared_ptr<JobBase>& self);
    /// By the executor that has claimed it and will not run it.
    void refuse(const std::shared_ptr<JobBase>& self) noexcept;
    /// On the loop, if it is still open.
    virtual void deliver() = 0;
    std::uint64_t cause() const noexcept { return cause_; }
    /// Lets go of everything: by cancel(), and where a closed loop takes no delivery.
    virtual void abandon() noexcept = 0;
    /// The type of the callable, as the compiler prints it.
    virtual const char* type() const noexcept = 0;

protected:
    virtual void call() = 0;
    virtual void drop_callable() noexcept = 0;

    std::exception_ptr error_;
    bool cancelled_ = false;

private:
    void post(const std::shared_ptr<JobBase>& self) noexcept;

    std::atomic<bool> claimed_{false};
    Poster poster_;
    ContextMapPtr context_;      // shares no count with any other thread
    const std::uint64_t cause_;  // for a trace: which callback has made it
};

/// The promise of a job.
template <class R>
struct JobState final : Pooled<JobState<R>, OperationState<R>> {
    using Pooled<JobState<R>, OperationState<R>>::Pooled;
    void abandon() noexcept override {
        const std::shared_ptr<JobBase> was = std::move(job);
        if (was && was->claim()) was->abandon();
    }

    std::string describe() const override { return "promise of run_in_executor()"; }
    void explain(WhyPending& why) const override {
        why.is_job = true;
        if (!job) return;
        why.what = callable_text(job->type());
        why.running = job->claimed();
    }

    std::shared_ptr<JobBase> job;
};

/// Where the result of a job waits for its delivery.
template <class R>
struct JobValue {
    template <class B>
    void call(B& callable) {
        value.reset(new R(callable()));
    }
    void set(ValueState<R>& state) { state.set(std::move(*value)); }
    void drop() noexcept { value.reset(); }

    std::unique_ptr<R> value;
};
template <>
struct JobValue<void> {
    template <class B>
    void call(B& callable) {
        callable();
    }
    void set(ValueState<void>& state) { state.set(); }
    void drop() noexcept {}
};

template <class R, class B>
class Job final : public JobBase {
public:
    template <class... A>
    Job(EventLoop& loop, ContextMapPtr context, const Promise<R>& promise, A&&... construct)
        : JobBase(loop, std::move(context)),
          promise_(promise),
          callable_(new B(std::forward<A>(construct)...)) {}

    void deliver() override {
        const Promise<R> promise = std::move(promise_);
        JobState<R>& state = static_cast<JobState<R>&>(*PromiseAccess::state(promise));
        state.job = nullptr;
        if (state.done()) {
            result_.drop();  // cancelled while it ran
        } else if (cancelled_) {
            state.end_cancelled(std::move(error_));
        } else if (error_) {
            state.fail(std::move(error_));
        } else {
            try {
                result_.set(state);
            } catch (...) {
                state.fail_by_current_exception();  // of moving the value
            }
        }
    }
    void abandon() noexcept override {
        callable_.reset();
        result_.drop();
        const Promise<R> last = std::move(promise_);
    }
    const char* type() const noexcept override { return callable_name<B>(); }

private:
    void call() override { result_.call(*callable_); }
    void drop_callable() noexcept override { callable_.reset(); }

    Promise<R> promise_;  // whoever will complete it keeps it
    std::unique_ptr<B> callable_;
    JobValue<R> result_;
};

/// shutdown_default_executor() with a limit.
Promise<void> shut_default_executor(EventLoop& loop, Duration limit);
void submit_job(Executor& executor, std::shared_ptr<JobBase> job);
/// The values of the current context, for to_thread().
ContextMapPtr copy_for_job();

template <class B, class... A>
Promise<typename std::decay<typename B::Result>::type> start_job(EventLoop& loop,
                                                                 Executor& executor,
                                                                 ContextMapPtr context,
                                                                 A&&... construct) {
    using R = typename std::decay<typename B::Result>::type;
    JobState<R>* const state = make_state<JobState<R>>(loop.core(), Here("run_in_executor", "", 0));
    const Promise<R> promise = PromiseAccess::adopt<Promise<R>>(state);
    state->job = std::make_shared<Job<R, B>>(loop, std::move(context), promise,
                                             std::forward<A>(construct)...);
    submit_job(executor, state->job);
    return promise;
}

}  // namespace detail
}  // namespace reactor

#endif
