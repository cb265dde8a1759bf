// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_CHILD_STATE_HPP
#define REACTOR_NET_DETAIL_CHILD_STATE_HPP

#include <net/detail/child_launch.hpp>
#include <net/detail/pending_operations.hpp>
#include <net/exit_status.hpp>
#include <reactor/clock.hpp>
#include <reactor/detail/descriptor_watch.hpp>
#include <reactor/detail/value_state.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/handle.hpp>
#include <reactor/promise.hpp>

#include <cerrno>
#include <exception>
#include <string>

#include <signal.h>
#include <sys/types.h>

namespace reactor {
namespace net {
namespace detail {

class ChildService;
class ChildState;

/// A wait() for a child that runs.
struct ChildWait final
    : reactor::detail::Pooled<ChildWait, reactor::detail::OperationState<ExitStatus>>,
      Listed<ChildWait> {
    using Pooled::Pooled;
    void abandon() noexcept override;
    void explain(reactor::detail::WhyPending& why) const override;

    ChildState* owner = nullptr;
};

/// A child process until its status is taken, and what is known of it after that. Shared by the
/// Process and, until the end of the child, by the loop's ChildService.
///
///     running ──look(): it has ended──────────────> ended: with a status, or an error
///        └─────the loop is closed: loop_closed()──> ended, without either
class ChildState final : public reactor::detail::DescriptorHolder {
public:
    ChildState(EventLoop& loop, ::pid_t pid, std::string name, bool group_ends_with_it);
    ~ChildState();
    ChildState(const ChildState&) = delete;
    ChildState& operator=(const ChildState&) = delete;

    /// Looks for its end from now on. Throws if neither a pidfd nor a thread is to be had.
    void watch(ChildService& service);

    // What Process says of the methods of the same names.
    Promise<ExitStatus> wait(const Here& here);
    bool running() const noexcept { return running_; }
    bool send_signal(int signal);
    Promise<ExitStatus> stop(Duration grace, const Here& here);
    void detach() noexcept { detached_ = true; }

    /// The Process is the program's now: to drop it is a mistake, unless that was meant.
    void handed_over() noexcept { meant_ = false; }
    /// The Process is gone.
    void dropped() noexcept;

    /// It may have ended.
    void look();
    /// It has ended, and another part of the program has taken its status: another child has its
    /// number.
    void replaced() { fail(ECHILD); }
    /// What has to be waited for by others still: a child that ends soon, or one that goes on.
    enum class Left { nothing, killed, going_on };
    Left loop_closed() noexcept;
    // As DescriptorHolder.
    void number_taken(int) noexcept override { pidfd_.release(); }
    void number_lost(int) noexcept override;
    /// A wait() was cancelled.
    void forget(ChildWait& wait) noexcept { waits_.take(wait); }

    ::pid_t pid() const noexcept { return pid_; }
    const std::string& name() const noexcept { return name_; }

    reactor::detail::LoopCore& core;

private:
    using Watch = reactor::detail::DescriptorWatch<ChildState>;
    friend Watch;
    reactor::detail::LoopCore& watch_core() const noexcept { return core; }
    void watch_ready(unsigned) { look(); }
    void watch_lost(unsigned, const reactor::detail::WatchLoss& loss) noexcept;

    void close_pidfd() noexcept;
    bool watch_descriptor();
    void watch_on_thread();
    int ask(::siginfo_t& info, int options) const noexcept;
    int take_status(::siginfo_t& info) noexcept;
    void fail(int code);
    void end() noexcept;
    void kill_late() noexcept;
    bool kill_unasked() noexcept;
    int deliver(int signal) noexcept;
    int deliver_to_child(int signal, bool ours) noexcept;

    const ::pid_t pid_;
    const std::string name_;  // "cat, process 4711"
    const long process_;      // whose child it is
    const bool group_ends_with_it_;
    ChildService* service_ = nullptr;
    OwnedDescriptor pidfd_;
    Watch end_watch_;
    TimerHandle looks_;  // from time to time, where nothing tells
    TimerHandle grace_;
    PendingOperations<ChildWait> waits_;
    ExitStatus status_ = ExitStatus::of_code(0);
    std::exception_ptr error_;  // instead of a status
    bool running_ = true;
    bool detached_ = false;
    bool graced_ = false;  // it was asked to end, and grace_ will see to that
    bool meant_ = true;    // nobody has the Process yet
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
