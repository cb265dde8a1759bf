// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_EPOLL_SELECTOR_HPP
#define REACTOR_EPOLL_SELECTOR_HPP

#include <cstdint>
#include <memory>
#include <vector>

#include <reactor/poll_selector.hpp>
#include <reactor/selector.hpp>

struct epoll_event;

namespace reactor {

/// The selector on epoll(7), and the default: a wait costs what is ready, not what is watched.
/// Owner and thread as for every Selector; every function keeps the promises made there.
///
/// The kernel keeps the books: whether a number is watched is its answer, so a registration that
/// vanished with its file never stands in the way of the number's next owner. Only descriptors
/// that epoll refuses as always ready are kept here, in a poll list, which costs one more system
/// call per wait while there are any.
///
/// The destructor closes the epoll descriptor and touches no registration: in a forked child they
/// are the parent's too.
class EpollSelector : public Selector {
public:
    /// Throws std::system_error: EMFILE, ENFILE, ENOMEM.
    EpollSelector();
    ~EpollSelector() override;

    const char* name() const noexcept override;
    void add(int fd, unsigned interest, std::uint64_t token) override;
    void modify(int fd, unsigned interest, std::uint64_t token) override;
    void remove(int fd) noexcept override;
    /// One system call: epoll_wait where whole milliseconds will do, else epoll_pwait2. On a kernel
    /// or in a sandbox without that, waits are rounded up to milliseconds.
    void wait(Duration timeout, std::vector<SelectorEvent>& ready) override;
    void reset() override;
    int fd() const noexcept override;

protected:
    /// Whether there are descriptors that the epoll set does not know.
    bool watches_always_ready() const noexcept { return !always_ready_.empty(); }

private:
    int change(int operation, int fd, unsigned interest, std::uint64_t token) noexcept;
    int wait_for_events(Duration timeout);

    int epoll_;
    int capacity_;
    bool full_ = false;  // the last wait filled the buffer: a larger one is due
    bool has_nanoseconds_ = true;
    std::unique_ptr<::epoll_event[]> events_;
    PollSelector always_ready_;
};

}  // namespace reactor

#endif
