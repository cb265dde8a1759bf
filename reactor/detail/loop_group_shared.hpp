// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_LOOP_GROUP_SHARED_HPP
#define REACTOR_DETAIL_LOOP_GROUP_SHARED_HPP

#include <reactor/callback.hpp>
#include <reactor/detail/loop_main.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/loop_group.hpp>
#include <reactor/promise.hpp>
#include <reactor/runner.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <unistd.h>

namespace reactor {

/// What a LoopGroup and its threads share, and what the threads do. It lives as long as one of them
/// or the group. What names no thread is guarded by the mutex.
struct LoopGroup::Shared {
    struct Member {
        Poster poster;
        EventLoop* loop = nullptr;  // while it may be told to stop
        bool begun = false;
        // Its thread's alone:
        Promise<void> main;
        bool cut_short = false;  // by pthread_exit(), and that is told
    };

    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Member> members;
    bool started = false;
    bool stopping = false;
    std::size_t settled = 0;  // have begun, or ended without
    std::size_t running = 0;  // threads
    std::size_t turn = 0;
    std::exception_ptr error;  // the first
    bool told = false;
    std::map<std::uint64_t, Callback> at_end;  // called by the last thread to end
    std::uint64_t waits = 0;                   // that there have been: the keys
    RunnerOptions options;
    std::string name;
    const ::pid_t process = ::getpid();

    // ---- any thread ----

    void stop() noexcept;
    void stop(std::size_t index) noexcept;
    void fail(std::exception_ptr&& failure, std::size_t index) noexcept;
    void thread_ends(std::size_t index) noexcept;
    void threads_are_gone(std::size_t count) noexcept;
    void forget_wait(std::uint64_t number) noexcept;
    /// Whether the calling thread is one of the group. The list of threads cannot be asked: start()
    /// still writes it when the first of them run.
    bool is_here() const noexcept;
    bool is_stopping() {
        const std::lock_guard<std::mutex> lock(mutex);
        return stopping;
    }
    std::exception_ptr tell() {
        const std::lock_guard<std::mutex> lock(mutex);
        told = true;
        return error;
    }

    // ---- the threads of the loops ----

    class Main;

    static void work(const std::shared_ptr<Shared>& self, std::size_t index, detail::LoopMain main);
    void run(std::size_t index, detail::LoopMain main);
    std::exception_ptr run_main(Runner& runner, std::size_t index, detail::LoopMain main);
    Promise<void> begin(EventLoop& loop, std::size_t index, detail::LoopMain& main);
    void leave(std::size_t index) noexcept;
    void cut_short(std::size_t index) noexcept;
    void cancel_main(std::size_t index) {
        // A copy: what is told of the cancellation may end the run.
        const Promise<void> main = members[index].main;
        if (main) main.cancel();
    }
};

}  // namespace reactor

#endif
