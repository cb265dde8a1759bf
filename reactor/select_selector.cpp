// SPDX-License-Identifier: BSL-1.0
#include <reactor/select_selector.hpp>

#include <sys/select.h>
#include <time.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <system_error>

namespace reactor {

namespace {

// Functions take numbers from 0 to FD_SETSIZE - 1: whoever calls has looked.
struct Sets {
    ::fd_set read;
    ::fd_set write;
    ::fd_set urgent;

    void clear() noexcept {
        FD_ZERO(&read);
        FD_ZERO(&write);
        FD_ZERO(&urgent);
    }

    unsigned bits(int fd) const noexcept {
        unsigned set = 0;
        if (FD_ISSET(fd, &read)) set |= Interest::read;
        if (FD_ISSET(fd, &write)) set |= Interest::write;
        if (FD_ISSET(fd, &urgent)) set |= Interest::urgent;
        return set;
    }

    void assign(int fd, unsigned bits) noexcept {
        FD_CLR(fd, &read);
        FD_CLR(fd, &write);
        FD_CLR(fd, &urgent);
        if (bits & Interest::read) FD_SET(fd, &read);
        if (bits & Interest::write) FD_SET(fd, &write);
        if (bits & Interest::urgent) FD_SET(fd, &urgent);
    }
};

}  // namespace

struct SelectSelector::Watched {
    Sets sets;
    int highest = -1;  // nothing is watched
    std::uint64_t tokens[FD_SETSIZE];

    Watched() noexcept { sets.clear(); }

    bool contains(int fd) const noexcept {
        return fd >= 0 && fd <= highest && sets.bits(fd) != 0;  // highest is below FD_SETSIZE
    }
};

SelectSelector::SelectSelector() : watched_(new Watched) {}

SelectSelector::~SelectSelector() = default;

const char* SelectSelector::name() const noexcept { return "select"; }

void SelectSelector::add(int fd, unsigned interest, std::uint64_t token) {
    check_interest(interest);
    // The kernel would say so only at the next wait, and to somebody who did not make the mistake.
    if (!can_wait_for(fd)) refuse(EBADF, "add", fd);
    if (fd >= FD_SETSIZE) {
        throw std::system_error(EINVAL, std::system_category(),
                                "select selector: descriptor " + std::to_string(fd) +
                                    " is not below FD_SETSIZE (" + std::to_string(FD_SETSIZE) +
                                    "), use the epoll or the poll selector");
    }
    if (watched_->contains(fd)) refuse(EEXIST, "add", fd);
    watched_->sets.assign(fd, interest);
    watched_->tokens[fd] = token;
    if (fd > watched_->highest) watched_->highest = fd;
}

void SelectSelector::modify(int fd, unsigned interest, std::uint64_t token) {
    check_interest(interest);
    if (!watched_->contains(fd)) refuse(can_wait_for(fd) ? ENOENT : EBADF, "modify", fd);
    watched_->sets.assign(fd, interest);
    watched_->tokens[fd] = token;
}

void SelectSelector::remove(int fd) noexcept {
    if (!watched_->contains(fd)) return;
    watched_->sets.assign(fd, 0);
    int& highest = watched_->highest;
    while (highest >= 0 && watched_->sets.bits(highest) == 0) --highest;
}

void SelectSelector::wait(Duration timeout, std::vector<SelectorEvent>& ready) {
    ready.clear();
    Sets sets = watched_->sets;
    ::timespec storage;
    const ::timespec* limit = bounded(timeout, storage);
    int count;
    while ((count = ::pselect(watched_->highest + 1, &sets.read, &sets.write, &sets.urgent, limit,
                              nullptr)) < 0) {
        if (errno == EINTR) return;
        if (errno != EBADF) throw std::system_error(errno, std::system_category(), "pselect");
        // One closed number spoils the answer for all: name it, and look at the others at once. If
        // none is closed, another thread has opened the number meanwhile: the owner asks again.
        const std::size_t known = ready.size();
        ready.clear();
        sets = watched_->sets;
        for (int fd = 0; fd <= watched_->highest; ++fd) {
            if (sets.bits(fd) == 0 || can_wait_for(fd)) continue;
            sets.assign(fd, 0);
            ready.push_back({watched_->tokens[fd], SelectorEvent::invalid});
        }
        if (ready.size() == known) return;
        limit = bounded(Duration::zero(), storage);
    }
    for (int fd = 0; count > 0 && fd <= watched_->highest; ++fd) {
        const unsigned bits = sets.bits(fd);
        if (bits == 0) continue;
        for (unsigned rest = bits; rest != 0; rest &= rest - 1) --count;  // it counts bits
        ready.push_back({watched_->tokens[fd], bits});
    }
}

void SelectSelector::reset() {
    watched_->sets.clear();
    watched_->highest = -1;
}

}  // namespace reactor
