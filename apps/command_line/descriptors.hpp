// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_COMMAND_LINE_DESCRIPTORS_HPP
#define REACTOR_COMMAND_LINE_DESCRIPTORS_HPP

#include <sys/resource.h>

namespace command_line {

/// Lets the process have as many descriptors as it may: the usual soft limit of 1024 is there for
/// programs that use select(), and each connection takes one.
inline void raise_descriptor_limit() {
    struct rlimit limit;
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace command_line

#endif
