// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TASK_HANDLE_HPP
#define REACTOR_TASK_HANDLE_HPP

#include <reactor/detail/task_core.hpp>
#include <reactor/promise.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace reactor {

/// The promise of a task's result: a Promise<R> that also tells about the task. No data of its own,
/// so that a copy as Promise<R> loses nothing. Every function throws StateError on an empty handle.
/// asyncio: Task.
template <class R>
class TaskHandle : public Promise<R> {
public:
    TaskHandle() noexcept = default;

    /// The function in which the task waits, or waited last; "start" before the first wait.
    const char* state() const { return core("state").waits_in(); }
    /// Where it waits, as "file:line"; before the first wait where it was made, if the options
    /// told.
    std::string where() const { return core("where").where(); }

    /// How many cancellations were requested and not taken back.
    std::uint32_t cancelling() const { return core("cancelling").cancelling; }
    /// Takes one back, never below 0, and gives the rest. At 0 a cancellation that no state has
    /// seen yet is not delivered any more. asyncio: uncancel (3.13).
    std::uint32_t uncancel() const { return core("uncancel").uncancel(); }

    /// What the options' label or set_name() said, else "Task-N", where N counts the loop's tasks.
    std::string name() const { return core("name").name(); }
    void set_name(std::string name) const { core("set_name").set_name(std::move(name)); }

private:
    friend struct detail::PromiseAccess;
    explicit TaskHandle(detail::PromiseState* adopted) noexcept : Promise<R>(adopted) {}

    detail::TaskCore& core(const char* call) const { return *AnyPromise::state(call).as_task(); }
};

}  // namespace reactor

#endif
