// SPDX-License-Identifier: BSL-1.0
#include <reactor/error.hpp>
#include <reactor/handle.hpp>

#include <cstdio>
#include <exception>
#include <string>

namespace reactor {
namespace detail {

const char own_label[] = "the loop's own";

LoopCore::~LoopCore() = default;

void Node::drop_context() noexcept {
    void* const was = context;
    context = nullptr;
    if (is(NodeFlag::explicit_context)) {
        ContextCellPtr::adopt(static_cast<ContextCell*>(was));
    } else {
        ContextMapPtr::adopt(static_cast<ContextMap*>(was));
    }
}

void LoopCore::set_context(Node* node, const Options* options) {
    if (options) {
        node->label = options->label_;
        if (options->context_) {
            node->set(detail::NodeFlag::explicit_context);
            node->context = ContextCellPtr(options->context_).release();
            return;
        }
    }
    snapshot_context(node, runs_here());
}

ContextMapPtr LoopCore::context_for_post(const Options* options) {
    const bool given = options && options->context_;
    const ContextMapPtr& map = given ? options->context_->map : current_context().map;
    return map ? clone_for_other_thread(map) : nullptr;
}

bool LoopCore::cancel(Node* node) noexcept {
    LoopCore& core = *node->core;
    core.require_thread("Handle::cancel");
    if (!node->ops || node->is(detail::NodeFlag::cancelled)) return false;
    // A one-shot callback that runs now is past cancelling; a repeating one has its next run.
    if (core.current == node && !node->is(detail::NodeFlag::repeating)) return false;
    node->set(detail::NodeFlag::cancelled);
    // The loop's floor first: what the captures' destructors do must meet consistent tables.
    switch (node->kind()) {
        case NodeKind::timer: {
            // Either way a reference is held until the callable is gone: the heap's was perhaps the
            // last one.
            TimerNode* const timer = static_cast<TimerNode*>(node);
            if (timer->armed()) {
                core.timers.disarm(timer);
            } else {
                timer->add_reference();
            }
            break;
        }
        case NodeKind::reader:
        case NodeKind::writer:
        case NodeKind::urgent:
            node->add_reference();  // the table may let go of the last one
            core.forget_watch(*node);
            break;
        case NodeKind::soon:
        case NodeKind::done:
            node->add_reference();
            break;
    }
    // The callable that runs is destroyed when it returns: not underneath itself.
    if (core.current != node) node->drop_callable();
    core.release(node);
    return true;
}

void LoopCore::dispose(Node* node) noexcept {
    if (!gone) require_thread("a Handle's destructor");
    node->drop_callable();
    recycle(node);
}

void LoopCore::recycle(Node* node) noexcept {
    if (node->kind() == NodeKind::timer) {
        timers.recycle(static_cast<TimerNode*>(node));
        if (gone) forget_after_end();
    } else if (gone) {
        nodes.drop(node);
        forget_after_end();
    } else if (!node->is(NodeFlag::posted)) {
        nodes.put(node);
    } else {
        --posts_out;
        if (nodes.in_slabs()) {
            posts_run.add(node);
        } else {
            nodes.drop(node);
        }
    }
}

void LoopCore::end() noexcept {
    drain_dropped();
    pool.retire();
    // From here on what is still out is counted with atomics, and no thread is the loop's: each
    // counts, and destroys, as a foreign one. The loop object's own count goes last.
    live_after.store(live() + timers.nodes_out() + 1, std::memory_order_relaxed);
    nodes.retire();
    gone = true;
    loop = nullptr;
    thread.store(nullptr, std::memory_order_relaxed);
    home.store(nullptr, std::memory_order_relaxed);
    stop_hand_backs();
    forget_after_end();
}

void LoopCore::forget_after_end() noexcept {
    if (live_after.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void LoopCore::refuse_closed(const char* call) {
    throw StateError(std::string(call) +
                     ": the event loop is closed: make a new one, or call before close()");
}

void LoopCore::refuse_if_closed(const char* call, Node* node) {
    if (!closed.load(std::memory_order_relaxed)) return;
    release(node);
    refuse_closed(call);
}

void LoopCore::refuse(const char* call) const {
    if (closed.load(std::memory_order_relaxed)) refuse_closed(call);
    refuse_thread(call);
}

void LoopCore::refuse_thread(const char* call) const {
    if (!running.load(std::memory_order_acquire) || on_thread()) return;
    throw StateError(std::string(call) +
                     ": another thread is running this event loop: use call_soon_threadsafe() or "
                     "a poster()");
}

void LoopCore::terminate_on_wrong_thread(const char* what) noexcept {
    std::fprintf(stderr,
                 "reactor: %s on another thread than the one that runs its event loop: handles "
                 "stay on the loop's thread\n",
                 what);
    std::terminate();
}

}  // namespace detail

bool TimerHandle::reschedule_unarmed(TimePoint when) {
    detail::TimerNode* const node = timer();
    if (!node->ops || node->is(detail::NodeFlag::cancelled)) return false;
    if (node->core->current == node && !node->is(detail::NodeFlag::repeating)) return false;
    // It is in the batch that runs now, which passes over a timer that is armed again.
    node->core->timers.arm(node, when);
    return true;
}

}  // namespace reactor
