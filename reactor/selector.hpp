// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_SELECTOR_HPP
#define REACTOR_SELECTOR_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <reactor/clock.hpp>

struct timespec;

namespace reactor {

/// What a descriptor is watched for. The bits combine with `|` to an unsigned.
struct Interest {
    enum : unsigned {
        read = 1,
        write = 2,
        urgent = 4  ///< out-of-band data: EPOLLPRI, POLLPRI, the exception set of select
    };
};

/// What a wait found: the token given with the descriptor, and the bits of Interest that are
/// ready. After a hang-up or an error bits beyond the interest asked for may be set: the reader
/// of the event masks them, so that no back end needs a look-up per event.
struct SelectorEvent {
    enum : unsigned {
        invalid = 8  ///< no other bit is set: the number is no longer an open descriptor
    };

    std::uint64_t token;
    unsigned ready;
};

/// The question "which of these descriptors are ready?", put to the kernel. Owned by a loop, or
/// by whoever made it, and used by one thread at a time. Level-triggered: what is left unread is
/// reported again. The same rules hold for every back end:
///
/// - A hang-up or an error makes every interest ready, whichever was registered. (select(2) knows
///   no such rule: there a hang-up is readable, an error readable and writable, and a descriptor
///   watched only for `urgent` hears of neither.)
/// - Regular files, directories, /dev/null and what else epoll refuses with EPERM are always ready
///   to read and to write, and never urgent.
/// - A descriptor that was closed without remove() harms nothing. poll and select report it as
///   `invalid` at every wait until it is removed; so does epoll for what is always ready, anything
///   else it forgets silently, and says so with EBADF or ENOENT when it is modified next. What is
///   said of epoll holds for io_uring.
///
/// asyncio: selectors.BaseSelector.
class Selector {
public:
    Selector(const Selector&) = delete;
    Selector& operator=(const Selector&) = delete;
    virtual ~Selector();

    /// "epoll", "poll", "select" or "io_uring": what make_selector() takes.
    virtual const char* name() const noexcept = 0;

    /// Watches `fd`. Throws std::system_error and changes nothing if the system refuses: EBADF (not
    /// an open descriptor), EEXIST (watched already), ENOSPC, ENOMEM; select also EINVAL for a
    /// number of FD_SETSIZE and above. Throws std::invalid_argument if `interest` has no bit of
    /// Interest: the kernel would go on reporting hang-ups that nobody asked for.
    virtual void add(int fd, unsigned interest, std::uint64_t token) = 0;

    /// Replaces interest and token of a watched `fd`. Throws as add() does, and ENOENT (EBADF if it
    /// is not even open) if it is not watched.
    virtual void modify(int fd, unsigned interest, std::uint64_t token) = 0;

    /// Forgets `fd`. Nothing happens if it is unknown, or closed already.
    virtual void remove(int fd) noexcept = 0;

    /// Replaces the contents of `ready`, whose capacity is kept, by what is ready, after waiting
    /// for it for at most `timeout`: zero or less does not block, forever() has no limit. The wait
    /// is rounded up to what the system call can express, so it never ends early, with two
    /// exceptions, both with `ready` empty: a signal handler ran (or an io_uring of the thread has
    /// ended, see IoUringSelector), or 24 hours are over. Throws std::system_error if the kernel
    /// refuses to wait.
    virtual void wait(Duration timeout, std::vector<SelectorEvent>& ready) = 0;

    /// Forgets every descriptor; the owner adds anew what it still wants. For epoll this is the
    /// only way to lose a registration whose number was closed while a duplicate keeps the file
    /// open. Throws std::system_error (EMFILE, ENFILE, ENOMEM), and has then changed nothing.
    virtual void reset() = 0;

    /// A descriptor that is readable whenever something watched is ready, to be watched by a
    /// foreign loop; -1 if the back end has none. Always-ready descriptors do not show in it.
    /// reset() keeps the number, but a foreign epoll has to add it again.
    virtual int fd() const noexcept;

protected:
    Selector() = default;

    // For back ends: one place for what all must do alike.

    /// The timeout to hand to the kernel: not negative, at most 24 hours, or forever().
    static Duration bounded(Duration timeout) noexcept;
    /// The same as a timespec in `storage`, or null for forever().
    static const ::timespec* bounded(Duration timeout, ::timespec& storage) noexcept;
    /// Whether the number is a descriptor that can be waited for.
    static bool can_wait_for(int fd) noexcept;
    static void check_interest(unsigned interest);
    [[noreturn]] void refuse(int error, const char* verb, int fd) const;
};

/// Makes the back end of that name; throws std::invalid_argument with the choices for any other,
/// and std::system_error if the system refuses (EMFILE, ENFILE, ENOMEM; for io_uring also EPERM,
/// ENOSYS and EINVAL, see IoUringSelector).
std::unique_ptr<Selector> make_selector(const std::string& name);

/// The back end named by the environment variable REACTOR_SELECTOR; epoll if it is unset or empty.
/// Where io_uring is asked for and cannot be had it is epoll, and a line on standard error says
/// why. Else throws as make_selector() does. asyncio: selectors.DefaultSelector.
std::unique_ptr<Selector> default_selector();

}  // namespace reactor

#endif
