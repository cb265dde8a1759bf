// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_WRITE_SIGNALS_BLOCKED_HPP
#define REACTOR_DETAIL_WRITE_SIGNALS_BLOCKED_HPP

#include <cerrno>

#include <signal.h>
#include <time.h>

namespace reactor {
namespace detail {

/// Around a call that writes and has no flag against the signals of its failures: SIGPIPE (nobody
/// reads) and SIGXFSZ (beyond the limit for files) are blocked in this thread while this lives, and
/// taken away if the call has raised them. What was pending before, somebody else's, stays pending.
/// Leaves errno alone.
class WriteSignalsBlocked {
public:
    WriteSignalsBlocked() noexcept {
        ::sigemptyset(&raised_);
        ::sigset_t both;
        ::sigemptyset(&both);
        ::sigaddset(&both, SIGPIPE);
        ::sigaddset(&both, SIGXFSZ);
        ::sigpending(&pending_);
        ::pthread_sigmask(SIG_BLOCK, &both, &before_);
    }
    ~WriteSignalsBlocked() {
        const int code = errno;
        const ::timespec at_once = {0, 0};
        while (any_ && ::sigtimedwait(&raised_, nullptr, &at_once) < 0 && errno == EINTR) {
        }
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
        errno = code;
    }
    WriteSignalsBlocked(const WriteSignalsBlocked&) = delete;
    WriteSignalsBlocked& operator=(const WriteSignalsBlocked&) = delete;

    /// The call has failed with this errno.
    void failed(int code) noexcept {
        if (code == EPIPE) may_have_raised(SIGPIPE);
        if (code == EFBIG) may_have_raised(SIGXFSZ);
    }
    /// The call has done less than it was asked to, without an error: sendfile() that is reset in
    /// the middle tells of that by the signal alone.
    void fell_short() noexcept { may_have_raised(SIGPIPE); }

private:
    void may_have_raised(int signal) noexcept {
        if (::sigismember(&pending_, signal) == 1) return;
        ::sigaddset(&raised_, signal);
        any_ = true;
    }

    ::sigset_t raised_;
    ::sigset_t pending_;
    ::sigset_t before_;
    bool any_ = false;
};

}  // namespace detail
}  // namespace reactor

#endif
