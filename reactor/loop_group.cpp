// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/loop_group_shared.hpp>
#include <reactor/detail/signals_blocked.hpp>
#include <reactor/error.hpp>
#include <reactor/loop_group.hpp>
#include <reactor/report.hpp>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <utility>

namespace reactor {

namespace {

/// What this thread, and so those that it starts, may run on: a container or taskset leaves a
/// process some of the machine's processors.
std::size_t processors() {
    ::cpu_set_t allowed;
    CPU_ZERO(&allowed);
    // EINVAL: the machine may have more than the set has room for.
    if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
        return static_cast<std::size_t>(std::max(1, CPU_COUNT(&allowed)));
    }
    return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

LoopGroup::LoopGroup(std::size_t loops, RunnerOptions options, const std::string& name)
    : shared_(std::make_shared<Shared>()) {
    if (loops == 0) loops = processors();
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
        // All at once: between two of them wait() would find that none is left.
        shared.running = size();
    }
    try {
        threads_.reserve(size());
        for (std::size_t i = 0; i < size(); ++i) start_thread(i, main);
    } catch (...) {
        {
            const std::lock_guard<std::mutex> lock(shared.mutex);
            if (!shared.error) {
                shared.error = std::current_exception();
                shared.told = true;
            }
        }
        stop();
        join_threads();
        shared.threads_are_gone(size() - threads_.size());
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
    try {
        const detail::SignalsBlocked blocked;
        threads_.emplace_back(&Shared::work, shared_, index, main);
    } catch (const std::system_error& error) {
        throw std::system_error(error.code(), "LoopGroup::start: thread " +
                                                  std::to_string(index + 1) + " of " +
                                                  std::to_string(size()));
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
    if (is_own_thread()) {
        throw StateError(
            "LoopGroup::wait: this loop is one of its own, which would wait for its own end: wait "
            "on a loop that is none of them");
    }
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
    std::uint64_t number = 0;
    {
        const std::lock_guard<std::mutex> lock(shared->mutex);
        if (!shared->started)
            throw StateError("LoopGroup::wait: it was not started: start() first");
        if (shared->running != 0) {
            number = ++shared->waits;
            // A closed loop takes no post: then nobody waits any more.
            shared->at_end.emplace(number, [poster, tell] { poster.post(tell); });
        }
    }
    if (number == 0) {
        tell();
        return ended;
    }
    // One that is given up must not stay until the end, which may be far.
    const std::weak_ptr<Shared> group = shared;
    ended.add_done_callback([group, number](const Promise<void>& promise) {
        const std::shared_ptr<Shared> there = group.lock();
        if (there && promise.cancelled()) there->forget_wait(number);
    });
    return ended;
}

void LoopGroup::join_threads() noexcept {
    for (std::thread& thread : threads_) {
        if (thread.joinable()) thread.join();
    }
}

bool LoopGroup::is_own_thread() const noexcept { return shared_->is_here(); }

}  // namespace reactor
