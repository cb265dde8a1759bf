// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/ring_poll.hpp>

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace reactor {
namespace detail {

// What this file needs of the kernel's interface, written down here because the headers of an
// older system do not have it, and it never changes. <linux/io_uring.h> calls it by longer names.

namespace {

#ifdef SYS_io_uring_setup
constexpr long setup_call = SYS_io_uring_setup;
constexpr long enter_call = SYS_io_uring_enter;
#else
constexpr long setup_call = 425;  // everywhere but on alpha
constexpr long enter_call = 426;
#endif

constexpr std::uint32_t setup_single_issuer = 1u << 12;  // Linux 6.0
constexpr std::uint32_t setup_defer_taskrun = 1u << 13;  // Linux 6.1
constexpr std::uint32_t setup_taskrun_flag = 1u << 9;
constexpr unsigned enter_getevents = 1;
constexpr std::uint8_t op_poll_add = 6;
constexpr std::uint8_t op_poll_remove = 7;
constexpr ::off_t requests_offset = 0x10000000;

// Two are under way at most: a poll, and its removal.
constexpr unsigned entries = 4;

// Where in the shared memory things are.
struct SubmissionOffsets {
    std::uint32_t head, tail, mask, entries, flags, dropped, array, reserved;
    std::uint64_t address;
};
struct CompletionOffsets {
    std::uint32_t head, tail, mask, entries, overflow, completions, flags, reserved;
    std::uint64_t address;
};
struct Parameters {
    std::uint32_t submissions, completions, flags, thread_cpu, thread_idle, features, other_ring;
    std::uint32_t reserved[3];
    SubmissionOffsets submission;
    CompletionOffsets completion;
};
static_assert(sizeof(Parameters) == 120, "as the kernel has it");

#ifdef MADV_WIPEONFORK
constexpr int wipe_on_fork = MADV_WIPEONFORK;
#else
constexpr int wipe_on_fork = 18;  // Linux 4.14
#endif

constexpr std::uint64_t of_the_removal = 0;  // generations begin with 1

char* map_shared(std::size_t size, int fd, ::off_t offset) {
    void* const at =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, offset);
    if (at == MAP_FAILED) throw std::system_error(errno, std::system_category(), "mmap");
    // A child that wrote there would disturb the parent.
    ::madvise(at, size, MADV_DONTFORK);
    return static_cast<char*>(at);
}

long this_thread() noexcept { return ::syscall(SYS_gettid); }

/// The kernel gets rid of a ring some twenty milliseconds after it was closed, and comes back for
/// it to the thread that has used it, whose next system call it interrupts: an epoll_wait fails
/// with EINTR although no signal has come. It had better be this one. On a busy machine it comes
/// later; if it has come before this call, the wait takes its full time, in vain.
void wait_for_the_end_of_a_ring() noexcept {
    ::sigset_t none;
    ::sigemptyset(&none);
    const ::timespec longest = {0, 500000000};
    int cancelled = 0;
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelled);
    ::sigtimedwait(&none, nullptr, &longest);
    ::pthread_setcancelstate(cancelled, nullptr);
}

std::size_t page_size() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

}  // namespace

struct RingPoll::Request {
    std::uint8_t operation, flags;
    std::uint16_t priority;
    std::int32_t fd;
    std::uint64_t offset, address;
    std::uint32_t length;
    std::uint16_t events, more_events;
    std::uint64_t token;
    std::uint64_t rest[3];
};

struct RingPoll::Completion {
    std::uint64_t token;
    std::int32_t result;
    std::uint32_t flags;
};

RingPoll::RingPoll() {
    static_assert(sizeof(Request) == 64 && sizeof(Completion) == 16, "as the kernel has them");
    try {
        map();
    } catch (...) {
        release();
        throw;
    }
}

RingPoll::~RingPoll() { release(); }

unsigned* RingPoll::word(std::uint32_t offset) const noexcept {
    return static_cast<unsigned*>(static_cast<void*>(memory_ + offset));
}

void RingPoll::map() {
    // With deferred work a completion is no more than a flag in the ring until arm() asks for it:
    // the kernel interrupts neither the callbacks nor the system calls they make, which would fail
    // with EINTR.
    Parameters parameters = Parameters();
    parameters.flags = setup_single_issuer | setup_defer_taskrun | setup_taskrun_flag;
    ring_ = static_cast<int>(::syscall(setup_call, entries, &parameters));
    if (ring_ < 0) throw std::system_error(errno, std::system_category(), "io_uring_setup");
    maker_ = this_thread();

    const SubmissionOffsets& submission = parameters.submission;
    const CompletionOffsets& completion = parameters.completion;
    const std::size_t to_array = submission.array + parameters.submissions * sizeof(unsigned);
    const std::size_t to_completions =
        completion.completions + parameters.completions * sizeof(Completion);
    const std::size_t size = to_array > to_completions ? to_array : to_completions;
    memory_ = map_shared(size, ring_, 0);
    size_ = size;
    requests_ = map_shared(parameters.submissions * sizeof(Request), ring_, requests_offset);
    requests_size_ = parameters.submissions * sizeof(Request);

    submission_tail_ = word(submission.tail);
    submission_flags_ = word(submission.flags);
    submission_array_ = word(submission.array);
    submission_mask_ = *word(submission.mask);
    completion_head_ = word(completion.head);
    completion_tail_ = word(completion.tail);
    completions_ = static_cast<Completion*>(static_cast<void*>(memory_ + completion.completions));
    completion_mask_ = *word(completion.mask);

    void* const page =
        ::mmap(nullptr, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw std::system_error(errno, std::system_category(), "mmap");
    own_page_ = static_cast<char*>(page);
    if (::madvise(page, page_size(), wipe_on_fork) != 0) {
        throw std::system_error(errno, std::system_category(), "madvise");
    }
    *own_page_ = 1;
}

void RingPoll::release() noexcept {
    const bool forked = own_page_ && !in_its_process();
    const bool here = !forked && ring_ >= 0 && maker_ == this_thread();
    // Or the kernel would interrupt this thread once more, to say that it does not wait any longer.
    if (here && waiting_ && rang()) {
        send(0);
        take_completions();
    }
    if (here && waiting_) {
        remove_poll();
        send(1);
    }
    // A child was not given the queues: what is at these addresses there is somebody else's.
    if (requests_ && !forked) ::munmap(requests_, requests_size_);
    if (memory_ && !forked) ::munmap(memory_, size_);
    if (own_page_) ::munmap(own_page_, page_size());
    if (ring_ >= 0) ::close(ring_);
    if (here) wait_for_the_end_of_a_ring();
}

bool RingPoll::in_its_process() const noexcept { return *own_page_ != 0; }

bool RingPoll::rang() const noexcept {
    // Any flag: a completion is due, or was lost.
    return __atomic_load_n(submission_flags_, __ATOMIC_ACQUIRE) != 0 ||
           __atomic_load_n(completion_tail_, __ATOMIC_ACQUIRE) != taken_;
}

RingPoll::Request& RingPoll::next_request() noexcept {
    const unsigned tail = *submission_tail_;  // written by nobody else
    const unsigned index = tail & submission_mask_;
    char* const at = requests_ + index * sizeof(Request);
    std::memset(at, 0, sizeof(Request));
    submission_array_[index] = index;
    // The kernel reads no further than it is told by the call.
    __atomic_store_n(submission_tail_, tail + 1, __ATOMIC_RELEASE);
    return *static_cast<Request*>(static_cast<void*>(at));
}

RingPoll::Found RingPoll::arm(int fd) noexcept {
    take_completions();
    unsigned sent = 1;
    // One that has rung is over. One that has not is for a file that was replaced, or was not
    // needed: it must not pile up.
    if (waiting_ && !rang()) {
        remove_poll();
        ++sent;
    }
    Request& poll = next_request();
    poll.operation = op_poll_add;
    poll.fd = fd;
    poll.events = POLLIN;
    poll.token = ++generation_;
    waiting_ = true;
    return send(sent) ? take_completions() : Found::failed;
}

void RingPoll::remove_poll() noexcept {
    Request& removal = next_request();
    removal.operation = op_poll_remove;
    removal.fd = -1;
    removal.address = generation_;
    removal.token = of_the_removal;
}

bool RingPoll::send(unsigned requests) noexcept {
    const long sent = ::syscall(enter_call, ring_, requests, 0u, enter_getevents, nullptr,
                                static_cast<std::size_t>(0));
    if (sent == static_cast<long>(requests)) return true;
    if (sent >= 0) errno = EAGAIN;
    return false;
}

RingPoll::Found RingPoll::take_completions() noexcept {
    Found found = Found::quiet;
    const unsigned tail = __atomic_load_n(completion_tail_, __ATOMIC_ACQUIRE);
    for (; taken_ != tail; ++taken_) {
        const Completion& completion = completions_[taken_ & completion_mask_];
        if (completion.token != generation_) continue;
        waiting_ = false;
        found = completion.result < 0 ? Found::failed : Found::ready;
        if (completion.result < 0) errno = -completion.result;
    }
    __atomic_store_n(completion_head_, tail, __ATOMIC_RELEASE);
    return found;
}

}  // namespace detail
}  // namespace reactor
