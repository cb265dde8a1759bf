// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_SIGNALS_BLOCKED_HPP
#define REACTOR_DETAIL_SIGNALS_BLOCKED_HPP

#include <initializer_list>

#include <signal.h>

namespace reactor {
namespace detail {

/// While it lives, threads that are made here start with all signals blocked that may be sent to
/// the process: a handler that runs on a pool's thread surprises the program. Those that a thread
/// raises by a fault of its own stay, for the program's crash handler.
class SignalsBlocked {
public:
    SignalsBlocked() noexcept {
        ::sigset_t all;
        ::sigfillset(&all);
        for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) {
            ::sigdelset(&all, fault);
        }
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

private:
    ::sigset_t before_;
};

}  // namespace detail
}  // namespace reactor

#endif
