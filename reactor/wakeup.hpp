// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_WAKEUP_HPP
#define REACTOR_WAKEUP_HPP

#include <atomic>

namespace reactor {

/// A descriptor that any thread, or a signal handler, makes readable to end a selector's wait.
/// Owned by a loop, which watches fd() and drains it; the owner sees to it that nobody notifies
/// any more when it is destroyed. Notifications are not counted: between two drains one is as good
/// as a thousand, so none of them ever blocks. asyncio: the self-pipe.
class Wakeup {
public:
    /// Throws std::system_error: EMFILE, ENFILE, ENOMEM.
    Wakeup();
    Wakeup(const Wakeup&) = delete;
    Wakeup& operator=(const Wakeup&) = delete;
    ~Wakeup();

    /// Readable from a notify() to the next drain().
    int fd() const noexcept { return fd_.load(std::memory_order_relaxed); }

    /// From any thread and any signal handler: calls write(2) only, and leaves errno alone. False
    /// means that the wait will not end: somebody closed the descriptor, or a sandbox forbids the
    /// write. The caller must say so loudly; nobody else knows.
    bool notify() noexcept;

    /// Makes fd() unreadable, by the watching thread. What was posted before a notify() that this
    /// takes back is visible to the caller: drain first, then look at what was posted. False: fd()
    /// is no wake-up any more, since somebody has closed it; a watch of it would spin.
    bool drain() noexcept;

    /// After that: takes a descriptor of its own again, by the watching thread, and leaves the old
    /// number to whoever has it now. What was notified meanwhile is lost: look for it. Throws what
    /// the constructor throws; fd() is -1 then, and notify() false.
    void renew();

private:
    std::atomic<int> fd_;
};

}  // namespace reactor

#endif
