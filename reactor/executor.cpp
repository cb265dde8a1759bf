// SPDX-License-Identifier: BSL-1.0
#include <reactor/combinators.hpp>
#include <reactor/detail/inbox.hpp>
#include <reactor/detail/signals_blocked.hpp>
#include <reactor/executor.hpp>
#include <reactor/report.hpp>

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include <cxxabi.h>

namespace reactor {

namespace {

// Python's bound (concurrent/futures/thread.py): jobs mostly wait, and so want more threads than
// there are processors, but a big machine must not get hundreds for a few files.
std::size_t default_limit() noexcept {
    return std::min<std::size_t>(32, std::thread::hardware_concurrency() + 4);
}

void run_logged(Callback& job) {
    try {
        job();
    } catch (const abi::__forced_unwind&) {
        throw;
    } catch (...) {
        log_to_standard_error(LogLevel::error, "Exception in a job of a thread pool\n" +
                                                   describe(std::current_exception()));
    }
    job.reset();
}

}  // namespace

Executor::~Executor() = default;

// ---- the pool -------------------------------------------------------------------------------

struct ThreadPool::Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Callback> jobs;
    std::size_t threads = 0;
    std::size_t idle = 0;
    std::size_t limit = 0;
    std::size_t queue_limit = 0;
    bool closed = false;
    std::vector<Callback> at_end;  // called by the last thread to end
    std::string name;
    ::pid_t process = ::getpid();

    /// What each thread runs; `self` keeps the rest alive.
    static void work(const std::shared_ptr<Shared>& self) {
        // Leaves also when the thread is cancelled inside a job.
        struct Thread {
            Shared& shared;
            ~Thread() { shared.thread_ends(); }
        } thread{*self};
        std::unique_lock<std::mutex> lock(self->mutex);
        for (;;) {
            while (self->jobs.empty() && !self->closed) {
                ++self->idle;
                self->changed.wait(lock);
                --self->idle;
            }
            if (self->jobs.empty()) return;
            Callback job = std::move(self->jobs.front());
            self->jobs.pop_front();
            lock.unlock();
            run_logged(job);
            lock.lock();
        }
    }

    void thread_ends() noexcept {
        std::vector<Callback> last;
        {
            const std::lock_guard<std::mutex> lock(mutex);
            if (--threads == 0) last.swap(at_end);
        }
        for (Callback& callback : last) run_logged(callback);
    }
};

ThreadPool::ThreadPool(std::size_t limit, const std::string& name, std::size_t queue_limit)
    : shared_(std::make_shared<Shared>()) {
    shared_->limit = limit != 0 ? limit : default_limit();
    shared_->queue_limit = queue_limit;
    shared_->name = name.substr(0, 15);  // pthread_setname_np refuses a longer one
}

ThreadPool::~ThreadPool() { close(); }

void ThreadPool::submit(Callback job) {
    if (!job) throw std::invalid_argument("submit: the job is empty: give it something to call");
    Shared& shared = *shared_;
    Callback refused;  // destroyed after the mutex is free: what the job captured may ask the pool
    const std::lock_guard<std::mutex> lock(shared.mutex);
    if (shared.closed) {
        throw StateError("submit: the thread pool is closed: submit before close() and shutdown()");
    }
    const bool busy = shared.jobs.size() >= shared.idle;  // each idle one has its job already
    if (busy && shared.queue_limit != 0 && shared.threads == shared.limit &&
        shared.jobs.size() - shared.idle >= shared.queue_limit) {
        throw std::system_error(
            EAGAIN, std::system_category(),
            "submit: the queue is full: wait for a job, or give the pool a longer one");
    }
    shared.jobs.push_back(std::move(job));
    if (!busy || shared.threads == shared.limit) {
        shared.changed.notify_one();
        return;
    }
    try {
        const detail::SignalsBlocked blocked;
        std::thread thread(&Shared::work, shared_);
        ++shared.threads;  // it waits for the mutex
        ::pthread_setname_np(thread.native_handle(), shared.name.c_str());
        thread.detach();
    } catch (...) {
        if (shared.threads != 0) return;  // those that are there will come to it
        refused = std::move(shared.jobs.back());
        shared.jobs.pop_back();
        throw;
    }
}

void ThreadPool::close() noexcept {
    // The parent's threads are not here, and one of them may have held the mutex at the fork.
    if (::getpid() != shared_->process) return;
    std::deque<Callback> dropped;
    {
        const std::lock_guard<std::mutex> lock(shared_->mutex);
        shared_->closed = true;
        dropped.swap(shared_->jobs);
    }
    shared_->changed.notify_all();
}

Promise<void> ThreadPool::shutdown(EventLoop& loop, Here here) {
    loop.core().check("ThreadPool::shutdown");
    const Promise<void> ended = loop.create_promise<void>(here);
    const Poster poster = loop.poster();
    bool at_once;
    {
        const std::lock_guard<std::mutex> lock(shared_->mutex);
        at_once = shared_->threads == 0;
        if (!at_once) {
            // A closed loop takes no post: then nobody waits any more.
            shared_->at_end.emplace_back(
                [poster, ended] { poster.post([ended] { set_result_unless_cancelled(ended); }); });
        }
        shared_->closed = true;
    }
    shared_->changed.notify_all();
    if (at_once) ended.set_result();
    return ended;
}

std::size_t ThreadPool::thread_count() const {
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    return shared_->threads;
}

// ---- jobs -----------------------------------------------------------------------------------

namespace detail {

namespace {

/// A job in an executor's hands: run, or refused when the executor drops it.
class SubmittedJob {
public:
    explicit SubmittedJob(std::shared_ptr<JobBase> job) noexcept : job_(std::move(job)) {}
    SubmittedJob(SubmittedJob&& other) noexcept = default;
    SubmittedJob& operator=(SubmittedJob&&) = delete;
    ~SubmittedJob() {
        if (job_ && job_->claim()) job_->refuse(job_);
    }

    void operator()() {
        if (job_->claim()) job_->run(job_);
    }

private:
    std::shared_ptr<JobBase> job_;
};

/// A job on its way back. Promise and job keep each other until it arrives: if that never happens,
/// because the loop is closed, it parts them.
class Delivery {
public:
    explicit Delivery(std::shared_ptr<JobBase> job) noexcept : job_(std::move(job)) {}
    Delivery(Delivery&& other) noexcept = default;
    Delivery& operator=(Delivery&&) = delete;
    ~Delivery() {
        if (job_) job_->abandon();
    }

    void operator()() {
        const std::shared_ptr<JobBase> job = std::move(job_);
        get_running_loop().core().caused_by(job->cause());
        job->deliver();
    }

private:
    std::shared_ptr<JobBase> job_;
};

/// The calling thread's current context, for a while: a job must see nothing of what another one
/// has set on the same thread.
class OwnContext {
public:
    explicit OwnContext(ContextMapPtr map) noexcept
        : cell_(std::move(map)), slot_(current_context_slot()), before_(slot_) {
        slot_ = &cell_;
    }
    ~OwnContext() { slot_ = before_; }
    OwnContext(const OwnContext&) = delete;
    OwnContext& operator=(const OwnContext&) = delete;

private:
    ContextCell cell_;
    ContextCell*& slot_;
    ContextCell* before_;
};

}  // namespace

JobBase::JobBase(EventLoop& loop, ContextMapPtr context)
    : poster_(loop.poster()), context_(std::move(context)), cause_(loop.core().trace_id) {}

JobBase::~JobBase() = default;

void JobBase::run(const std::shared_ptr<JobBase>& self) {
    {
        const OwnContext context(std::move(context_));
        try {
            call();
        } catch (const CancelledError&) {
            cancelled_ = true;
            error_ = std::current_exception();
        } catch (const abi::__forced_unwind&) {
            throw;
        } catch (...) {
            error_ = std::current_exception();
        }
        drop_callable();
    }
    post(self);
}

void JobBase::refuse(const std::shared_ptr<JobBase>& self) noexcept {
    drop_callable();
    context_ = nullptr;
    cancelled_ = true;
    post(self);
}

void JobBase::post(const std::shared_ptr<JobBase>& self) noexcept {
    try {
        poster_.post(Delivery(self));
    } catch (...) {
        log_undelivered("The result of a job");
    }
}

void submit_job(Executor& executor, std::shared_ptr<JobBase> job) {
    executor.submit(Callback(SubmittedJob(std::move(job))));
}

ContextMapPtr copy_for_job() { return clone_for_other_thread(current_context().map); }

namespace {

/// The loop's own pool, and whether it still takes jobs.
struct DefaultExecutor {
    explicit DefaultExecutor(EventLoop&) : pool(0, "reactor-default") {}

    ThreadPool pool;
    bool shut = false;
};

}  // namespace

}  // namespace detail

Promise<void> detail::shut_default_executor(EventLoop& loop, Duration limit) {
    const Promise<void> ended = shutdown_default_executor(loop);
    if (ended.done()) return ended;
    const ThreadPool& pool = loop.service<DefaultExecutor>().pool;
    return wait_for(ended, limit).except([&loop, &pool, limit](const TimeoutError&) {
        const std::size_t threads = pool.thread_count();
        if (threads == 0) return;  // it ended in this very iteration
        char waited[32];
        std::snprintf(waited, sizeof waited, "%g", std::chrono::duration<double>(limit).count());
        loop.log(LogLevel::warning,
                 "The default executor did not end within " + std::string(waited) + " seconds: " +
                     std::to_string(threads) + (threads == 1 ? " thread is" : " threads are") +
                     " still busy with jobs, which nobody waits for any more");
    });
}

Executor& default_executor(EventLoop& loop) {
    loop.core().check("default_executor");
    detail::DefaultExecutor& executor = loop.service<detail::DefaultExecutor>();
    if (executor.shut) {
        throw StateError(
            "run_in_executor: the default executor was shut down: give an executor of your own");
    }
    return executor.pool;
}

Promise<void> shutdown_default_executor(EventLoop& loop) {
    loop.core().check("shutdown_default_executor");
    detail::DefaultExecutor& executor = loop.service<detail::DefaultExecutor>();
    executor.shut = true;
    return executor.pool.shutdown(loop);
}

}  // namespace reactor
