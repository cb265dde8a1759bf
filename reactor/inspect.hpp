// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_INSPECT_HPP
#define REACTOR_INSPECT_HPP

#include <reactor/any_task.hpp>
#include <reactor/clock.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/state_graph.hpp>
#include <reactor/stats.hpp>
#include <reactor/watchdog.hpp>

#include <cstddef>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

namespace reactor {

/// One thing that a loop waits for, or is about to run. A value of texts and numbers, which keeps
/// nothing alive and may be kept on any thread.
struct Waiting {
    enum class Kind {
        task,
        job,      ///< of an executor
        promise,  ///< not a task's, and of those that follow each other the last one only
        timer,
        reader,
        writer,
        urgent_reader,
        signal,
        queued,  ///< a callback in the ready queue, whatever it was before
        posted   ///< the same from another thread, not moved there yet
    };

    Kind kind;
    /// A callback's or job's label, else its type as the compiler prints it; a task's name and, in
    /// parentheses, its class; how a promise was made: "sleep", "gather", "then"; empty for one
    /// of create_promise().
    std::string name;
    std::string status;   ///< of a task or job: what it does now
    std::string state;    ///< of a task: the function that waits
    std::string awaits;   ///< what a task or promise waits for, down to the one that began it
    std::string made_at;  ///< "file:line", empty if that is not known
    Duration age;         ///< negative if not known
    TimePoint when;       ///< deadline of a timer; of a task: that of its time limits; else never()
    Duration period;      ///< of a call_every() timer, else zero
    int descriptor;       ///< of a reader or writer, else -1
    int signal;           ///< of a signal handler, else 0
    std::size_t callbacks;  ///< of a promise: how many wait for it

    /// In words, without kind and name; times are told as from `now`.
    std::string details(TimePoint now) const;
};

/// "urgent reader".
const char* text(Waiting::Kind kind) noexcept;

/// What a loop waits for. A value.
struct Alive {
    std::vector<Waiting> entries;  ///< by kind, in the order of the enumeration; timers by deadline
    TimePoint now;                 ///< when it was asked, in the loop's time

    bool empty() const noexcept { return entries.empty(); }
    std::size_t count(Waiting::Kind kind) const noexcept;
    Alive only(std::initializer_list<Waiting::Kind> kinds) const;

    /// A table for humans, one line for each; `most` lines at the most, and how many more there
    /// are. Empty if nothing is waited for.
    std::string text(std::size_t most = static_cast<std::size_t>(-1)) const;
};

/// What keeps `loop` from having nothing to do:
///
///     task      Task-2 (Fetch)      waiting in connect at fetch.cpp:31 for sleep made at …
///     timer     wait_for            due in 2.998 s
///     reader    net::Socket reads   descriptor 7
///
/// Not listed are the loop's own wake-up, what its services and the run call have registered for
/// themselves, cancelled callbacks, and promises that a listed one waits for: those are told with
/// it, as a chain from the one that waits to the one that began it. Promises that a gather waits
/// for are listed each.
///
/// What is known when: the place of promises and of their operations always; of a task, a reader or
/// a writer if Options were given; of timers and queued callbacks never, for which a label is the
/// remedy. The age of promises, tasks, jobs, readers and writers that were made while the loop was
/// in debug mode.
///
/// Runs no code of the user's, and changes nothing. Inside a callback it works as well: what runs
/// is not listed then. On a closed loop: empty. Throws StateError on another thread than the one
/// that runs the loop, and std::bad_alloc.
Alive why_alive(EventLoop& loop = get_running_loop());

namespace detail {

std::map<std::string, std::size_t> states_of_class(EventLoop& loop, const char* class_name);

}  // namespace detail

/// How many tasks of class S that are not done wait in which state now. With it the graph that
/// debug mode has recorded shows where the tasks are:
///
///     state_graph<Fetch>(loop).dot("Fetch", task_states<Fetch>(loop))
///
/// Throws StateError on another thread than the one that runs the loop.
template <class S>
std::map<std::string, std::size_t> task_states(EventLoop& loop) {
    return detail::states_of_class(loop, detail::callable_name<S>());
}

}  // namespace reactor

#endif
