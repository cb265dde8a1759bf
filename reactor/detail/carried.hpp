// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_CARRIED_HPP
#define REACTOR_DETAIL_CARRIED_HPP

#include <reactor/detail/value_passing.hpp>

#include <exception>
#include <memory>
#include <utility>

namespace reactor {
namespace detail {

/// A value outside of any promise.
template <class T>
struct CarriedValue {
    void load(ValueState<T>& from) { value.reset(new T(detail::pass_value(from))); }
    void unload(ValueState<T>& to) { to.set(std::move(*value)); }

    std::unique_ptr<T> value;
};
template <>
struct CarriedValue<void> {
    void load(ValueState<void>& from) { detail::pass_value(from); }
    void unload(ValueState<void>& to) { to.set(); }
};

/// The outcome of a promise on its way to another thread. One thread at a time; it is the owner who
/// sees to that.
template <class T>
struct Carried {
    PromiseStatus status = PromiseStatus::pending;
    std::exception_ptr error;  // of `error`; of `cancelled` if there was a message
    CarriedValue<T> value;

    /// Takes the outcome out of `from`, of whom the caller holds one reference: moved if nobody
    /// else can see it, else copied. A value that cannot be copied makes it an error.
    void load(ValueState<T>& from) {
        status = from.cancellation ? PromiseStatus::cancelled : from.status;
        was_read_ = from.retrieved;
        from.retrieved = true;
        try {
            if (status == PromiseStatus::value) value.load(from);
        } catch (...) {
            status = PromiseStatus::error;
            error = std::current_exception();
            return;
        }
        // Moved, so that the error object ends on the thread that gets it.
        moved_ = from.unique();
        if (moved_) {
            error = std::move(from.error);
        } else {
            error = from.error;
        }
    }
    /// It holds an error that nobody has read.
    bool unread() const noexcept { return status == PromiseStatus::error && !was_read_; }
    /// It did not get through: an error is where it was, and as unread.
    void give_back(ValueState<T>& to) noexcept {
        to.retrieved = was_read_;
        if (moved_) to.error = std::move(error);
    }

    /// Completes `to`, which is pending.
    void unload(ValueState<T>& to) {
        switch (status) {
            case PromiseStatus::value:
                try {
                    value.unload(to);
                } catch (...) {
                    to.fail_by_current_exception();  // of moving the value
                }
                break;
            case PromiseStatus::error:
                to.fail(std::move(error));
                break;
            case PromiseStatus::cancelled:
                to.end_cancelled(std::move(error));
                break;
            case PromiseStatus::pending:
                break_promise(to, 1);
                break;
        }
    }

private:
    bool was_read_ = true;
    bool moved_ = false;
};

}  // namespace detail
}  // namespace reactor

#endif
