// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_SUPPORT_SOCKET_OPTION_HPP
#define REACTOR_TEST_SUPPORT_SOCKET_OPTION_HPP

#include <sys/socket.h>

namespace support {

/// As the system has it; -1 if the descriptor has no such option.
inline int socket_option(int descriptor, int level, int name) {
    int value = -1;
    ::socklen_t size = sizeof value;
    return ::getsockopt(descriptor, level, name, &value, &size) == 0 ? value : -1;
}

}  // namespace support

#endif
