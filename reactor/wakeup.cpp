// SPDX-License-Identifier: BSL-1.0
#include <reactor/wakeup.hpp>

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace reactor {

namespace {

// An eventfd and not a pipe: one descriptor, and one read takes back any number of notifications.
// Non-blocking: a full counter must not stop a poster, an empty one must not stop the loop.
int open_eventfd() {
    const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0) throw std::system_error(errno, std::system_category(), "eventfd");
    return fd;
}

}  // namespace

Wakeup::Wakeup() : fd_(open_eventfd()) {}

Wakeup::~Wakeup() {
    if (fd() >= 0) ::close(fd());
}

void Wakeup::renew() {
    // The number is somebody else's now: without another one nothing may be written there, nor
    // closed.
    fd_.store(-1, std::memory_order_relaxed);
    fd_.store(open_eventfd(), std::memory_order_relaxed);
}

bool Wakeup::notify() noexcept {
    const int saved = errno;  // the interrupted code may be about to read it
    const std::uint64_t one = 1;
    ::ssize_t written;
    do {
        written = ::write(fd(), &one, sizeof one);
    } while (written < 0 && errno == EINTR);
    // EAGAIN: the counter is full, so the descriptor is readable, which is all that was asked.
    const bool done = written == sizeof one || (written < 0 && errno == EAGAIN);
    errno = saved;
    return done;
}

bool Wakeup::drain() noexcept {
    std::uint64_t count;
    ::ssize_t got;
    do {
        got = ::read(fd(), &count, sizeof count);
    } while (got < 0 && errno == EINTR);
    return got == sizeof count || (got < 0 && errno == EAGAIN);
}

}  // namespace reactor
