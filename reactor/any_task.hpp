// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_ANY_TASK_HPP
#define REACTOR_ANY_TASK_HPP

#include <reactor/any_promise.hpp>
#include <reactor/clock.hpp>
#include <reactor/detail/task_core.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/task_handle.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace reactor {

/// A task whose result's type does not matter: what all TaskHandle<R> have in common. A counted
/// reference, with AnyPromise's rules about threads and empty ones: done(), cancelled(), cancel(),
/// error() are those of the task's promise. asyncio: Task.
class AnyTask : public AnyPromise {
public:
    AnyTask() noexcept = default;
    template <class R>
    AnyTask(const TaskHandle<R>& task) noexcept : AnyPromise(task) {}

    /// As of TaskHandle: the function in which it waits or waited last, and "file:line" of that.
    const char* state() const { return core("state").waits_in(); }
    std::string where() const { return core("where").where(); }
    std::string name() const { return core("name").name(); }
    void set_name(std::string name) const { core("set_name").set_name(std::move(name)); }
    std::uint32_t cancelling() const { return core("cancelling").cancelling; }
    std::uint32_t uncancel() const { return core("uncancel").uncancel(); }

    /// Its class, as the compiler prints it.
    std::string type() const;
    /// Where it was made, as "file:line"; empty if its options did not tell.
    std::string made_at() const { return core("made_at").own.made_at(); }
    /// How long ago it was made: negative if that is not known, since the loop was not in debug
    /// mode then, and once it is done.
    Duration age() const;
    /// What it does now: "waiting in connect at fetch.cpp:31", "not started", "running", …
    std::string status() const;
    /// All of it in one line.
    std::string text() const;

private:
    friend struct detail::PromiseAccess;
    explicit AnyTask(detail::PromiseState* adopted) noexcept : AnyPromise(adopted) {}

    detail::TaskCore& core(const char* call) const { return *AnyPromise::state(call).as_task(); }
};

/// The tasks of a loop that are not done, in the order in which they were made; without one of
/// which the last handle is just going. Each of them is kept by what it gives. Empty on a closed
/// loop. On the loop's thread. asyncio: all_tasks.
std::vector<AnyTask> all_tasks(EventLoop& loop = get_running_loop());

/// The task whose step runs now on this loop; empty outside of one: in a plain callback, in a done
/// callback of a task, on another thread, which may ask as well. asyncio: current_task.
AnyTask current_task(EventLoop& loop = get_running_loop());

/// A table for humans, one line for each.
std::string text(const std::vector<AnyTask>& tasks);

namespace detail {

/// AnyTask::status().
std::string task_status(TaskCore& task);

}  // namespace detail
}  // namespace reactor

#endif
