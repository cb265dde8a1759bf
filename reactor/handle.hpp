// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_HANDLE_HPP
#define REACTOR_HANDLE_HPP

#include <reactor/clock.hpp>
#include <reactor/context.hpp>
#include <reactor/detail/loop_core.hpp>
#include <reactor/here.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace reactor {

/// What a registration may say beside its callable; always the first argument.
///
///     loop.call_soon(Options().label("retry"), &Client::retry, this);
///
/// A value, kept by nobody.
class Options {
public:
    explicit Options(Here here = Here()) noexcept : here_(here) {}

    /// Runs the callback in this very context, not in a snapshot of the current one.
    Options& context(Context context) noexcept {
        context_ = std::move(context.cell_);
        return *this;
    }
    /// The callback's name in reports and inspection: a string literal, which is not copied.
    Options& label(const char* literal) noexcept {
        label_ = literal;
        return *this;
    }
    /// For readers and writers of a descriptor that the caller owns, and will take out of the loop
    /// before closing it: the last removal is folded as well, and put off for a reader that pauses,
    /// so that an interest that comes and goes with each message costs no system call.
    Options& owned_descriptor() noexcept {
        owned_descriptor_ = true;
        return *this;
    }

    bool has_context() const noexcept { return static_cast<bool>(context_); }
    const char* label() const noexcept { return label_; }
    const Here& here() const noexcept { return here_; }
    bool owns_descriptor() const noexcept { return owned_descriptor_; }

private:
    friend class detail::LoopCore;

    detail::ContextCellPtr context_;
    const char* label_ = nullptr;
    Here here_;
    bool owned_descriptor_ = false;
};

/// A callback that a loop has taken. A counted reference: the loop keeps the callback whether or
/// not anybody holds a handle of it. Stays on the loop's thread; may outlive the loop. Empty when
/// default-constructed or moved from. asyncio: Handle.
class Handle {
public:
    Handle() noexcept = default;
    Handle(const Handle& other) noexcept : node_(other.node_) {
        if (node_) node_->add_reference();
    }
    Handle(Handle&& other) noexcept : node_(other.node_) { other.node_ = nullptr; }
    Handle& operator=(Handle other) noexcept {
        std::swap(node_, other.node_);
        return *this;
    }
    ~Handle() {
        if (node_) node_->core->release(node_);
    }

    explicit operator bool() const noexcept { return node_ != nullptr; }

    /// True: the callback will never run (again), also if it was in the batch that runs now; what
    /// it captured has been destroyed, or will be when it returns if it is the one that runs.
    /// False: it ran, runs, was cancelled before, or the handle is empty. Never throws; on another
    /// thread than the one that runs the loop it says so on standard error and terminates.
    bool cancel() noexcept { return node_ && detail::LoopCore::cancel(node_); }

    /// Whether a cancel() of it returned true.
    bool cancelled() const noexcept { return node_ && node_->is(detail::NodeFlag::cancelled); }

    /// Its label, else its callable's type as the compiler prints it; empty if it has no label and
    /// ran or was cancelled.
    std::string name() const { return node_ ? node_->name() : std::string(); }

    /// Whether both name the same registration.
    friend bool operator==(const Handle& a, const Handle& b) noexcept { return a.node_ == b.node_; }
    friend bool operator!=(const Handle& a, const Handle& b) noexcept { return !(a == b); }

protected:
    friend struct std::hash<Handle>;
    friend struct detail::HandleAccess;

    /// Adds a reference.
    explicit Handle(detail::Node* node) noexcept : node_(node) {
        if (node_) node_->add_reference();
    }

    detail::Node* node_ = nullptr;
};

/// A timer that a loop has taken: a Handle with a deadline. asyncio: TimerHandle.
class TimerHandle : public Handle {
public:
    TimerHandle() noexcept = default;

    /// The deadline in the loop's time; never() for an empty handle.
    TimePoint when() const noexcept { return node_ ? timer()->when : never(); }

    /// Moves the deadline of a timer that has not run yet, also if it is due and in the batch that
    /// runs now. Later costs nothing, earlier as much as arming a timer; among equal deadlines it
    /// counts as set now. False, and no effect, if it ran, runs or was cancelled; a call_every()
    /// timer, also inside its own callback, goes on with its period from there. Throws StateError
    /// on another thread than the loop's and on a closed loop.
    bool reschedule(TimePoint when) {
        if (!node_) return false;
        detail::TimerNode* const node = timer();
        node->core->check("TimerHandle::reschedule");
        if (!node->armed()) return reschedule_unarmed(when);  // it is due, ran, or was cancelled
        node->core->timers.rearm(node, when);
        return true;
    }

    /// How many ticks of a call_every() timer were left out so far because the loop was late.
    std::uint32_t missed_ticks() const noexcept { return node_ ? timer()->missed : 0; }

    /// By deadline, and by the order of setting where it is the same.
    friend bool operator<(const TimerHandle& a, const TimerHandle& b) noexcept {
        if (!a.node_ || !b.node_) return !a.node_ && b.node_;
        if (a.timer()->when != b.timer()->when) return a.timer()->when < b.timer()->when;
        return static_cast<std::int32_t>(a.timer()->sequence - b.timer()->sequence) < 0;
    }
    friend bool operator>(const TimerHandle& a, const TimerHandle& b) noexcept { return b < a; }
    friend bool operator<=(const TimerHandle& a, const TimerHandle& b) noexcept { return !(b < a); }
    friend bool operator>=(const TimerHandle& a, const TimerHandle& b) noexcept { return !(a < b); }

private:
    friend struct detail::HandleAccess;

    explicit TimerHandle(detail::TimerNode* node) noexcept : Handle(node) {}
    bool reschedule_unarmed(TimePoint when);
    detail::TimerNode* timer() const noexcept { return static_cast<detail::TimerNode*>(node_); }
};

namespace detail {

/// The label, told by its address, of callbacks that are the loop's own business: inspection does
/// not list them.
extern const char own_label[];

/// Between handles and nodes, for those who register callbacks.
struct HandleAccess {
    static Handle handle(Node* node) noexcept { return Handle(node); }
    static TimerHandle timer(TimerNode* node) noexcept { return TimerHandle(node); }
    /// Takes over the caller's reference.
    static TimerHandle adopt(TimerNode* node) noexcept {
        TimerHandle handle;
        handle.node_ = node;
        return handle;
    }
    static Node* node(const Handle& handle) noexcept { return handle.node_; }
};

}  // namespace detail

}  // namespace reactor

namespace std {

template <>
struct hash<reactor::Handle> {
    size_t operator()(const reactor::Handle& handle) const noexcept {
        return hash<reactor::detail::Node*>()(handle.node_);
    }
};
template <>
struct hash<reactor::TimerHandle> : hash<reactor::Handle> {};

}  // namespace std

#endif
