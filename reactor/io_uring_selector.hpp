// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_IO_URING_SELECTOR_HPP
#define REACTOR_IO_URING_SELECTOR_HPP

#include <memory>
#include <vector>

#include <reactor/epoll_selector.hpp>

namespace reactor {

namespace detail {
class RingPoll;
}

/// The selector on epoll(7) that asks an io_uring whether it has to ask: a wait that does not block
/// is two reads from memory while nothing has become ready, where epoll_wait costs a system call in
/// every iteration of a busy loop. Owner and thread as for every Selector; every function keeps the
/// promises made there, with the same answers as EpollSelector. Needs Linux 6.1.
///
/// The descriptors are in an epoll set. One poll of that set waits in the ring:
///
///     descriptors ──> epoll set ──> poll in the ring ──> completion: now epoll_wait is worth it
///
/// What a callback has left ready the poll would not report twice, since the ring tells of changes:
/// after a wait that found something the next one arms the poll anew, which also looks. If that
/// finds the set still ready, waits are epoll_wait's again until one finds nothing. A wait that may
/// block is an epoll_wait, so a loop that mostly sleeps makes no system call more than on epoll.
///
/// There is no poll per descriptor in the ring: as long as one waits it holds the file itself, so a
/// socket that its owner closes first would neither be closed for its peer nor be found out.
///
/// A loop that goes on in another thread, or in a forked child, gets a ring of its own there. The
/// kernel then interrupts a system call of the first thread, once. If the system gives no ring,
/// waits are those of EpollSelector from then on.
class IoUringSelector final : public EpollSelector {
public:
    /// Throws std::system_error, with a sentence that says what to do: ENOSYS, EINVAL (the kernel
    /// is too old), EPERM (forbidden by kernel.io_uring_disabled or a container's filter), ENOMEM
    /// (also: more than may be locked); EMFILE, ENFILE.
    IoUringSelector();
    /// Takes some twenty milliseconds, on a busy machine up to half a second: the kernel ends a
    /// ring with an interruption of its thread, which no later system call of the program is to
    /// suffer. On another thread it does not wait.
    ~IoUringSelector() override;

    const char* name() const noexcept override;
    void wait(Duration timeout, std::vector<SelectorEvent>& ready) override;
    void reset() override;

private:
    bool nothing_ready();
    bool arm();

    std::unique_ptr<detail::RingPoll> ring_;  // null: the system gives none
    bool quiet_ = false;                      // armed, and nothing was ready then
    bool direct_ = false;                     // something is always ready: not worth arming
};

}  // namespace reactor

#endif
