// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_MAKE_TASK_HPP
#define REACTOR_DETAIL_MAKE_TASK_HPP

#include <reactor/task.hpp>

#include <cstddef>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace reactor {
namespace detail {

template <class R>
R result_of(const Task<R>*);

/// The R of the Task<R> that S derives from; no type for a class that is no task, so that
/// run_until_complete<int>(promise) means the other overload. Deduced: a private name in S could
/// hide a member type of ours.
template <class S, class = void>
struct TaskResult {};
template <class S>
struct TaskResult<S, typename Exists<decltype(detail::result_of(std::declval<S*>()))>::type> {
    using type = decltype(detail::result_of(std::declval<S*>()));
};
template <class S>
struct ResultOfTask : TaskResult<S> {};

/// The promise state of a task with result R.
template <class R>
struct TaskState : ValueState<R>, TaskCore {
    TaskState(LoopCore& loop_core, const Here& made, const char* type, const Options* options)
        : ValueState<R>(loop_core, made), TaskCore(*this, type, options) {
        this->is_task = true;
    }

    PromiseState* cancel_step(const std::string& message, bool& took) override {
        return TaskCore::cancel_step(message, took);
    }
    void cancel_refused(const std::string& message) override { TaskCore::cancel_refused(message); }
    std::string describe() const override { return TaskCore::describe(); }
    TaskCore* as_task() noexcept override { return this; }
    void before_dispose() noexcept override { this->abandon(); }
    void forget_value() noexcept override { this->clear_value(); }
};

/// Promise and machine in one allocation, but two objects: the machine ends first.
template <class S>
struct TaskCell final : Pooled<TaskCell<S>, TaskState<typename ResultOfTask<S>::type>> {
    using Pooled<TaskCell<S>, TaskState<typename ResultOfTask<S>::type>>::Pooled;

    template <class... A>
    void build(A&&... arguments) {
        const Constructing constructing(*this);
        this->machine = ::new (static_cast<void*>(&room)) S(std::forward<A>(arguments)...);
    }
    void destroy_machine_object() noexcept override { reinterpret_cast<S*>(&room)->~S(); }

    typename std::aligned_storage<sizeof(S), alignof(S)>::type room;
};

struct TaskAccess {
    template <class S, class... A>
    static TaskHandle<typename ResultOfTask<S>::type> make(LoopCore& core, const Options* options,
                                                           A&&... arguments) {
        using R = typename ResultOfTask<S>::type;
        static_assert(alignof(S) <= alignof(std::max_align_t),
                      "create_task: a task must not be aligned more strictly than max_align_t");
        core.check("create_task");
        TaskCell<S>* const cell = make_state<TaskCell<S>>(
            core, options ? options->here() : Here("", "", 0), callable_name<S>(), options);
        const TaskHandle<R> handle = PromiseAccess::adopt<TaskHandle<R>>(cell);
        cell->build(std::forward<A>(arguments)...);
        cell->schedule_first(options);
        return handle;
    }

    // create_task<S>(Options().label("x"), …) prefers the overload without options, because the
    // argument is no constant: told apart here.
    template <class S>
    static TaskHandle<typename ResultOfTask<S>::type> choose(LoopCore& core) {
        return make<S>(core, nullptr);
    }
    template <class S, class First, class... A>
    static typename std::enable_if<std::is_same<typename std::decay<First>::type, Options>::value,
                                   TaskHandle<typename ResultOfTask<S>::type>>::type
    choose(LoopCore& core, First&& options, A&&... arguments) {
        return make<S>(core, &options, std::forward<A>(arguments)...);
    }
    template <class S, class First, class... A>
    static typename std::enable_if<!std::is_same<typename std::decay<First>::type, Options>::value,
                                   TaskHandle<typename ResultOfTask<S>::type>>::type
    choose(LoopCore& core, First&& first, A&&... arguments) {
        return make<S>(core, nullptr, std::forward<First>(first), std::forward<A>(arguments)...);
    }
};

}  // namespace detail

template <class S, class... A>
TaskHandle<typename detail::ResultOfTask<S>::type> EventLoop::create_task(A&&... arguments) {
    return detail::TaskAccess::choose<S>(*core_, std::forward<A>(arguments)...);
}

template <class S, class... A>
TaskHandle<typename detail::ResultOfTask<S>::type> EventLoop::create_task(const Options& options,
                                                                          A&&... arguments) {
    return detail::TaskAccess::make<S>(*core_, &options, std::forward<A>(arguments)...);
}

template <class S, class... A>
typename detail::ResultOfTask<S>::type EventLoop::run_until_complete(A&&... arguments) {
    using R = typename detail::ResultOfTask<S>::type;
    return run_until_complete(Promise<R>(create_task<S>(std::forward<A>(arguments)...)));
}

}  // namespace reactor

#endif
