// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_RING_POLL_HPP
#define REACTOR_DETAIL_RING_POLL_HPP

#include <cstddef>
#include <cstdint>

namespace reactor {
namespace detail {

/// A poll of one descriptor that waits in an io_uring: whether that has become ready is read from
/// memory that the kernel writes.
///
///     arm(): quiet ──> the descriptor becomes ready ──> rang() ──> arm() again
///     arm(): ready
///
/// Owned by its selector. The ring belongs to the thread that has made it: on another one arm()
/// fails, and rang() goes on telling the truth. A forked child has no access to its memory.
class RingPoll {
public:
    /// Throws std::system_error with what the kernel says: ENOSYS, EPERM, EINVAL (older than
    /// Linux 6.1), ENOMEM, EMFILE, ENFILE.
    RingPoll();
    RingPoll(const RingPoll&) = delete;
    RingPoll& operator=(const RingPoll&) = delete;
    /// In a forked child it takes nothing from the parent. In the thread that has made the ring it
    /// waits for its end, up to half a second.
    ~RingPoll();

    /// Whether the descriptor may have become ready since arm() said `quiet`. No system call. Not
    /// for a forked child.
    bool rang() const noexcept;

    /// False in a forked child, which must leave the ring alone.
    bool in_its_process() const noexcept;

    /// What arm() found. `failed`: the kernel refuses, and says so in `errno`.
    enum class Found { quiet, ready, failed };

    /// Looks at the descriptor, and if it is not ready to be read, waits for it in place of what
    /// was waited for before. One system call, which does not block.
    Found arm(int fd) noexcept;

private:
    struct Request;
    struct Completion;

    unsigned* word(std::uint32_t offset) const noexcept;
    void map();
    void release() noexcept;
    Request& next_request() noexcept;
    void remove_poll() noexcept;
    bool send(unsigned requests) noexcept;
    Found take_completions() noexcept;

    int ring_ = -1;
    long maker_ = 0;          // the thread whose ring it is
    char* memory_ = nullptr;  // both queues
    std::size_t size_ = 0;
    char* requests_ = nullptr;
    std::size_t requests_size_ = 0;
    char* own_page_ = nullptr;  // its first byte is zero in a forked child
    unsigned* submission_tail_ = nullptr;
    unsigned* submission_flags_ = nullptr;
    unsigned* submission_array_ = nullptr;
    unsigned submission_mask_ = 0;
    unsigned* completion_head_ = nullptr;
    unsigned* completion_tail_ = nullptr;
    Completion* completions_ = nullptr;
    unsigned completion_mask_ = 0;
    unsigned taken_ = 0;            // completions: what completion_head_ says
    std::uint64_t generation_ = 0;  // of the poll that was sent last
    bool waiting_ = false;          // its completion has not been seen
};

}  // namespace detail
}  // namespace reactor

#endif
