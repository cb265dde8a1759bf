// SPDX-License-Identifier: BSL-1.0
#include <net/detail/child_service.hpp>
#include <net/detail/child_state.hpp>
#include <reactor/detail/inbox.hpp>
#include <reactor/detail/loop_state.hpp>
#include <reactor/detail/signals_blocked.hpp>

#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace reactor {
namespace net {
namespace detail {

using reactor::detail::PromiseAccess;
using reactor::detail::StateOwner;
using reactor::detail::watches_of;
using reactor::detail::WatchLoss;
using reactor::detail::WatchTable;

namespace {

// The numbers are the same on every architecture; old headers do not know them.
constexpr long pidfd_send_signal_call = 424;
constexpr long pidfd_open_call = 434;

// Where neither a descriptor nor a thread tells of a child's end.
constexpr Duration look_period = std::chrono::seconds(1);

constexpr ::idtype_t by_pidfd = static_cast<::idtype_t>(3);  // P_PIDFD

/// waitid() for one child, interrupted by nothing.
int wait_for_child(::idtype_t kind, int number, ::siginfo_t& info, int options) noexcept {
    int result;
    do {
        info.si_pid = 0;
        result = ::waitid(kind, static_cast<::id_t>(number), &info, options);
    } while (result != 0 && errno == EINTR);
    return result;
}

}  // namespace

void ChildWait::abandon() noexcept { owner->forget(*this); }

void ChildWait::explain(reactor::detail::WhyPending& why) const { why.what = "Process::wait"; }

ChildState::ChildState(EventLoop& loop, ::pid_t pid, std::string name, bool group_ends_with_it)
    : core(loop.core()),
      pid_(pid),
      name_(std::move(name)),
      process_(::getpid()),
      group_ends_with_it_(group_ends_with_it) {
    core.retain();
}

ChildState::~ChildState() {
    grace_.cancel();
    looks_.cancel();
    end_watch_.stop();
    watches_of(core).let_go(pidfd_.get(), *this);
    core.forget();
}

// ---- its end --------------------------------------------------------------------------------

void ChildState::watch(ChildService& service) {
    service_ = &service;
    if (!service.uses_pidfd || !watch_descriptor()) watch_on_thread();
}

/// False where the system has no such thing, no descriptor is left, or the selector has no room.
bool ChildState::watch_descriptor() {
    pidfd_ = OwnedDescriptor(static_cast<int>(::syscall(pidfd_open_call, pid_, 0u)));
    if (!pidfd_) return false;
    try {
        watches_of(core).hold("start_process", pidfd_.get(), *this, WatchTable::Hold::exclusive);
        end_watch_.start(*core.loop, reactor::detail::NodeKind::reader,
                         Options().owned_descriptor().label("net::Process ends"), pidfd_.get(),
                         *this, 0, Watch::Number::ours);
        return true;
    } catch (const std::system_error&) {
        close_pidfd();
        return false;
    } catch (...) {
        close_pidfd();
        throw;
    }
}

void ChildState::close_pidfd() noexcept {
    end_watch_.stop();
    watches_of(core).let_go(pidfd_.get(), *this);
    watches_of(core).forget_all(pidfd_.get());
    pidfd_.close();
}

void ChildState::number_lost(int) noexcept { watch_lost(0, {WatchLoss::closed, EBADF}); }

/// The child goes on all the same, and so does the waiting for its end.
void ChildState::watch_lost(unsigned, const reactor::detail::WatchLoss& loss) noexcept {
    end_watch_.stop();
    if (loss.kind == WatchLoss::closed) {
        watches_of(core).let_go(pidfd_.get(), *this);
        pidfd_.release();  // somebody else's now
    }
    try {
        watch_on_thread();
        return;
    } catch (...) {  // the system has no thread for it
    }
    try {
        looks_ = core.loop->call_every(Options().label("net::Process ends"), look_period,
                                       &ChildState::look, this);
    } catch (...) {
        error_ = std::current_exception();
        end();
    }
}

/// The thread only looks: the status is taken on the loop's thread, so that the number stays the
/// child's as long as a signal may be sent to it.
void ChildState::watch_on_thread() {
    const Poster poster = core.loop->poster();
    const ::pid_t pid = pid_;
    const reactor::detail::SignalsBlocked blocked;
    try {
        std::thread([poster, pid] {
            ::siginfo_t info;
            wait_for_child(P_PID, pid, info, WEXITED | WNOWAIT);
            try {
                poster.post(&ChildService::child_ended, pid);
            } catch (...) {  // it hears of it if it wakes up by itself
                reactor::detail::log_undelivered("The end of a child process");
            }
        }).detach();
    } catch (const std::system_error& error) {
        throw std::system_error(error.code(), "run " + name_ + ": a thread to wait for its end");
    }
}

/// As waitid(): by the pidfd, if there is one, since the number may be another child's by now if
/// another part of the program has taken the status.
int ChildState::ask(::siginfo_t& info, int options) const noexcept {
    if (pidfd_) {
        const int result = wait_for_child(by_pidfd, pidfd_.get(), info, options | WEXITED);
        if (result == 0 || errno != EINVAL) return result;  // from Linux 5.4 on
    }
    return wait_for_child(P_PID, pid_, info, options | WEXITED);
}

/// Takes the status, if it has ended. What is left of its group goes first: with the status goes
/// the number, which may be somebody else's next.
int ChildState::take_status(::siginfo_t& info) noexcept {
    if (group_ends_with_it_ && !detached_ && ask(info, WNOHANG | WNOWAIT) == 0 &&
        info.si_pid != 0) {
        ::kill(-pid_, SIGKILL);
    }
    return ask(info, WNOHANG);
}

void ChildState::look() {
    ::siginfo_t info;
    if (take_status(info) != 0) {
        fail(errno);
        return;
    }
    if (info.si_pid == 0) return;  // not yet
    if (info.si_code == CLD_EXITED) {
        status_ = ExitStatus::of_code(info.si_status);
    } else {
        status_ = ExitStatus::of_signal(info.si_status, info.si_code == CLD_DUMPED);
    }
    end();
}

void ChildState::fail(int code) {
    error_ = std::make_exception_ptr(
        std::system_error(code, std::system_category(), "wait for " + name_));
    end();
}

void ChildState::end() noexcept {
    const std::shared_ptr<ChildState> self = service_->take(*this);
    running_ = false;
    grace_.cancel();
    looks_.cancel();
    close_pidfd();
    // Last: a failure that nobody holds is reported, and the handler may do anything.
    while (!waits_.empty()) {
        const StateOwner<ChildWait> wait = waits_.take_first();
        if (error_) {
            wait->fail(error_);
        } else {
            wait->set(status_);
        }
    }
}

ChildState::Left ChildState::loop_closed() noexcept {
    ::siginfo_t info;
    // Not so in a forked child, whose parent's children are not its own.
    const bool there = take_status(info) == 0 && info.si_pid == 0;
    const bool killed = there && !detached_ && kill_unasked();
    running_ = false;
    pidfd_.close();  // the loop watches nothing any more
    while (!waits_.empty()) cancel_operation(*waits_.take_first(), "the event loop was closed");
    return !there ? Left::nothing : killed ? Left::killed : Left::going_on;
}

Promise<ExitStatus> ChildState::wait(const Here& here) {
    core.check("wait");
    const StateOwner<ChildWait> wait(reactor::detail::make_state<ChildWait>(core, here));
    const auto promise = PromiseAccess::share<Promise<ExitStatus>>(&*wait);
    if (running_) {
        wait->owner = this;
        waits_.add(*wait);
    } else if (error_) {
        wait->fail(error_);
    } else {
        wait->set(status_);
    }
    return promise;
}

// ---- signals --------------------------------------------------------------------------------

/// An errno, or 0. One that has ended unseen would take the signal all the same, and counts as
/// ended: so it is asked before its group is killed, which it is one of. If another part of the
/// program has taken the status, the number may be somebody else's by now: so through the pidfd, if
/// there is one.
int ChildState::deliver(int signal) noexcept {
    ::siginfo_t info;
    const bool ours = ask(info, WNOHANG | WNOWAIT) == 0;
    const bool ended = ours && info.si_pid != 0;
    // The group has the child's number, which is nobody else's as long as the status is not taken.
    // Before it has a session of its own there is no such group, and nothing happens.
    const bool group_killed =
        ours && signal == SIGKILL && group_ends_with_it_ && ::kill(-pid_, SIGKILL) == 0;
    if (ended) return ESRCH;
    const int code = deliver_to_child(signal, ours);
    // By the group's signal: one that must not be killed by us is in it all the same.
    return code == ESRCH && group_killed ? 0 : code;
}

int ChildState::deliver_to_child(int signal, bool ours) noexcept {
    if (pidfd_) {
        if (::syscall(pidfd_send_signal_call, pidfd_.get(), signal, nullptr, 0u) == 0) return 0;
        if (errno != ENOSYS) return errno;
    }
    if (!ours) return ESRCH;
    return ::kill(pid_, signal) == 0 ? 0 : errno;
}

bool ChildState::send_signal(int signal) {
    core.check_thread("send_signal");
    if (signal <= 0 || signal >= NSIG) {
        throw std::invalid_argument("send_signal: " + std::to_string(signal) + " is no signal");
    }
    if (!running_) return false;
    if (signal == SIGKILL) meant_ = true;
    const int code = deliver(signal);
    if (code == 0) return true;
    if (code == ESRCH) return false;
    throw std::system_error(code, std::system_category(),
                            "send signal " + std::to_string(signal) + " to " + name_);
}

void ChildState::kill_late() noexcept {
    if (running_) kill_unasked();
}

/// Whether it will end by that.
bool ChildState::kill_unasked() noexcept {
    const int code = deliver(SIGKILL);
    if (code == 0) return true;
    if (code == ESRCH || !core.loop) return false;
    try {
        // It runs as somebody else, as a rule.
        core.loop->log(LogLevel::warning,
                       "cannot kill " + name_ + ": " + std::system_category().message(code));
    } catch (...) {  // no memory for the words
    }
    return false;
}

Promise<ExitStatus> ChildState::stop(Duration grace, const Here& here) {
    Promise<ExitStatus> ended = wait(here);
    if (!send_signal(SIGTERM)) return ended;
    meant_ = true;
    graced_ = true;
    const TimePoint when = deadline_after(core.clock->now(), grace);
    if (when < grace_.when() && !grace_.reschedule(when)) {
        grace_ = core.loop->call_at(Options().label("net::Process: end of grace"), when,
                                    &ChildState::kill_late, this);
    }
    return ended;
}

void ChildState::dropped() noexcept {
    // In a forked child it is a sibling, and none of our business.
    if (!running_ || detached_ || process_ != ::getpid()) return;
    core.require_thread("a Process's destructor");
    if (graced_) return;
    if (!kill_unasked() || meant_ || !core.loop) return;
    try {
        core.loop->log(LogLevel::warning,
                       "a Process is destroyed whose child runs, which is killed: " + name_);
    } catch (...) {  // no memory for the words
    }
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
