// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_EXIT_STATUS_HPP
#define REACTOR_NET_EXIT_STATUS_HPP

#include <string>

namespace reactor {
namespace net {

/// How a child process ended: with an exit code, or by a signal. A value.
class ExitStatus {
public:
    static ExitStatus of_code(int code) noexcept { return ExitStatus(code, 0, false); }
    static ExitStatus of_signal(int signal, bool dumped_core = false) noexcept {
        return ExitStatus(-1, signal, dumped_core);
    }

    /// It exited with code 0.
    bool success() const noexcept { return code_ == 0; }
    bool exited() const noexcept { return signal_ == 0; }
    /// 0 to 255; -1 if a signal ended it.
    int code() const noexcept { return code_; }
    /// 0 if it exited.
    int signal() const noexcept { return signal_; }
    bool dumped_core() const noexcept { return dumped_core_; }

    /// For messages: "exit code 3", "SIGSEGV (signal 11), core dumped".
    std::string str() const;

    /// Whether core was dumped makes no difference.
    friend bool operator==(const ExitStatus& a, const ExitStatus& b) noexcept {
        return a.code_ == b.code_ && a.signal_ == b.signal_;
    }
    friend bool operator!=(const ExitStatus& a, const ExitStatus& b) noexcept { return !(a == b); }

private:
    ExitStatus(int code, int signal, bool dumped_core) noexcept
        : code_(code), signal_(signal), dumped_core_(dumped_core) {}

    int code_;
    int signal_;
    bool dumped_core_;
};

}  // namespace net
}  // namespace reactor

#endif
