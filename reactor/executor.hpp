// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_EXECUTOR_HPP
#define REACTOR_EXECUTOR_HPP

#include <reactor/callback.hpp>
#include <reactor/detail/executor_job.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/here.hpp>
#include <reactor/promise.hpp>

#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace reactor {

/// Calls callables somewhere else than on the loop: what blocks belongs there. Owned by the
/// program; submit() is for any thread. Python: concurrent.futures.Executor.
class Executor {
public:
    Executor() = default;
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;
    virtual ~Executor();

    /// Calls `job` once, later or now, on any thread, or destroys it unrun when the executor ends.
    /// An exception from here means that it will do neither.
    virtual void submit(Callback job) = 0;
};

/// Threads that run jobs in the order of submission. A thread is made when a job finds none idle,
/// up to a limit, and stays. They block every signal that is sent to the process, so that those
/// reach the program's own threads. Made, used and destroyed on any thread.
///
/// The end never waits for a job: threads are detached and share what they need, so one that hangs
/// delays neither the pool's destructor nor the program's exit.
class ThreadPool final : public Executor {
public:
    /// `limit` threads at the most, min(32, processors + 4) for 0; `name` is what the system shows
    /// for them (15 characters). At most `queue_limit` jobs wait for a thread, 0: any number.
    explicit ThreadPool(std::size_t limit = 0, const std::string& name = "reactor-pool",
                        std::size_t queue_limit = 0);
    /// close().
    ~ThreadPool() override;

    /// What `job` throws is logged to standard error: a job says itself where its errors go. Throws
    /// StateError once the pool is closed or shut down, and std::system_error if the queue is full
    /// (EAGAIN) or there is no thread and none can be made, std::invalid_argument for an empty one.
    void submit(Callback job) override;

    /// Destroys the jobs that wait and takes no more; a job that runs goes on, and its thread ends
    /// after it. In a forked child, which has none of the threads, it only forgets them.
    void close() noexcept;

    /// Takes no more jobs; those it has run to their end. The promise is done after that. Again:
    /// the same. To be called on the loop's thread. asyncio: Executor.shutdown(wait=True).
    Promise<void> shutdown(EventLoop& loop, Here here = Here());

    /// How many threads there are now.
    std::size_t thread_count() const;

private:
    struct Shared;

    std::shared_ptr<Shared> shared_;
};

/// Calls f(arguments…) on `executor`, bound as everywhere and called once, with an empty context,
/// and delivers to `loop` what it returns or throws: the same error object, CancelledError as a
/// cancellation. cancel() of the promise while the job waits: it is never called, and what it
/// captured is destroyed at once; while it runs: its result is dropped. Once the loop is closed
/// results are dropped silently. Throws what submit() throws. On the loop's thread.
template <class F, class... A>
Promise<typename detail::ExecutorResult<F, A...>::type> run_in_executor(EventLoop& loop,
                                                                        Executor& executor, F&& f,
                                                                        A&&... arguments) {
    loop.core().check("run_in_executor");
    detail::refuse_null(f, "run_in_executor");
    return detail::start_job<detail::BindJob<F, A...>>(loop, executor, nullptr, std::forward<F>(f),
                                                       std::forward<A>(arguments)...);
}

/// The executor of EventLoop::run_in_executor() and to_thread(): a ThreadPool made on first use and
/// closed with the loop. Throws StateError once it was shut down, and on a closed loop.
Executor& default_executor(EventLoop& loop);

/// ThreadPool::shutdown() of the default executor, which is refused from now on. Done at once if it
/// has no thread. Throws StateError on a closed loop. asyncio: loop.shutdown_default_executor().
Promise<void> shutdown_default_executor(EventLoop& loop);
/// The same, but done after `limit` at the latest, with a warning in the loop's log if a job still
/// runs then: its thread goes on, and delays neither close() nor the program's exit. No limit:
/// forever(). Throws std::invalid_argument for NaN. asyncio: shutdown_default_executor(timeout).
template <class Rep, class Period>
Promise<void> shutdown_default_executor(EventLoop& loop, std::chrono::duration<Rep, Period> limit) {
    return detail::shut_default_executor(loop, saturated(limit, "shutdown_default_executor"));
}

/// run_in_executor() on the running loop and its default executor, with a copy of the current
/// context; what f sets there is seen by f only. Throws StateError if no loop runs on this thread.
template <class F, class... A>
Promise<typename detail::ExecutorResult<F, A...>::type> to_thread(F&& f, A&&... arguments) {
    EventLoop& loop = detail::running_loop_for(
        "to_thread", "call from a callback, or loop.run_in_executor(f, …)");
    detail::refuse_null(f, "to_thread");
    return detail::start_job<detail::BindJob<F, A...>>(loop, default_executor(loop),
                                                       detail::copy_for_job(), std::forward<F>(f),
                                                       std::forward<A>(arguments)...);
}

template <class F, class... A>
Promise<typename detail::ExecutorResult<F, A...>::type> EventLoop::run_in_executor(
    F&& f, A&&... arguments) {
    core_->check("run_in_executor");
    return reactor::run_in_executor(*this, default_executor(*this), std::forward<F>(f),
                                    std::forward<A>(arguments)...);
}

/// A promise of what `future` will hold. A thread of `executor` (the loop's default one) waits for
/// it: many futures want an executor of their own. Throws std::future_error (no_state) for a future
/// that is not valid. Cancelling the promise does not end what the future stands for.
template <class T>
Promise<typename std::decay<T>::type> from_future(EventLoop& loop, Executor& executor,
                                                  std::future<T> future) {
    loop.core().check("from_future");
    if (!future.valid()) throw std::future_error(std::future_errc::no_state);
    return reactor::run_in_executor(
        loop, executor, [](std::future<T>& waited) -> T { return waited.get(); },
        std::move(future));
}
template <class T>
Promise<typename std::decay<T>::type> from_future(EventLoop& loop, std::future<T> future) {
    loop.core().check("from_future");
    return from_future(loop, default_executor(loop), std::move(future));
}

}  // namespace reactor

#endif
