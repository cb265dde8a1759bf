// SPDX-License-Identifier: BSL-1.0
#include <net/detail/lookup_pool.hpp>
#include <reactor/detail/signals_blocked.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include <unistd.h>

namespace reactor {
namespace net {
namespace detail {

namespace {

// Long enough for the next page's names, short enough that a quiet program has no threads.
constexpr std::chrono::seconds idle_time(10);

}  // namespace

void LookupPool::submit(Job job) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (jobs_.size() >= Resolver::max_waiting) {
        throw std::system_error(
            EAGAIN, std::system_category(),
            "resolve " + job.question.str() + ": too many names wait to be looked up");
    }
    jobs_.push_back(std::move(job));
    if (jobs_.size() <= idle_) {
        wake_.notify_one();
        return;
    }
    if (threads_ >= Resolver::max_threads) return;
    try {
        start_thread();
    } catch (const std::system_error& error) {
        if (threads_ != 0) return;  // those there are will come to it
        const std::string name = jobs_.back().question.str();
        jobs_.pop_back();
        throw std::system_error(error.code(), "resolve " + name + ": no thread can be started");
    }
}

void LookupPool::start_thread() {
    const reactor::detail::SignalsBlocked blocked;
    const std::shared_ptr<LookupPool> self = shared_from_this();
    std::thread([self] { self->work(); }).detach();
    ++threads_;
}

long LookupPool::own_process() noexcept { return static_cast<long>(::getpid()); }

// The parent's threads are not in here, and one of them may have held the mutex at the fork.
bool LookupPool::forked() const noexcept { return process_ != own_process(); }

bool LookupPool::withdraw(const Question& question, Job& withdrawn) {
    if (forked()) return false;
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto job = std::find_if(jobs_.begin(), jobs_.end(),
                                  [&](const Job& waiting) { return waiting.question == question; });
    if (job == jobs_.end()) return false;
    withdrawn = std::move(*job);
    jobs_.erase(job);
    return true;
}

void LookupPool::close() noexcept {
    if (forked()) return;
    std::deque<Job> dropped;
    const std::lock_guard<std::mutex> lock(mutex_);
    dropped.swap(jobs_);
    closed_ = true;
    wake_.notify_all();
}

void LookupPool::work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!closed_) {
        if (jobs_.empty()) {
            ++idle_;
            const bool called =
                wake_.wait_for(lock, idle_time, [this] { return closed_ || !jobs_.empty(); });
            --idle_;
            if (!called) break;
            continue;
        }
        Job job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        run(job);
        job = Job();  // what it refers to may be destroyed now: not under the lock
        lock.lock();
    }
    --threads_;
}

void LookupPool::run(Job& job) {
    LookupAnswer answer;
    try {
        answer.found = (*job.lookup)(job.question.name);
        if (answer.found.empty()) {
            throw ResolveError(job.question.str(),
                               std::error_code(EADDRNOTAVAIL, std::system_category()));
        }
    } catch (...) {
        // Kept, and handed over by move outside of this clause: the exception must be destroyed on
        // one thread only.
        answer.error = std::current_exception();
    }
    job.deliver(job.question, std::move(answer));
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
