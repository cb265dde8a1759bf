// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_PROCESS_HPP
#define REACTOR_NET_PROCESS_HPP

#include <net/exit_status.hpp>
#include <net/process_options.hpp>
#include <net/stream.hpp>
#include <reactor/clock.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/here.hpp>
#include <reactor/promise.hpp>

#include <memory>
#include <string>
#include <vector>

namespace reactor {
namespace net {

namespace detail {

class ChildState;

}  // namespace detail

/// A child process: its pipes as streams, and its end as a promise. asyncio: Process.
///
/// Moves, and is owned by whoever holds it; used on its loop's thread. Empty when
/// default-constructed or moved from: everything but bool, assignment and destruction throws
/// StateError then.
///
///     starting ──exec──> running ──it ends, and the loop sees it──> ended: its status is kept
///        └──start_process() fails: nothing is left
///
/// No child becomes a zombie: the loop takes the status of each one it started when that ends,
/// whether or not anybody waits, and of no other process. It has no handler for SIGCHLD: a pidfd
/// tells, or a thread for each child where the system has none (Linux before 5.3) or the loop
/// cannot watch it any more.
///
/// Destroyed while the child runs, it kills it (SIGKILL) and logs a warning: kill() and stop() say
/// that it was meant, and after stop() the child keeps its time of grace. A child that shall go on
/// is let go by detach(). EventLoop::close() kills those that are neither ended nor detached. One
/// that has become somebody else's cannot be killed by us, which is logged, too.
/// Children of the child are not ours, and may hold its pipes open after its end; those that stay
/// in its process group can be made to end with it: ProcessOptions::kill_group().
class Process {
public:
    Process() noexcept;
    Process(Process&& other) noexcept;
    Process& operator=(Process&& other) noexcept;
    ~Process();

    explicit operator bool() const noexcept { return state_ != nullptr; }

    /// Also after its end, when the number may be another process's.
    int pid() const;

    // ---- its pipes: empty streams where the options say no pipe() ----

    /// Its standard input. A child that reads to the end of it waits until this is closed. Lost
    /// with EPIPE when the child closes it or ends. May be moved out, as the others, and be dropped
    /// while open.
    Stream& input();
    /// Its standard output and standard error. A child that writes more than is read here is held
    /// up, once the pipe is full and Stream::limit() is kept twice; so read, or use null().
    Stream& output();
    Stream& errors();

    // ---- its end ----

    /// How it ended, or will end; any number may wait, and cancelling does nothing to the child. It
    /// may come before the end of what the child has written. Fails with std::system_error (ECHILD)
    /// if another part of the program has taken the status: by waiting for all children, or by
    /// ignoring SIGCHLD.
    Promise<ExitStatus> wait(Here here = Here());
    /// Its end has not been seen yet. False once the loop is closed, also of a child that goes on.
    bool running() const;

    /// Sends a signal; false if the child has ended, also if that has not been seen yet. Never
    /// meets another process that has the number by then. Throws std::invalid_argument for what is
    /// no signal, std::system_error (EPERM) for a child that runs as somebody else.
    bool send_signal(int signal);
    /// SIGTERM.
    bool terminate();
    /// SIGKILL.
    bool kill();
    /// SIGTERM now, SIGKILL if it has not ended after `grace` (forever(): never), and wait().
    /// Again: the earlier end of grace holds. Cancelling gives up the waiting only.
    Promise<ExitStatus> stop(Duration grace, Here here = Here());
    /// It may outlive this object and the loop.
    void detach();

    EventLoop& loop() const;

private:
    friend struct ProcessAccess;
    explicit Process(std::shared_ptr<detail::ChildState> state) noexcept;
    detail::ChildState& state(const char* call) const;
    detail::ChildState& on_thread(const char* call) const;

    std::shared_ptr<detail::ChildState> state_;
    Stream input_;
    Stream output_;
    Stream errors_;
};

/// Runs a program with these arguments, without a shell; the program's name is the child's first
/// argument. A name without '/' is looked up in the PATH of the child's environment. Done when the
/// program runs; fails with std::system_error, which names what and where, if there is no such
/// program (ENOENT) or directory, it may not be executed (EACCES), it is none (ENOEXEC: also a
/// script without "#!", which a shell would run), processes or descriptors are used up (EAGAIN,
/// EMFILE), or the child was killed before the program ran (ECANCELED): the child, if there was
/// one, is gone by then. Cancelled, it is killed.
///
/// The child begins with default dispositions of all signals and none blocked, with its three
/// standard descriptors, and no other that is close-on-exec, as all of this library's are (from
/// Linux 5.11 on none at all). Our memory is copied for it (fork), and the handlers of
/// pthread_atfork() are called. A copy of ourselves that another thread forks meanwhile, and that
/// never execs, holds the promise up for as long as it lives: it has the child's pipes, too.
///
/// On the loop's thread. Throws std::invalid_argument for an empty program, a zero byte in any
/// text, a variable's name that is empty or has a '=', same_as_output() elsewhere than for the
/// standard error. asyncio: create_subprocess_exec.
Promise<Process> start_process(EventLoop& loop, const std::string& program,
                               const std::vector<std::string>& arguments,
                               const ProcessOptions& options = ProcessOptions(),
                               Here here = Here());

}  // namespace net
}  // namespace reactor

#endif
