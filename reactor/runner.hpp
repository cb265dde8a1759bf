// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_RUNNER_HPP
#define REACTOR_RUNNER_HPP

#include <reactor/context.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/handle.hpp>
#include <reactor/promise.hpp>
#include <reactor/task.hpp>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace reactor {

namespace detail {

template <class F>
using RunFunctionResult = InvokeResult<typename std::decay<F>::type&, EventLoop&>;
template <class F>
using RunFunctionValue = ValueOf<RunFunctionResult<F>>;

/// The main task of run(f): f makes the promise that it waits for.
template <class F, class T, bool returns_promise = IsPromise<RunFunctionResult<F>>::value>
class RunFunction : public Task<T> {
public:
    explicit RunFunction(F f) : f_(std::move(f)) {}

private:
    Next start() override { return this->await(Promise<T>(f_(this->loop())), &RunFunction::done); }
    Next done(T value) { return this->finish(std::move(value)); }

    F f_;
};
template <class F>
class RunFunction<F, void, true> : public Task<void> {
public:
    explicit RunFunction(F f) : f_(std::move(f)) {}

private:
    Next start() override { return await(Promise<void>(f_(loop())), &RunFunction::done); }
    Next done() { return finish(); }

    F f_;
};
template <class F, class T>
class RunFunction<F, T, false> : public Task<T> {
public:
    explicit RunFunction(const F&) {
        static_assert(!std::is_same<F, F>::value,
                      "run: the function takes an EventLoop& and returns a promise");
    }

private:
    Next start() override { return this->end(); }
};

}  // namespace detail

/// What a Runner is made with.
struct RunnerOptions {
    bool debug = false;                                        ///< set_debug() of the loop
    std::function<std::unique_ptr<EventLoop>()> loop_factory;  ///< empty: new_event_loop()
    bool handle_sigint = true;                                 ///< Ctrl-C cancels the main task
};

/// Owns a loop and runs main tasks on it, one after the other; at its end it leaves nothing behind.
/// Usually a local of main(); one thread. asyncio: Runner.
///
///     int main() {
///         reactor::Runner runner;
///         runner.run<Setup>(arguments);
///         return runner.run<Serve>();
///     }
///
/// Ctrl-C (SIGINT), on the program's first thread and if nobody else handles it: the main task is
/// cancelled, and run() throws Interrupted if it ended cancelled by nothing else. At the second one
/// run() throws Interrupted without waiting for the task's end. Between the runs, and in close(),
/// it ends the program as ever.
class Runner {
public:
    explicit Runner(RunnerOptions options = RunnerOptions());
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;
    /// close(); an error of it is logged to standard error.
    ~Runner();

    /// The loop, made at the first need: open, and not running between two runs. Throws StateError
    /// on a closed runner.
    EventLoop& get_loop();

    /// Makes a task of class S, runs until it is done, and returns its value or throws its error.
    /// All runs of a runner share one context, a copy of the one at the first need; one that is
    /// given as the first argument, as Options, is used for that run. Throws StateError on a closed
    /// runner and while a loop runs on this thread, without starting anything.
    template <class S, class... A>
    typename detail::ResultOfTask<S>::type run(A&&... arguments) {
        check();
        return finish<typename detail::ResultOfTask<S>::type>(
            choose<S>(std::forward<A>(arguments)...));
    }

    /// The same for a function that starts the work: f(EventLoop&), called in the loop, returns a
    /// Promise or a TaskHandle.
    template <class F, class T = detail::RunFunctionValue<F>>
    T run(F&& f) {
        return run<detail::RunFunction<typename std::decay<F>::type, T>>(std::forward<F>(f));
    }
    template <class F, class T = detail::RunFunctionValue<F>>
    T run(const Options& options, F&& f) {
        return run<detail::RunFunction<typename std::decay<F>::type, T>>(options,
                                                                         std::forward<F>(f));
    }

    /// Cancels every task that is pending and runs the loop until they have ended, reporting what
    /// fails meanwhile; waits for the jobs of the default executor, for five minutes at the most (a
    /// warning in the loop's log says so); closes the loop. For good; but no effect if the runner
    /// was never used. Throws StateError while a loop runs on this thread,
    /// and what leaves the loop (LoopExit), after all has been closed.
    void close();

private:
    void check();
    void run_until_done(const AnyPromise& main);
    void finish_tasks();

    template <class S, class... A>
    TaskHandle<typename detail::ResultOfTask<S>::type> make(const Options& options,
                                                            A&&... arguments) {
        return get_loop().create_task<S>(in_context(options), std::forward<A>(arguments)...);
    }
    template <class S>
    TaskHandle<typename detail::ResultOfTask<S>::type> choose() {
        return make<S>(Options());
    }
    template <class S, class First, class... A>
    typename std::enable_if<std::is_same<typename std::decay<First>::type, Options>::value,
                            TaskHandle<typename detail::ResultOfTask<S>::type>>::type
    choose(First&& options, A&&... arguments) {
        return make<S>(options, std::forward<A>(arguments)...);
    }
    template <class S, class First, class... A>
    typename std::enable_if<!std::is_same<typename std::decay<First>::type, Options>::value,
                            TaskHandle<typename detail::ResultOfTask<S>::type>>::type
    choose(First&& first, A&&... arguments) {
        return make<S>(Options(), std::forward<First>(first), std::forward<A>(arguments)...);
    }
    /// The options, with the runner's context if they have none.
    Options in_context(Options options);

    template <class T>
    T finish(Promise<T> main) {
        run_until_done(main);
        return detail::pass_value(detail::typed_state(main));
    }

    RunnerOptions options_;
    std::unique_ptr<EventLoop> loop_;
    std::unique_ptr<Context> context_;
    bool closed_ = false;
};

/// A Runner for one run, closed after it. asyncio: run().
template <class S, class... A>
typename detail::ResultOfTask<S>::type run(A&&... arguments) {
    Runner runner;
    return runner.run<S>(std::forward<A>(arguments)...);
}
template <class F, class T = detail::RunFunctionValue<F>>
T run(F&& f) {
    Runner runner;
    return runner.run(std::forward<F>(f));
}

}  // namespace reactor

#endif
