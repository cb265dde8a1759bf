// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_RAW_POLL_HPP
#define REACTOR_TEST_BENCH_RAW_POLL_HPP

#include <cerrno>
#include <cstdint>
#include <system_error>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace bench {

/// The least that a loop asks the kernel in each iteration: an epoll set with a descriptor to wake
/// it by. Belongs to one thread but for wake().
class RawPoll {
public:
    RawPoll() : epoll_(epoll_create1(EPOLL_CLOEXEC)), wakeup_(eventfd(0, EFD_CLOEXEC)) {
        epoll_event event = {};
        event.events = EPOLLIN;
        event.data.fd = wakeup_;
        if (epoll_ < 0 || wakeup_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, wakeup_, &event) < 0) {
            throw std::system_error(errno, std::system_category(), "epoll and eventfd");
        }
    }
    RawPoll(const RawPoll&) = delete;
    RawPoll& operator=(const RawPoll&) = delete;
    ~RawPoll() {
        close(wakeup_);
        close(epoll_);
    }

    void look() noexcept { epoll_wait(epoll_, events_, 64, 0); }
    void sleep() {
        epoll_wait(epoll_, events_, 64, -1);
        std::uint64_t count;
        if (read(wakeup_, &count, sizeof count) < 0) {
            throw std::system_error(errno, std::system_category(), "read from eventfd");
        }
    }
    void wake() {
        const std::uint64_t one = 1;
        if (write(wakeup_, &one, sizeof one) < 0) {
            throw std::system_error(errno, std::system_category(), "write to eventfd");
        }
    }

private:
    int epoll_;
    int wakeup_;
    epoll_event events_[64];
};

/// The least that a queued callback can be.
struct RawCall {
    void (*function)(void*);
    void* data;
};

}  // namespace bench

#endif
