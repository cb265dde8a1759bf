// SPDX-License-Identifier: BSL-1.0
#include <reactor/wakeup.hpp>

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace reactor {

// An eventfd and not a pipe: one descriptor, and one read takes back any number of notifications.
// Non-blocking: a full counter must not stop a poster, an empty one must not stop the loop.
Wakeup::Wakeup() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (fd_ < 0) throw std::system_error(errno, std::system_category(), "eventfd");
}

Wakeup::~Wakeup() { ::close(fd_); }

bool Wakeup::notify() noexcept {
    const int saved = errno;  // the interrupted code may be about to read it
    const std::uint64_t one = 1;
    ::ssize_t written;
    do {
        written = ::write(fd_, &one, sizeof one);
    } while (written < 0 && errno == EINTR);
    // EAGAIN: the counter is full, so the descriptor is readable, which is all that was asked.
    const bool done = written == sizeof one || (written < 0 && errno == EAGAIN);
    errno = saved;
    return done;
}

void Wakeup::drain() noexcept {
    std::uint64_t count;
    while (::read(fd_, &count, sizeof count) < 0 && errno == EINTR) {
    }
}

}  // namespace reactor
