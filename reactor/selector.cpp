// SPDX-License-Identifier: BSL-1.0
#include <reactor/selector.hpp>

#include <poll.h>
#include <time.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

#include <reactor/epoll_selector.hpp>
#include <reactor/io_uring_selector.hpp>
#include <reactor/poll_selector.hpp>
#include <reactor/report.hpp>
#include <reactor/select_selector.hpp>

namespace reactor {

namespace {

const char* const choices = "epoll, poll, select or io_uring";

// Null if there is no such back end: the two callers put different sentences around the name.
std::unique_ptr<Selector> find_selector(const std::string& name) {
    if (name == "epoll") return std::unique_ptr<Selector>(new EpollSelector);
    if (name == "poll") return std::unique_ptr<Selector>(new PollSelector);
    if (name == "select") return std::unique_ptr<Selector>(new SelectSelector);
    if (name == "io_uring") return std::unique_ptr<Selector>(new IoUringSelector);
    return nullptr;
}

}  // namespace

Selector::~Selector() = default;

int Selector::fd() const noexcept { return -1; }

Duration Selector::bounded(Duration timeout) noexcept {
    // epoll_wait counts milliseconds in an int (25 days), and kernels have differed in what they
    // make of very long waits. asyncio bounds its waits by the same day.
    constexpr Duration longest = std::chrono::hours(24);
    if (timeout == forever()) return timeout;
    if (timeout < Duration::zero()) return Duration::zero();
    return timeout < longest ? timeout : longest;
}

const ::timespec* Selector::bounded(Duration timeout, ::timespec& storage) noexcept {
    const Duration limit = bounded(timeout);
    if (limit == forever()) return nullptr;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
    storage.tv_sec = static_cast<decltype(storage.tv_sec)>(seconds.count());
    storage.tv_nsec = static_cast<decltype(storage.tv_nsec)>((limit - seconds).count());
    return &storage;
}

bool Selector::can_wait_for(int fd) noexcept {
    if (fd < 0) return false;  // poll skips negative numbers
    // Not fcntl: it calls a descriptor opened with O_PATH valid, which neither poll nor select nor
    // epoll does.
    ::pollfd asked = {fd, 0, 0};
    // Any other failure (EINTR if a signal is pending, ENOMEM) says nothing against the descriptor.
    return ::poll(&asked, 1, 0) <= 0 || (asked.revents & POLLNVAL) == 0;
}

void Selector::check_interest(unsigned interest) {
    if ((interest & (Interest::read | Interest::write | Interest::urgent)) == 0) {
        throw std::invalid_argument(
            "a descriptor must be watched for something: call remove() if it is no longer");
    }
}

void Selector::refuse(int error, const char* verb, int fd) const {
    throw std::system_error(
        error, std::system_category(),
        std::string(name()) + " selector: cannot " + verb + " descriptor " + std::to_string(fd));
}

std::unique_ptr<Selector> make_selector(const std::string& name) {
    std::unique_ptr<Selector> made = find_selector(name);
    if (!made) {
        throw std::invalid_argument("there is no selector \"" + name + "\": choose " + choices);
    }
    return made;
}

std::unique_ptr<Selector> default_selector() {
    const char* const name = std::getenv("REACTOR_SELECTOR");
    if (name == nullptr || *name == '\0') return make_selector("epoll");
    std::unique_ptr<Selector> made;
    try {
        made = find_selector(name);
    } catch (const std::system_error& error) {
        // Who sets the variable may not know the machine on which the program runs. Without
        // descriptors epoll would do no better.
        const int code = error.code().value();
        if (std::string(name) != "io_uring" || code == EMFILE || code == ENFILE) throw;
        log_to_standard_error(LogLevel::warning,
                              std::string("REACTOR_SELECTOR=io_uring is not possible, so the loop "
                                          "runs on epoll: ") +
                                  error.what());
        return make_selector("epoll");
    }
    if (!made) {
        throw std::invalid_argument(std::string("the environment says REACTOR_SELECTOR=") + name +
                                    ": choose " + choices + ", or unset it");
    }
    return made;
}

}  // namespace reactor
