// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_INBOX_HPP
#define REACTOR_DETAIL_INBOX_HPP

#include <reactor/callback.hpp>
#include <reactor/detail/context_map.hpp>
#include <reactor/detail/node_list.hpp>
#include <reactor/detail/spare_nodes.hpp>
#include <reactor/wakeup.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>

namespace reactor {
namespace detail {

/// Says what a post that failed has carried, and with which exception, which is the current one: by
/// those who can do no more about it.
void log_undelivered(const char* what) noexcept;

/// Where other threads leave work for a loop, and what they wake it with. Shared by the loop and
/// its posters, so that a poster may outlive the loop. Any thread.
///
/// A list of nodes under a mutex, taken out whole: it becomes part of the loop's ready queue as it
/// is, and what has run comes back with the next batch that is taken, to be filled again. The nodes
/// lie in order in slabs of their own, which live as long as this, and so as the loop's core. The
/// loop is woken only when the inbox turns non-empty while the loop sleeps or is about to: one
/// write to the kernel per batch of posts.
class Inbox {
public:
    Inbox() : wakeup_(new Wakeup) {}
    ~Inbox();
    Inbox(const Inbox&) = delete;
    Inbox& operator=(const Inbox&) = delete;

    /// Whose nodes these are; before anybody posts.
    void belong_to(LoopCore& core) noexcept { core_ = &core; }

    /// Takes the callback, with a copy of its thread's context. False, and it stays the caller's,
    /// once the loop is closed. Throws std::system_error if the loop sleeps and cannot be woken.
    bool post(Callback& callback, ContextMapPtr&& context = nullptr, const char* label = nullptr);
    /// Makes a sleeping loop go round once. No effect once closed.
    void wake() noexcept;

    // The loop's side.

    bool has_posts() const noexcept { return has_posts_.load(std::memory_order_acquire); }
    std::size_t count();
    /// Calls visit(const Node&) for each, with the mutex held.
    template <class F>
    void for_each(F visit) {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (const Node* node = posts_.first; node; node = node->next) visit(*node);
    }
    /// Calls f(memory) for each block of the heap that is kept for nodes, with the mutex held.
    template <class F>
    void for_each_block(F f) {
        const std::lock_guard<std::mutex> lock(mutex_);
        nodes_.for_each_block(f);
    }
    /// Before a wait that may block: false if there is something to do instead.
    bool fall_asleep() noexcept;
    void wake_up() noexcept { sleeping_.store(false, std::memory_order_relaxed); }
    /// All that was posted, in exchange for nodes that have run and are empty, if there are any.
    NodeList take(NodesByRoom& spare) noexcept;
    /// From here on nothing is accepted and nothing is written. What was never run is destroyed.
    void close() noexcept;

    /// Null once closed.
    Wakeup* wakeup() noexcept { return wakeup_.get(); }

private:
    bool notify_if_sleeping();

    std::mutex mutex_;
    NodeList posts_;
    SpareNodes nodes_;
    LoopCore* core_ = nullptr;
    bool closed_ = false;
    // Read by the loop at each iteration, without the mutex.
    std::atomic<bool> has_posts_{false};
    std::atomic<bool> sleeping_{false};
    std::unique_ptr<Wakeup> wakeup_;
};

}  // namespace detail
}  // namespace reactor

#endif
