// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/loop_group_shared.hpp>
#include <reactor/error.hpp>
#include <reactor/report.hpp>

#include <pthread.h>

#include <algorithm>
#include <utility>

#include <cxxabi.h>

namespace reactor {

namespace {

/// "reactor-loop-0": what pthread_setname_np() takes at most is 15 characters.
std::string thread_name(const std::string& name, std::size_t index) {
    const std::string number = "-" + std::to_string(index);
    return name.substr(0, 15 - std::min<std::size_t>(15, number.size())) + number.substr(0, 15);
}

thread_local const void* group_here = nullptr;

}  // namespace

void LoopGroup::Shared::stop() noexcept {
    {
        const std::lock_guard<std::mutex> lock(mutex);
        if (stopping) return;
        stopping = true;
    }
    // Those that have not begun see the flag when they do.
    for (std::size_t i = 0; i < members.size(); ++i) stop(i);
}

void LoopGroup::Shared::stop(std::size_t index) noexcept {
    const std::lock_guard<std::mutex> lock(mutex);
    const Member& member = members[index];
    if (!member.begun || !member.loop) return;
    try {
        // The thread keeps `this`.
        member.poster.post([this, index] { cancel_main(index); });
    } catch (...) {
        // No memory for a post: then without the politeness. The loop is there as long as its
        // pointer is.
        member.loop->stop_threadsafe();
    }
}

/// One loop's error ends all.
void LoopGroup::Shared::fail(std::exception_ptr&& failure, std::size_t index) noexcept {
    bool first;
    {
        const std::lock_guard<std::mutex> lock(mutex);
        first = !error;
        if (first) error = std::move(failure);  // moved: see the end of it in join()
    }
    if (!first) {
        log_to_standard_error(LogLevel::error, "Another error in loop " + std::to_string(index) +
                                                   " of a LoopGroup\n" + describe(failure));
    }
    stop();
}

void LoopGroup::Shared::thread_ends(std::size_t index) noexcept {
    {
        const std::lock_guard<std::mutex> lock(mutex);
        if (!members[index].begun) ++settled;
        changed.notify_all();
    }
    threads_are_gone(1);
}

/// They have ended, or could not be started.
void LoopGroup::Shared::threads_are_gone(std::size_t count) noexcept {
    std::map<std::uint64_t, Callback> last;
    {
        const std::lock_guard<std::mutex> lock(mutex);
        running -= count;
        if (running == 0) last.swap(at_end);
    }
    for (auto& one : last) {
        try {
            one.second();
        } catch (...) {
            log_to_standard_error(LogLevel::error,
                                  "The end of a LoopGroup cannot be told to an event loop\n" +
                                      describe(std::current_exception()));
        }
    }
}

/// It was cancelled.
void LoopGroup::Shared::forget_wait(std::uint64_t number) noexcept {
    Callback gone;  // after the lock
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = at_end.find(number);
    if (found == at_end.end()) return;
    gone = std::move(found->second);
    at_end.erase(found);
}

bool LoopGroup::Shared::is_here() const noexcept { return group_here == this; }

// ---- the threads of the loops ---------------------------------------------------------------

/// What a Runner runs: it ends, and destroys what the user's main has captured, with its task.
class LoopGroup::Shared::Main {
public:
    Main(Shared& shared, std::size_t index, detail::LoopMain main)
        : shared_(shared), index_(index), main_(std::move(main)) {}

    Promise<void> operator()(EventLoop& loop) { return shared_.begin(loop, index_, main_); }

private:
    Shared& shared_;
    std::size_t index_;
    detail::LoopMain main_;
};

void LoopGroup::Shared::work(const std::shared_ptr<Shared>& self, std::size_t index,
                             detail::LoopMain main) {
    group_here = self.get();
    // Ends also when the thread is cancelled inside a callback.
    struct Thread {
        Shared& shared;
        std::size_t index;
        ~Thread() { shared.thread_ends(index); }
    } const thread{*self, index};
    ::pthread_setname_np(::pthread_self(), thread_name(self->name, index).c_str());
    std::exception_ptr error;
    try {
        self->run(index, std::move(main));
    } catch (const abi::__forced_unwind&) {
        self->cut_short(index);
        throw;
    } catch (...) {
        error = std::current_exception();
    }
    // Outside of the handler, which would let go of it while join() throws it elsewhere.
    if (error) self->fail(std::move(error), index);
}

void LoopGroup::Shared::run(std::size_t index, detail::LoopMain main) {
    // Let go of at the end, whatever that is: what waited for it has ended.
    struct Let {
        Promise<void>& main;
        ~Let() { main = Promise<void>(); }
    } const let{members[index].main};
    Runner runner(options);
    // The others are told before this one cleans up, which may take its time.
    std::exception_ptr failure = run_main(runner, index, std::move(main));
    if (failure) fail(std::move(failure), index);
    leave(index);
    runner.close();
}

std::exception_ptr LoopGroup::Shared::run_main(Runner& runner, std::size_t index,
                                               detail::LoopMain main) {
    try {
        runner.run(Main(*this, index, std::move(main)));
    } catch (const CancelledError&) {
        if (!is_stopping()) return std::current_exception();
    } catch (const abi::__forced_unwind&) {
        leave(index);
        cut_short(index);
        throw;
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

Promise<void> LoopGroup::Shared::begin(EventLoop& loop, std::size_t index, detail::LoopMain& main) {
    Member& member = members[index];
    {
        const std::lock_guard<std::mutex> lock(mutex);
        member.poster = loop.poster();
        member.loop = &loop;
    }
    const Promise<void> made = main(loop, index);
    if (!made) {
        throw StateError(
            "LoopGroup::start: the main function has returned an empty promise: return one that is "
            "made, or nothing");
    }
    member.main = made;
    bool too_late;
    {
        const std::lock_guard<std::mutex> lock(mutex);
        member.begun = true;
        ++settled;
        too_late = stopping;
    }
    changed.notify_all();
    if (too_late) stop(index);
    return made;
}

/// The loop's run is over: nothing is left to stop.
void LoopGroup::Shared::leave(std::size_t index) noexcept {
    const std::lock_guard<std::mutex> lock(mutex);
    members[index].loop = nullptr;
}

/// Its thread is ended by force, which is not how a loop ends. Told once, as early as it is known.
void LoopGroup::Shared::cut_short(std::size_t index) noexcept {
    if (members[index].cut_short) return;
    members[index].cut_short = true;
    fail(std::make_exception_ptr(StateError(
             "LoopGroup: the thread of loop " + std::to_string(index) +
             " was ended by pthread_exit() or pthread_cancel(): end the loops by stop()")),
         index);
}

}  // namespace reactor
