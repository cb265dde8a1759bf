// SPDX-License-Identifier: BSL-1.0
#include <net/detail/open_anew.hpp>

#include <cstdio>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace reactor {
namespace net {
namespace detail {

namespace {

/// Whether another open file of the same name is the same thing. Not so what a device makes anew
/// with each opening, such as the master of a pseudo terminal.
bool can_be_opened_anew(int descriptor, int flags, const struct ::stat& file) noexcept {
    if (S_ISFIFO(file.st_mode)) return !(flags & O_DIRECT);
    unsigned number;
    return S_ISCHR(file.st_mode) && ::isatty(descriptor) == 1 &&
           ::ioctl(descriptor, TIOCGPTN, &number) != 0;
}

}  // namespace

int open_anew(int descriptor, int flags, const struct ::stat& file) noexcept {
    if (!can_be_opened_anew(descriptor, flags, file)) return -1;
    char path[48];
    std::snprintf(path, sizeof path, "/proc/thread-self/fd/%d", descriptor);
    const int own =
        ::open(path, (flags & (O_ACCMODE | O_APPEND)) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (own < 0) return -1;
    struct ::stat other;
    if (::fstat(own, &other) == 0 && other.st_dev == file.st_dev && other.st_ino == file.st_ino) {
        return own;
    }
    ::close(own);
    return -1;
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
