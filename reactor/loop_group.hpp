// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_LOOP_GROUP_HPP
#define REACTOR_LOOP_GROUP_HPP

#include <reactor/detail/loop_main.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/here.hpp>
#include <reactor/promise.hpp>
#include <reactor/runner.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace reactor {

/// Event loops, each on a thread of its own, which begin and end together. asyncio: a Runner in
/// each of several threads; Asio: an io_context for each thread.
///
///     reactor::LoopGroup loops(2);
///     loops.start([](reactor::EventLoop& loop, std::size_t index) { … });
///     loops.next().post(work);                  // on one of them, in turn
///     loops.stop();
///     loops.join();                             // throws what went wrong on any of them
///
/// Owned by one thread, usually main()'s, which starts and joins; the rest is for any thread, those
/// of the loops included. A loop, and what belongs to it, is made, used and closed on its own
/// thread, by a Runner; others reach it by its poster(). The threads block every signal that is
/// sent to the process, so that those reach the program's own threads, and their loops begin in an
/// empty context.
///
///     made ──start()──> running ──stop(), or an error of one──> ending ──> ended
///
/// What leaves one loop ends all: LoopExit, an error of its main promise, what waiting itself
/// throws. join() and wait() tell the first; later ones are logged to standard error. What a
/// callback throws goes to its loop's exception handler, as ever, and ends nothing.
class LoopGroup {
public:
    /// So many loops; 0: as many as there are processors that this thread may run on. `options` are
    /// those of each loop's Runner; the loop factory is called on the loop's thread, a copy of it
    /// for each. `name` and a number are what the system shows for the threads (15 characters).
    explicit LoopGroup(std::size_t loops = 0, RunnerOptions options = RunnerOptions(),
                       const std::string& name = "reactor-loop");
    LoopGroup(const LoopGroup&) = delete;
    LoopGroup& operator=(const LoopGroup&) = delete;
    /// stop() and join(); an error that nobody was told is logged to standard error. On a thread of
    /// its own it says so there and terminates. In a forked child, which has none of the threads,
    /// it only forgets them.
    ~LoopGroup();

    std::size_t size() const noexcept;

    /// Starts all the threads, and returns when each loop runs and has called its copy of `main`:
    /// main(EventLoop&, index), which sets up what the loop shall do and returns nothing, or a
    /// Promise or a task that is the loop's main one. Without a promise the loop runs until stop();
    /// with one until that is done, and the other loops go on.
    ///
    /// If a thread cannot be started, a loop not made, or `main` throws, all that has begun is
    /// ended and joined, and this throws the error: the group has ended then. Throws StateError
    /// for a second start, and if `main` returns an empty promise.
    void start();
    template <class F>
    void start(F main) {
        start_all(detail::loop_main(std::move(main)));
    }

    /// To post to the loop of that index; std::out_of_range beyond. Posts nowhere before start().
    Poster poster(std::size_t index) const;
    /// The same for each in turn.
    Poster next() const;

    /// Cancels each loop's main promise, and then what other tasks it has, as Runner::close() does:
    /// each may clean up. Returns at once. Again, and before start(): no effect.
    void stop() noexcept;

    /// Waits until all threads have ended, and throws the first error, each time it is called;
    /// CancelledError if a main promise was cancelled by somebody else than stop(), StateError if a
    /// thread was ended by pthread_exit() or pthread_cancel(), which ends all. The owner's.
    /// No effect before start(). Throws StateError on a thread of its own, which would wait for
    /// itself.
    void join();
    /// The same as a promise of a loop that is none of these, on whose thread it is called: done
    /// when the loops are closed. Throws StateError before start(), and on a loop of these.
    Promise<void> wait(EventLoop& loop, Here here = Here());

private:
    struct Shared;

    void start_all(detail::LoopMain main);
    void start_thread(std::size_t index, const detail::LoopMain& main);
    void join_threads() noexcept;
    bool is_own_thread() const noexcept;

    std::shared_ptr<Shared> shared_;
    std::vector<std::thread> threads_;
};

}  // namespace reactor

#endif
