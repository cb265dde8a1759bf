// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_COMMAND_LINE_DESCRIPTORS_HPP
#define REACTOR_COMMAND_LINE_DESCRIPTORS_HPP

#include <csignal>
#include <cstddef>

#include <sys/resource.h>

namespace command_line {

/// Lets the process have as many descriptors as it may: the usual soft limit of 1024 is there for
/// programs that use select(), and each connection takes one. Says how many that are.
inline std::size_t raise_descriptor_limit() {
    struct rlimit limit;
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return static_cast<std::size_t>(-1);
    if (limit.rlim_cur != limit.rlim_max) {
        struct rlimit raised = limit;
        raised.rlim_cur = limit.rlim_max;
        if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
    }
    return static_cast<std::size_t>(limit.rlim_cur);
}

/// Whoever reads what a server prints may go before it does (`serve | head -1`): printing fails
/// then, and ends nothing.
inline void outlive_readers() { std::signal(SIGPIPE, SIG_IGN); }

}  // namespace command_line

#endif
