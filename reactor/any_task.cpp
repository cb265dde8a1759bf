// SPDX-License-Identifier: BSL-1.0
#include <reactor/any_task.hpp>
#include <reactor/detail/births.hpp>
#include <reactor/detail/text_table.hpp>
#include <reactor/state_graph.hpp>

#include <algorithm>

namespace reactor {

using detail::PromiseAccess;
using detail::PromiseState;

std::string AnyTask::type() const { return detail::type_text(core("type").class_name); }

Duration AnyTask::age() const { return detail::Births::age(core("age").own); }

std::string AnyTask::status() const { return detail::task_status(core("status")); }

namespace {

std::string rest_of(const AnyTask& task) {
    std::string rest = task.status();
    if (task.cancelling() != 0) rest += ", cancellation requested";
    const std::string made = task.made_at();
    if (!made.empty()) rest += ", made at " + made;
    const Duration age = task.age();
    if (age >= Duration::zero()) rest += ", " + detail::seconds_text(age) + " old";
    return rest;
}

}  // namespace

std::string AnyTask::text() const { return name() + " (" + type() + ") " + rest_of(*this); }

std::vector<AnyTask> all_tasks(EventLoop& loop) {
    detail::LoopCore& core = loop.core();
    core.check_thread("all_tasks");
    std::vector<AnyTask> tasks;
    for (PromiseState* state = core.pending; state; state = state->next) {
        if (state->is_task && !state->dying) {
            tasks.push_back(PromiseAccess::share<AnyTask>(state));
        }
    }
    std::reverse(tasks.begin(), tasks.end());  // the loop's list begins with the newest
    return tasks;
}

AnyTask current_task(EventLoop& loop) {
    // Not check_thread(): that nothing runs here is true, and safe to say, on every other thread.
    detail::LoopCore& core = loop.core();
    if (!core.on_thread() || !core.current_task) return AnyTask();
    return PromiseAccess::share<AnyTask>(&core.current_task->own);
}

std::string text(const std::vector<AnyTask>& tasks) {
    detail::TextTable table;
    for (const AnyTask& task : tasks) table.add(task.name(), task.type(), rest_of(task));
    return table.text(tasks.size());
}

namespace detail {

std::string task_status(TaskCore& task) {
    const std::string wait =
        task.waited ? std::string(task.waits_in()) + " at " + task.where() : std::string("start");
    if (task.own.done()) return task.waited ? "done, waited last in " + wait : "done";
    if (task.own.core->current_task == &task) return "running";
    if (!task.machine) return "given up, since its loop was closed";
    if (!task.started) return "not started";
    if (task.waiting && !task.waiting->done()) return "waiting in " + wait;
    return "about to go on from " + wait;
}

}  // namespace detail
}  // namespace reactor
