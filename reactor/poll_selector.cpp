// SPDX-License-Identifier: BSL-1.0
#include <reactor/poll_selector.hpp>

#include <poll.h>
#include <time.h>

#include <cerrno>
#include <cstddef>
#include <system_error>

namespace reactor {

namespace {

constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

short to_poll(unsigned interest) noexcept {
    int events = 0;
    if (interest & Interest::read) events |= POLLIN;
    if (interest & Interest::write) events |= POLLOUT;
    if (interest & Interest::urgent) events |= POLLPRI;
    return static_cast<short>(events);
}

unsigned from_poll(int events) noexcept {
    if (events & POLLNVAL) return SelectorEvent::invalid;
    unsigned ready = 0;
    if (events & (POLLIN | POLLERR | POLLHUP)) ready |= Interest::read;
    if (events & (POLLOUT | POLLERR | POLLHUP)) ready |= Interest::write;
    if (events & (POLLPRI | POLLERR | POLLHUP)) ready |= Interest::urgent;
    return ready;
}

}  // namespace

struct PollSelector::List {
    struct Watch {
        std::uint64_t token;
        std::size_t position;  // in polled, or nowhere
    };

    std::vector<::pollfd> polled;
    std::vector<Watch> by_number;
};

PollSelector::PollSelector() : list_(new List) {}

PollSelector::~PollSelector() = default;

const char* PollSelector::name() const noexcept { return "poll"; }

bool PollSelector::empty() const noexcept { return list_->polled.empty(); }

bool PollSelector::contains(int fd) const noexcept {
    const std::size_t number = static_cast<std::size_t>(fd);
    return fd >= 0 && number < list_->by_number.size() &&
           list_->by_number[number].position != nowhere;
}

void PollSelector::add(int fd, unsigned interest, std::uint64_t token) {
    check_interest(interest);
    // The kernel would say so only at the next wait, and to somebody who did not make the mistake.
    if (!can_wait_for(fd)) refuse(EBADF, "add", fd);
    if (contains(fd)) refuse(EEXIST, "add", fd);
    const std::size_t number = static_cast<std::size_t>(fd);
    if (number >= list_->by_number.size()) {
        list_->by_number.resize(number + 1, List::Watch{0, nowhere});
    }
    list_->polled.push_back(::pollfd{fd, to_poll(interest), 0});
    list_->by_number[number] = List::Watch{token, list_->polled.size() - 1};
}

void PollSelector::modify(int fd, unsigned interest, std::uint64_t token) {
    check_interest(interest);
    if (!contains(fd)) refuse(can_wait_for(fd) ? ENOENT : EBADF, "modify", fd);
    List::Watch& watch = list_->by_number[static_cast<std::size_t>(fd)];
    list_->polled[watch.position].events = to_poll(interest);
    watch.token = token;
}

void PollSelector::remove(int fd) noexcept {
    if (!contains(fd)) return;
    std::size_t& position = list_->by_number[static_cast<std::size_t>(fd)].position;
    const ::pollfd last = list_->polled.back();
    list_->polled[position] = last;
    list_->polled.pop_back();
    list_->by_number[static_cast<std::size_t>(last.fd)].position = position;
    position = nowhere;  // in this order: the last may be the one removed
}

void PollSelector::wait(Duration timeout, std::vector<SelectorEvent>& ready) {
    ready.clear();
    ::timespec storage;
    const ::timespec* const limit = bounded(timeout, storage);
    int count = ::ppoll(list_->polled.data(), list_->polled.size(), limit, nullptr);
    if (count < 0) {
        if (errno == EINTR) return;
        throw std::system_error(errno, std::system_category(), "ppoll");
    }
    for (const ::pollfd& polled : list_->polled) {
        if (count == 0) break;
        if (polled.revents == 0) continue;
        --count;
        ready.push_back({list_->by_number[static_cast<std::size_t>(polled.fd)].token,
                         from_poll(polled.revents)});
    }
}

void PollSelector::reset() {
    list_->polled.clear();
    list_->by_number.clear();
}

}  // namespace reactor
