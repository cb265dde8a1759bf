// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_SIGPIPE_BLOCKED_HPP
#define REACTOR_NET_DETAIL_SIGPIPE_BLOCKED_HPP

#include <cerrno>

#include <signal.h>
#include <time.h>

namespace reactor {
namespace net {
namespace detail {

/// Around a call that raises SIGPIPE and has no flag against it: the signal is blocked in this
/// thread while this lives, and taken away if the call has raised it. A SIGPIPE that was pending
/// before, somebody else's, stays pending. Leaves errno alone.
class SigpipeBlocked {
public:
    SigpipeBlocked() noexcept {
        ::sigemptyset(&pipe_);
        ::sigaddset(&pipe_, SIGPIPE);
        ::sigset_t pending;
        ::sigpending(&pending);
        was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
        ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    ~SigpipeBlocked() {
        const int code = errno;
        if (raised_ && !was_pending_) {
            const ::timespec at_once = {0, 0};
            while (::sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
            }
        }
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
        errno = code;
    }
    SigpipeBlocked(const SigpipeBlocked&) = delete;
    SigpipeBlocked& operator=(const SigpipeBlocked&) = delete;

    /// The call has failed with EPIPE.
    void raised() noexcept { raised_ = true; }

private:
    ::sigset_t pipe_;
    ::sigset_t before_;
    bool was_pending_;
    bool raised_ = false;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
