// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/ring_poll.hpp>
#include <reactor/io_uring_selector.hpp>

#include <cerrno>
#include <exception>
#include <string>
#include <system_error>

namespace reactor {

namespace {

[[noreturn]] void refuse_ring(int error) {
    const char* const why =
        error == ENOSYS   ? "the kernel has no io_uring: use epoll, or Linux 6.1 or later"
        : error == EINVAL ? "the kernel's io_uring is too old: use epoll, or Linux 6.1 or later"
        : error == EPERM || error == EACCES
            ? "io_uring is forbidden here: see kernel.io_uring_disabled and the container's "
              "system call filter, or use epoll"
        : error == ENOMEM ? "no memory for a ring, or more than may be locked: raise ulimit -l, or "
                            "use epoll"
                          : "the system gives no ring";
    throw std::system_error(error, std::system_category(),
                            std::string("io_uring selector: ") + why);
}

}  // namespace

IoUringSelector::IoUringSelector() {
    try {
        ring_.reset(new detail::RingPoll);
    } catch (const std::system_error& error) {
        refuse_ring(error.code().value());
    }
    // Now and not at the first wait: a filter may let a ring be made, and forbid its use.
    if (ring_->arm(fd()) == detail::RingPoll::Found::failed) refuse_ring(errno);
    quiet_ = true;
}

IoUringSelector::~IoUringSelector() = default;

const char* IoUringSelector::name() const noexcept { return "io_uring"; }

void IoUringSelector::wait(Duration timeout, std::vector<SelectorEvent>& ready) {
    if (timeout <= Duration::zero() && nothing_ready()) {
        ready.clear();
        return;
    }
    EpollSelector::wait(timeout, ready);
    if (ready.empty()) {
        direct_ = false;
    } else {
        quiet_ = false;  // it may be ready still, and the ring will not say so
    }
}

bool IoUringSelector::nothing_ready() {
    if (!ring_ || watches_always_ready()) return false;
    if (quiet_) {
        if (ring_->in_its_process() && !ring_->rang()) return true;
        quiet_ = false;
        return false;
    }
    return !direct_ && arm();
}

// True if nothing is ready.
bool IoUringSelector::arm() {
    using Found = detail::RingPoll::Found;
    Found found = ring_->in_its_process() ? ring_->arm(fd()) : Found::failed;
    if (found == Found::failed) {
        // Another thread runs the loop now, or a child: a ring is its maker's.
        try {
            ring_.reset();
            ring_.reset(new detail::RingPoll);
            found = ring_->arm(fd());
        } catch (const std::exception&) {
            return false;
        }
        if (found == Found::failed) ring_.reset();
    }
    quiet_ = found == Found::quiet;
    direct_ = found == Found::ready;
    return quiet_;
}

void IoUringSelector::reset() {
    EpollSelector::reset();
    quiet_ = false;  // what waits in the ring is the set that is gone
}

}  // namespace reactor
