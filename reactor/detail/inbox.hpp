// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_INBOX_HPP
#define REACTOR_DETAIL_INBOX_HPP

#include <reactor/callback.hpp>
#include <reactor/detail/context_map.hpp>
#include <reactor/wakeup.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace reactor {
namespace detail {

/// A callback on its way from another thread, with a copy of that thread's context.
struct Post {
    Post(Callback f, ContextMapPtr map, const char* name)
        : callback(std::move(f)), context(std::move(map)), label(name) {}

    Callback callback;
    ContextMapPtr context;
    const char* label;
};

/// Says what a post that failed has carried, and with which exception, which is the current one: by
/// those who can do no more about it.
void log_undelivered(const char* what) noexcept;

/// Where other threads leave work for a loop, and what they wake it with. Shared by the loop and
/// its posters, so that a poster may outlive the loop. Any thread.
///
/// A vector under a mutex, swapped out whole. The loop is woken only when the inbox turns
/// non-empty while the loop sleeps or is about to: one write to the kernel per batch of posts.
class Inbox {
public:
    Inbox() : wakeup_(new Wakeup) {}
    Inbox(const Inbox&) = delete;
    Inbox& operator=(const Inbox&) = delete;

    /// False, and the callback is destroyed by the caller, once the loop is closed. Throws
    /// std::system_error if the loop sleeps and cannot be woken.
    bool post(Post&& post);
    /// Makes a sleeping loop go round once. No effect once closed.
    void wake() noexcept;

    // The loop's side.

    bool has_posts() const noexcept { return has_posts_.load(std::memory_order_acquire); }
    std::size_t count();
    /// Calls visit(const Post&) for each, with the mutex held.
    template <class F>
    void for_each(F visit) {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (const Post& post : posts_) visit(post);
    }
    /// Before a wait that may block: false if there is something to do instead.
    bool fall_asleep() noexcept;
    void wake_up() noexcept { sleeping_.store(false, std::memory_order_relaxed); }
    /// Swaps the posts with `empty`, whose capacity is used for the next batch.
    void take(std::vector<Post>& empty);
    /// From here on nothing is accepted and nothing is written; returns what was never run.
    std::vector<Post> close();

    /// Null once closed.
    Wakeup* wakeup() noexcept { return wakeup_.get(); }

private:
    bool notify_if_sleeping();

    std::mutex mutex_;
    std::vector<Post> posts_;
    bool closed_ = false;
    // Read by the loop at each iteration, without the mutex.
    std::atomic<bool> has_posts_{false};
    std::atomic<bool> sleeping_{false};
    std::unique_ptr<Wakeup> wakeup_;
};

}  // namespace detail
}  // namespace reactor

#endif
