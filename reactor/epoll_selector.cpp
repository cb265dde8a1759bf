// SPDX-License-Identifier: BSL-1.0
#include <reactor/epoll_selector.hpp>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <ratio>
#include <system_error>

namespace reactor {

namespace {

// A small loop does not pay for a large buffer. What does not fit is reported by the next wait, so
// the upper end only bounds how long one batch can get.
constexpr int first_capacity = 64;
constexpr int last_capacity = 1024;

std::uint32_t to_epoll(unsigned interest) noexcept {
    std::uint32_t events = 0;
    if (interest & Interest::read) events |= EPOLLIN;
    if (interest & Interest::write) events |= EPOLLOUT;
    if (interest & Interest::urgent) events |= EPOLLPRI;
    return events;
}

unsigned from_epoll(std::uint32_t events) noexcept {
    if (events == EPOLLIN) return Interest::read;  // most are
    unsigned ready = 0;
    if (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) ready |= Interest::read;
    if (events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) ready |= Interest::write;
    if (events & (EPOLLPRI | EPOLLERR | EPOLLHUP)) ready |= Interest::urgent;
    return ready;
}

int create_epoll() {
    const int fd = ::epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0) throw std::system_error(errno, std::system_category(), "epoll_create1");
    return fd;
}

// The wrapper is younger (glibc 2.35) than the system call (Linux 5.11). It is preferred because a
// thread can be cancelled in it, as in every other wait.
int epoll_wait_nanoseconds(int epoll, ::epoll_event* events, int capacity, Duration limit) {
    const std::int64_t second = std::nano::den;
#if defined(__GLIBC__) && (__GLIBC__ > 2 || (__GLIBC__ == 2 && __GLIBC_MINOR__ >= 35))
    ::timespec time;
    time.tv_sec = static_cast<decltype(time.tv_sec)>(limit.count() / second);
    time.tv_nsec = static_cast<decltype(time.tv_nsec)>(limit.count() % second);
    return ::epoll_pwait2(epoll, events, capacity, &time, nullptr);
#elif defined(SYS_epoll_pwait2)
    // The kernel's timespec has 64-bit fields, which the C library's need not have.
    const std::int64_t time[2] = {limit.count() / second, limit.count() % second};
    const std::size_t mask_size = 0;
    return static_cast<int>(
        ::syscall(SYS_epoll_pwait2, epoll, events, capacity, time, nullptr, mask_size));
#else
    static_cast<void>(epoll), static_cast<void>(events), static_cast<void>(capacity);
    static_cast<void>(limit), static_cast<void>(second);
    errno = ENOSYS;
    return -1;
#endif
}

}  // namespace

EpollSelector::EpollSelector()
    : epoll_(-1), capacity_(first_capacity), events_(new ::epoll_event[first_capacity]) {
    epoll_ = create_epoll();  // last: nothing after it can throw and leave it open
}

EpollSelector::~EpollSelector() { ::close(epoll_); }

const char* EpollSelector::name() const noexcept { return "epoll"; }

int EpollSelector::fd() const noexcept { return epoll_; }

// 0, or what the kernel objects to.
int EpollSelector::change(int operation, int fd, unsigned interest, std::uint64_t token) noexcept {
    ::epoll_event event = ::epoll_event();
    event.events = to_epoll(interest);
    event.data.u64 = token;
    return ::epoll_ctl(epoll_, operation, fd, &event) == 0 ? 0 : errno;
}

void EpollSelector::add(int fd, unsigned interest, std::uint64_t token) {
    check_interest(interest);
    const int error = change(EPOLL_CTL_ADD, fd, interest, token);
    if (error == 0) {
        // Accepted, so the number has changed hands if it was an always-ready file.
        always_ready_.remove(fd);
    } else if (error == EPERM) {
        if (always_ready_.contains(fd)) refuse(EEXIST, "add", fd);
        always_ready_.add(fd, interest, token);
    } else {
        refuse(error, "add", fd);
    }
}

void EpollSelector::modify(int fd, unsigned interest, std::uint64_t token) {
    check_interest(interest);
    if (always_ready_.contains(fd)) {
        // ADD asks whether it is still such a file; if not, epoll has the number from now on.
        const int error = change(EPOLL_CTL_ADD, fd, interest, token);
        if (error == 0) {
            always_ready_.remove(fd);
        } else if (error == EPERM) {
            always_ready_.modify(fd, interest, token);
        } else {
            refuse(error, "modify", fd);
        }
        return;
    }
    const int error = change(EPOLL_CTL_MOD, fd, interest, token);
    // EPERM: a file that epoll never takes has got the number of a descriptor that it forgot.
    if (error != 0) refuse(error == EPERM ? ENOENT : error, "modify", fd);
}

void EpollSelector::remove(int fd) noexcept {
    always_ready_.remove(fd);
    // Whatever the kernel objects to, it has no registration for what the number means now.
    change(EPOLL_CTL_DEL, fd, 0, 0);
}

void EpollSelector::wait(Duration timeout, std::vector<SelectorEvent>& ready) {
    if (full_ && capacity_ < last_capacity) {
        // Here, not when it got full: running out of memory then would lose that batch.
        events_.reset(new ::epoll_event[static_cast<std::size_t>(capacity_) * 2]);
        capacity_ *= 2;
    }
    if (always_ready_.empty()) {
        ready.clear();
    } else {
        always_ready_.wait(Duration::zero(), ready);
        if (!ready.empty()) timeout = Duration::zero();
    }
    const int count = wait_for_events(timeout);
    if (count < 0) {
        if (errno == EINTR) return;
        throw std::system_error(errno, std::system_category(), "epoll_wait");
    }
    if (count == 0) return;
    full_ = count == capacity_;
    const std::size_t before = ready.size();
    ready.resize(before + static_cast<std::size_t>(count));
    SelectorEvent* found = &ready[before];
    for (const ::epoll_event *event = events_.get(), *end = event + count; event != end; ++event) {
        found->token = event->data.u64;
        found->ready = from_epoll(event->events);
        ++found;
    }
}

int EpollSelector::wait_for_events(Duration timeout) {
    // As a rule there is something to do: a busy loop only looks.
    if (timeout <= Duration::zero()) return ::epoll_wait(epoll_, events_.get(), capacity_, 0);
    const Duration limit = bounded(timeout);
    if (limit == forever()) return ::epoll_wait(epoll_, events_.get(), capacity_, -1);
    const Duration millisecond = std::chrono::milliseconds(1);
    const Duration rest = limit % millisecond;
    if (rest != Duration::zero() && has_nanoseconds_) {
        const int count = epoll_wait_nanoseconds(epoll_, events_.get(), capacity_, limit);
        // ENOSYS: an old kernel, or valgrind; EPERM: a container's filter that does not know it.
        if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return count;
        has_nanoseconds_ = false;
    }
    const Duration whole = rest == Duration::zero() ? limit : limit - rest + millisecond;
    return ::epoll_wait(epoll_, events_.get(), capacity_, static_cast<int>(whole / millisecond));
}

void EpollSelector::reset() {
    const int fresh = create_epoll();
    // Under the old number, so that fd() stays true and no other thread can be given it meanwhile.
    const int result = ::dup3(fresh, epoll_, O_CLOEXEC);
    const int error = errno;
    ::close(fresh);
    if (result < 0) throw std::system_error(error, std::system_category(), "dup3");
    always_ready_.reset();
}

}  // namespace reactor
