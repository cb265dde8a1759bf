// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_ANY_PROMISE_HPP
#define REACTOR_ANY_PROMISE_HPP

#include <reactor/detail/promise_state.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

namespace reactor {

class EventLoop;

namespace detail {

struct PromiseAccess;

}  // namespace detail

/// Names the done callbacks that were added with it; the default one names none. A value.
struct DoneKey {
    std::uint32_t id = 0;

    friend bool operator==(DoneKey a, DoneKey b) noexcept { return a.id == b.id; }
    friend bool operator!=(DoneKey a, DoneKey b) noexcept { return a.id != b.id; }
};

/// A promise whose value's type does not matter: what all Promise<T> have in common, and what they
/// can be kept as. A counted reference: copies name the same promise. It may be copied, moved and
/// dropped on any thread, and may outlive its loop; everything else belongs to the loop's thread
/// and throws StateError elsewhere. (One exception: while a loop that one thread has made or run is
/// about to be run by another, the first one drops none of its promises.) On an empty one
/// (default-constructed, moved from) everything but bool, comparison, assignment and destruction
/// throws StateError. asyncio: Future.
class AnyPromise {
public:
    AnyPromise() noexcept = default;
    AnyPromise(const AnyPromise& other) noexcept : state_(other.state_) {
        if (state_) state_->keep();
    }
    AnyPromise(AnyPromise&& other) noexcept : state_(other.state_) { other.state_ = nullptr; }
    AnyPromise& operator=(AnyPromise other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    ~AnyPromise() {
        if (state_) detail::drop(state_);
    }

    explicit operator bool() const noexcept { return state_ != nullptr; }

    /// Whether it has its outcome: a value, an error, or it was cancelled.
    bool done() const { return state("done").done(); }
    bool cancelled() const { return state("cancelled").status == detail::PromiseStatus::cancelled; }

    /// Asks for cancellation. False: it is done, nothing changes, but an error of it counts as
    /// read: who cancels has given it up. A promise that somebody completes by set_result() is
    /// cancelled at once, and its callbacks are queued; an operation is ended; a promise that waits
    /// for others (of then, gather, wait_for, a task) passes the request on to them and follows
    /// when they have answered.
    bool cancel(const std::string& message = std::string()) const {
        return state("cancel").cancel(message);
    }

    /// What result() would throw, without throwing it: null for a value, a CancelledError if it was
    /// cancelled. An error counts as read from then on. Throws InvalidStateError while pending.
    std::exception_ptr error() const { return state("error").failure("error"); }

    /// The same, but throws CancelledError if it was cancelled. asyncio: Future.exception().
    std::exception_ptr exception() const;

    /// Makes it done with an error, which result() will throw; if nobody reads it, it is reported
    /// when the last reference goes. Throws InvalidStateError if it is done already, StateError for
    /// a task's promise, std::invalid_argument for null.
    void set_exception(std::exception_ptr error) const;
    template <class E, class = typename std::enable_if<
                           !std::is_convertible<E, std::exception_ptr>::value>::type>
    void set_exception(E error) const {
        set_exception(std::make_exception_ptr(std::move(error)));
    }

    /// Takes out the callbacks with this key and returns how many; what they captured is destroyed.
    /// 0 on a done promise: its callbacks are in the loop's queue.
    std::size_t remove_done_callback(DoneKey key) const {
        detail::PromiseState& promise = state("remove_done_callback");
        return promise.done() ? 0 : promise.remove(key.id);
    }

    /// Throws StateError if the loop is gone.
    EventLoop& loop() const;

    /// Whether both name the same promise.
    friend bool operator==(const AnyPromise& a, const AnyPromise& b) noexcept {
        return a.state_ == b.state_;
    }
    friend bool operator!=(const AnyPromise& a, const AnyPromise& b) noexcept { return !(a == b); }

protected:
    friend struct detail::PromiseAccess;
    friend struct std::hash<AnyPromise>;

    /// Takes over a reference.
    explicit AnyPromise(detail::PromiseState* adopted) noexcept : state_(adopted) {}

    /// Its state, for the call of that name.
    detail::PromiseState& state(const char* call) const {
        if (!state_) refuse_empty(call);
        state_->core->check_thread(call);
        return *state_;
    }
    /// The same for a call that adds a callback: throws StateError on a closed loop, too.
    detail::PromiseState& attachable(const char* call) const {
        if (!state_) refuse_empty(call);
        state_->check_attach(call);
        return *state_;
    }
    /// The same for a call that completes it.
    detail::PromiseState& settable(const char* call) const {
        detail::PromiseState& promise = state(call);
        if (promise.is_task) refuse_task(call);
        return promise;
    }

    detail::PromiseState* state_ = nullptr;

private:
    [[noreturn]] static void refuse_empty(const char* call);
    [[noreturn]] static void refuse_task(const char* call);
};

}  // namespace reactor

namespace std {

template <>
struct hash<reactor::AnyPromise> {
    size_t operator()(const reactor::AnyPromise& promise) const noexcept {
        return hash<reactor::detail::PromiseState*>()(promise.state_);
    }
};

}  // namespace std

#endif
