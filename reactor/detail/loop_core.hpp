// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_LOOP_CORE_HPP
#define REACTOR_DETAIL_LOOP_CORE_HPP

#include <reactor/clock.hpp>
#include <reactor/detail/node_list.hpp>
#include <reactor/detail/pool.hpp>
#include <reactor/detail/spare_nodes.hpp>
#include <reactor/detail/thread_mark.hpp>
#include <reactor/timer_queue.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace reactor {

class EventLoop;
class Options;
class Report;

namespace detail {

class Births;
class Inbox;
struct HandleAccess;
struct PromiseState;
struct TaskCore;

/// What handles and promises know of their loop: the ready queue, the nodes, the timers, the lists
/// of promises. Counted by the nodes and promise states that are out, and freed by the last of
/// them, so that a Handle or a Promise may outlive the loop. Everything but the atomics belongs to
/// the loop's thread.
class LoopCore {
public:
    LoopCore(const Clock& c, std::shared_ptr<Inbox> i)
        : clock(&c), inbox(std::move(i)), thread(thread_mark()), home(thread_mark()) {}
    LoopCore(const LoopCore&) = delete;
    LoopCore& operator=(const LoopCore&) = delete;

    // ---- who may call ----

    bool on_thread() const noexcept {
        return thread.load(std::memory_order_relaxed) == thread_mark();
    }
    /// Whether the loop runs, and on the calling thread: then it is open, too, and nothing else is
    /// to be asked of whoever calls.
    bool runs_here() const noexcept {
        return runner.load(std::memory_order_relaxed) == thread_mark();
    }
    /// Whether the loop is open, and this thread its own, which runs it or ran it last.
    bool at_home() const noexcept { return home.load(std::memory_order_relaxed) == thread_mark(); }
    /// Throws StateError, naming `call`, on a closed loop and on a thread that may not call now.
    void check(const char* call) const {
        if (!at_home()) refuse(call);
    }
    /// The thread half of check(): for calls that a closed loop answers.
    void check_thread(const char* call) const {
        if (!on_thread()) refuse_thread(call);
    }

    /// For what must not throw: says so on standard error and terminates on a wrong thread.
    void require_thread(const char* what) const noexcept {
        if (!on_thread() && running.load(std::memory_order_acquire)) {
            terminate_on_wrong_thread(what);
        }
    }

    // ---- nodes ----

    /// An empty node with one reference, the caller's.
    Node* take(NodeKind kind, NodeRoom room) {
        Node* const node = nodes.take(*this, room);
        node->label = nullptr;
        node->renew(kind, room);
        return node;
    }
    /// A node with a callable of type B; nothing is lost if its construction throws.
    template <class B, class... A>
    Node* make(NodeKind kind, A&&... arguments) {
        return fill<B>(take(kind, room_for(Stored<B>::size)), std::forward<A>(arguments)...);
    }
    /// The same for a call of the user's.
    template <class B, class... A>
    Node* make_for(const char* call, NodeKind kind, A&&... arguments) {
        return fill_for<B>(call, take(kind, room_for(Stored<B>::size)),
                           std::forward<A>(arguments)...);
    }
    TimerNode* take_timer() {
        TimerNode* const node = timers.take();  // which counts it
        node->core = this;
        return node;
    }
    void release(Node* node) noexcept {
        if (node->drop_reference()) dispose(node);
    }
    /// The same for a node without its callable, on the thread that runs the loop.
    void release_here(Node* node) noexcept {
        if (node->is_simple_and_last()) {
            nodes.put(node);
        } else if (node->drop_reference()) {
            recycle(node);
        }
    }
    /// Appends to the ready queue, which takes over the caller's reference.
    void push(Node* node) noexcept {
        node->next = nullptr;
        *tail = node;
        tail = &node->next;
        ++pushed;
    }
    /// The same for a chain of nodes.
    void append(Node* first, Node* last, std::size_t count) noexcept {
        last->next = nullptr;
        *tail = first;
        tail = &last->next;
        pushed += count;
    }
    /// The next node of the ready queue, null if there is none; the reference is the caller's.
    Node* pop() noexcept {
        Node* const node = head;
        if (!node) return nullptr;
        head = node->next;
        if (!head) tail = &head;
        node->next = nullptr;
        ++popped;
        return node;
    }
    /// How many are in the ready queue.
    std::size_t ready() const noexcept { return pushed - popped; }
    /// Puts a callable into a fresh node with the room for it, which is given back if its
    /// construction throws.
    template <class B, class N, class... A>
    N* fill(N* node, A&&... arguments) {
        NodeGuard guard{*this, node};
        node->ops = Stored<B>::make(node->storage(), std::forward<A>(arguments)...);
        guard.node = nullptr;
        return node;
    }
    /// The same for a call of the user's, whose copy constructor may have closed the loop
    /// meanwhile.
    template <class B, class N, class... A>
    N* fill_for(const char* call, N* node, A&&... arguments) {
        fill<B>(node, std::forward<A>(arguments)...);
        if (!at_home()) refuse_if_closed(call, node);
        return node;
    }
    /// On a closed loop gives the node back and throws.
    void refuse_if_closed(const char* call, Node* node);
    /// Notes in `node` the context to run in: the options' own, else a snapshot of the current one.
    void set_context(Node* node, const Options* options) {
        if (options) {
            set_context_by(node, *options);
        } else {
            snapshot_context(node, runs_here());
        }
    }
    /// A snapshot of the current context. `here`: runs_here(), so that the C library need not be
    /// asked for what belongs to the thread.
    void snapshot_context(Node* node, bool here) noexcept {
        ContextMap* const map = (here ? *context_slot : current_context_slot())->map.get();
        node->context = map;
        if (map) ++map->references;
    }
    /// A copy of the same, for a post to another thread.
    static ContextMapPtr context_for_post(const Options* options);
    /// Law 3: true if it will never run.
    static bool cancel(Node* node) noexcept;

    // ---- what the floors above add ----

    /// The callable of a reader or writer was cancelled: takes its interest out of the selector.
    virtual void forget_watch(Node& node) noexcept = 0;
    /// A reader or writer was registered: tells the observers, if there are any.
    virtual void watch_registered(const Node& node) noexcept = 0;
    /// Hands a report to the loop's exception handler, after the loop's end to standard error.
    virtual void report(const Report& report) noexcept = 0;
    /// What runs now was scheduled by the callback with this `trace_id`, by way of another thread.
    virtual void caused_by(std::uint64_t id) noexcept = 0;

    // ---- the count that keeps the core ----

    void retain() noexcept {
        if (gone) {
            live_after.fetch_add(1, std::memory_order_relaxed);
        } else {
            ++states_out;
        }
    }
    void forget() noexcept {
        if (gone) {
            forget_after_end();
        } else {
            --states_out;
        }
    }
    /// The loop object ends: the core is freed here, or by the last node or state to go.
    void end() noexcept;

    EventLoop* loop = nullptr;  // null once the loop object is gone
    const Clock* clock;
    const std::shared_ptr<Inbox> inbox;  // where other threads leave what they post and hand back
    std::atomic<const void*> thread;  // whose the loop is; the last one that ran it, else its maker
    std::atomic<const void*> home;    // the same, null once closed
    std::atomic<const void*> runner{nullptr};  // the one that runs it now
    ContextCell** context_slot = nullptr;      // the runner's: where its current context is
    std::atomic<bool> running{false};
    std::atomic<bool> closed{false};
    bool has_moved = false;  // to another thread than its maker's: of the one that runs it
    bool gone = false;
    bool debug = false;
    bool measured = false;  // debug, or observed: each callback goes the slow way

    Node* head = nullptr;  // ready queue
    Node** tail = &head;
    std::size_t pushed = 0;      // to the queue, and
    std::size_t popped = 0;      // from it, ever
    Node* current = nullptr;     // the node that runs now
    std::uint64_t trace_id = 0;  // its number in the loop's trace, 0 without one
    std::uint64_t next_trace_id = 1;

    Pool pool;
    SpareNodes nodes;
    TimerQueue timers;
    std::uint32_t next_key = 1;  // of done callbacks

    // Promises (detail/promise_state.hpp): pending ones; those whose last reference went on another
    // thread; those whose last reference went while another one was being destroyed.
    PromiseState* pending = nullptr;
    std::atomic<PromiseState*> dropped{nullptr};
    PromiseState* doomed = nullptr;
    bool reaping = false;
    Births* births = nullptr;  // when pending promises were made, once the loop was in debug mode
    TaskCore* current_task = nullptr;  // whose step runs now
    std::uint64_t next_task = 1;       // the number in the next task's default name

    /// Drops the callbacks of every pending promise, which may be in cycles with what they
    /// captured.
    void abandon_promises() noexcept;
    /// Destroys the states whose last reference went on another thread.
    void drain_dropped() noexcept {
        if (dropped.load(std::memory_order_relaxed)) destroy_dropped();
    }
    /// Who drops the last reference of a state from here on destroys it himself.
    void stop_hand_backs() noexcept;

    /// Nodes and states out, without the timers, which their queue counts.
    std::size_t live() const noexcept { return states_out + nodes.out() + posts_out; }
    /// f(memory) for each block that is kept for later: to be told apart from what is lost.
    template <class F>
    void for_each_spare(F f) const {
        pool.for_each_spare(f);
        nodes.for_each_block(f);
        for (const void* const block : blocks_of_posts()) f(block);
    }

    std::size_t states_out = 0;
    std::size_t posts_out = 0;               // nodes that came through the inbox
    NodesByRoom posts_run;                   // those that are to go back there
    std::atomic<std::size_t> live_after{0};  // all of them, once the loop object is gone

protected:
    virtual ~LoopCore();

private:
    struct NodeGuard {
        LoopCore& core;
        Node* node;
        ~NodeGuard() {
            if (node) core.release(node);
        }
    };

    std::vector<const void*> blocks_of_posts() const;
    void dispose(Node* node) noexcept;
    void recycle(Node* node) noexcept;
    void set_context_by(Node* node, const Options& options);
    void destroy_dropped() noexcept;
    void forget_after_end() noexcept;
    [[noreturn]] static void refuse_closed(const char* call);
    /// Unless it was fine all the same.
    void refuse(const char* call) const;
    void refuse_thread(const char* call) const;
    [[noreturn]] static void terminate_on_wrong_thread(const char* what) noexcept;
};

}  // namespace detail
}  // namespace reactor

#endif
