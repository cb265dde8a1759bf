// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_PENDING_OPERATIONS_HPP
#define REACTOR_NET_DETAIL_PENDING_OPERATIONS_HPP

#include <reactor/detail/promise_state.hpp>

namespace reactor {
namespace net {
namespace detail {

/// What an operation has that stands in a list of pending ones: `struct Send : …, Listed<Send>`.
template <class Operation>
struct Listed {
    Operation* before = nullptr;
    Operation* behind = nullptr;
};

/// Operations of one kind that wait, in the order of the calls. Owns a reference of each. Any
/// number may wait, and leave: so a leave does not look for its place. Emptied by whoever has it,
/// before it goes.
template <class Operation>
class PendingOperations {
public:
    PendingOperations() noexcept = default;
    PendingOperations(PendingOperations&& other) noexcept
        : first_(other.first_), last_(other.last_) {
        other.first_ = other.last_ = nullptr;
    }
    PendingOperations& operator=(PendingOperations&&) = delete;

    bool empty() const noexcept { return !first_; }
    Operation* first() const noexcept { return first_; }

    void add(Operation& one) noexcept {
        one.keep();
        one.before = last_;
        (last_ ? last_->behind : first_) = &one;
        last_ = &one;
    }
    /// The reference is the caller's.
    reactor::detail::StateOwner<Operation> take(Operation& one) noexcept {
        (one.before ? one.before->behind : first_) = one.behind;
        (one.behind ? one.behind->before : last_) = one.before;
        one.before = one.behind = nullptr;
        return reactor::detail::StateOwner<Operation>(&one);
    }
    reactor::detail::StateOwner<Operation> take_first() noexcept { return take(*first_); }

private:
    Operation* first_ = nullptr;
    Operation* last_ = nullptr;
};

/// Cancels a pending operation whose object is ended, or whose loop; without the reason if there is
/// no memory for that.
inline void cancel_operation(reactor::detail::PromiseState& operation, const char* why) noexcept {
    try {
        operation.cancel_now(why);
    } catch (...) {
        operation.end_cancelled(nullptr);
    }
}

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
