// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/signals_blocked.hpp>
#include <reactor/error.hpp>
#include <reactor/loop_group.hpp>
#include <reactor/report.hpp>

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>

#include <cxxabi.h>

namespace reactor {

namespace {

/// "reactor-loop-0": what pthread_setname_np() takes at most is 15 characters.
std::string thread_name(const std::string& name, std::size_t index) {
    const std::string number = "-" + std::to_string(index);
    return name.substr(0, 15 - std::min<std::size_t>(15, number.size())) + number.substr(0, 15);
}

}  // namespace

// ---- shared by the group and its threads ----------------------------------------------------

struct LoopGroup::Shared {
    struct Member {
        Poster poster;
        EventLoop* loop = nullptr;  // while it may be told to stop
        bool begun = false;
        Promise<void> main;  // its thread's alone
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
    std::vector<Callback> at_end;  // called by the last thread to end
    RunnerOptions options;
    std::string name;
    const ::pid_t process = ::getpid();

    // ---- any thread ----

    void stop() noexcept;
    void stop(std::size_t index) noexcept;
    void fail(std::exception_ptr&& failure, std::size_t index) noexcept;
    void thread_ends(std::size_t index) noexcept;
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
    void cancel_main(std::size_t index) {
        // A copy: what is told of the cancellation may end the run.
        const Promise<void> main = members[index].main;
        if (main) main.cancel();
    }
};

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
    std::vector<Callback> last;
    {
        const std::lock_guard<std::mutex> lock(mutex);
        if (!members[index].begun) ++settled;
        if (--running == 0) last.swap(at_end);
        changed.notify_all();
    }
    for (Callback& callback : last) {
        try {
            callback();
        } catch (...) {
            log_to_standard_error(LogLevel::error,
                                  "The end of a LoopGroup cannot be told to an event loop\n" +
                                      describe(std::current_exception()));
        }
    }
}

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
        throw;
    } catch (...) {
        error = std::current_exception();
    }
    // Outside of the handler, which would let go of it while join() throws it elsewhere.
    if (error) self->fail(std::move(error), index);
}

void LoopGroup::Shared::run(std::size_t index, detail::LoopMain main) {
    Runner runner(options);
    // The others are told before this one cleans up, which may take its time.
    std::exception_ptr failure = run_main(runner, index, std::move(main));
    if (failure) fail(std::move(failure), index);
    leave(index);
    runner.close();
    members[index].main = Promise<void>();  // what waited for it has ended
}

std::exception_ptr LoopGroup::Shared::run_main(Runner& runner, std::size_t index,
                                               detail::LoopMain main) {
    try {
        runner.run(Main(*this, index, std::move(main)));
    } catch (const CancelledError&) {
        if (!is_stopping()) return std::current_exception();
    } catch (const abi::__forced_unwind&) {
        leave(index);
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

// ---- the group ------------------------------------------------------------------------------

LoopGroup::LoopGroup(std::size_t loops, RunnerOptions options, const std::string& name)
    : shared_(std::make_shared<Shared>()) {
    if (loops == 0) loops = std::max(1u, std::thread::hardware_concurrency());
    shared_->members.resize(loops);
    shared_->options = std::move(options);
    shared_->options.handle_sigint = false;  // which is for the program's first thread
    shared_->name = name;
}

LoopGroup::~LoopGroup() {
    if (::getpid() != shared_->process) {
        // The parent's threads are not here, and one of them may have held the mutex at the fork.
        new std::vector<std::thread>(std::move(threads_));
        return;
    }
    if (is_own_thread()) {
        log_to_standard_error(LogLevel::error,
                              "A LoopGroup is destroyed on a thread of its own, which it would "
                              "have to wait for: stop() there, and destroy it elsewhere");
        std::terminate();
    }
    stop();
    join_threads();
    if (!shared_->error || shared_->told) return;
    log_to_standard_error(LogLevel::error,
                          "Error in a loop of a LoopGroup\n" + describe(shared_->error));
}

std::size_t LoopGroup::size() const noexcept { return shared_->members.size(); }

void LoopGroup::start() {
    start([](EventLoop&, std::size_t) {});
}

void LoopGroup::start_all(detail::LoopMain main) {
    Shared& shared = *shared_;
    {
        const std::lock_guard<std::mutex> lock(shared.mutex);
        if (shared.started) {
            throw StateError("LoopGroup::start: it was started before: make a new one");
        }
        shared.started = true;
    }
    try {
        threads_.reserve(size());
        for (std::size_t i = 0; i < size(); ++i) start_thread(i, main);
    } catch (...) {
        stop();
        join_threads();
        throw;
    }
    bool all;
    {
        std::unique_lock<std::mutex> lock(shared.mutex);
        shared.changed.wait(lock, [&] { return shared.settled == size(); });
        all = std::all_of(shared.members.begin(), shared.members.end(),
                          [](const Shared::Member& member) { return member.begun; });
    }
    if (!all) join();  // which throws: the error has stopped the others
}

void LoopGroup::start_thread(std::size_t index, const detail::LoopMain& main) {
    const std::shared_ptr<Shared> shared = shared_;
    {
        const std::lock_guard<std::mutex> lock(shared->mutex);
        ++shared->running;
    }
    try {
        const detail::SignalsBlocked blocked;
        threads_.emplace_back(&Shared::work, shared, index, main);
    } catch (const std::system_error& error) {
        const std::lock_guard<std::mutex> lock(shared->mutex);
        --shared->running;
        throw std::system_error(error.code(), "LoopGroup::start: thread " +
                                                  std::to_string(index + 1) + " of " +
                                                  std::to_string(size()));
    } catch (...) {
        const std::lock_guard<std::mutex> lock(shared->mutex);
        --shared->running;
        throw;
    }
}

Poster LoopGroup::poster(std::size_t index) const {
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    return shared_->members.at(index).poster;
}

Poster LoopGroup::next() const {
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    return shared_->members[shared_->turn++ % shared_->members.size()].poster;
}

void LoopGroup::stop() noexcept {
    {
        const std::lock_guard<std::mutex> lock(shared_->mutex);
        if (!shared_->started) return;
    }
    shared_->stop();
}

void LoopGroup::join() {
    if (is_own_thread()) {
        throw StateError(
            "LoopGroup::join: this is a thread of its own, which would wait for itself: join from "
            "the thread that started it");
    }
    join_threads();
    if (const std::exception_ptr error = shared_->tell()) std::rethrow_exception(error);
}

Promise<void> LoopGroup::wait(EventLoop& loop, Here here) {
    loop.core().check("LoopGroup::wait");
    const std::shared_ptr<Shared> shared = shared_;
    const Promise<void> ended = loop.create_promise<void>(here);
    const Poster poster = loop.poster();
    const auto tell = [shared, ended] {
        if (ended.done()) return;
        if (const std::exception_ptr error = shared->tell()) {
            ended.set_exception(error);
        } else {
            ended.set_result();
        }
    };
    {
        const std::lock_guard<std::mutex> lock(shared->mutex);
        if (!shared->started)
            throw StateError("LoopGroup::wait: it was not started: start() first");
        if (shared->running != 0) {
            // A closed loop takes no post: then nobody waits any more.
            shared->at_end.emplace_back([poster, tell] { poster.post(tell); });
            return ended;
        }
    }
    tell();
    return ended;
}

void LoopGroup::join_threads() noexcept {
    for (std::thread& thread : threads_) {
        if (thread.joinable()) thread.join();
    }
}

bool LoopGroup::is_own_thread() const noexcept {
    const std::thread::id here = std::this_thread::get_id();
    return std::any_of(threads_.begin(), threads_.end(),
                       [here](const std::thread& thread) { return thread.get_id() == here; });
}

}  // namespace reactor
