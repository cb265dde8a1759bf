// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_STD_FUTURE_HPP
#define REACTOR_STD_FUTURE_HPP

#include <reactor/promise.hpp>

#include <exception>
#include <future>
#include <utility>

namespace reactor {

namespace detail {

/// The callable that hands an outcome to a std::promise; its destruction breaks that one.
template <class T>
class ToStdPromise {
public:
    explicit ToStdPromise(std::promise<T> out) : out_(std::move(out)) {}

    void operator()(const Promise<T>& done) {
        try {
            give(typed_state(done));
        } catch (...) {
            out_.set_exception(std::current_exception());
        }
    }

private:
    template <class U>
    void give(ValueState<U>& state) {
        out_.set_value(detail::pass_value(state));
    }
    void give(ValueState<void>& state) {
        detail::pass_value(state);
        out_.set_value();
    }

    std::promise<T> out_;
};

}  // namespace detail

/// A std::future of the promise's outcome, for a thread that waits: it gets the value, the error,
/// or CancelledError, and std::future_error (broken_promise) if the promise is dropped while it is
/// pending or its loop closes. To be called on the loop's thread, where waiting on the future would
/// wait for ever. Throws StateError for an empty promise and on a closed loop. For the other
/// direction run what waits in an executor.
template <class T>
std::future<T> to_std_future(Promise<T> promise) {
    detail::PromiseAccess::require(promise, "to_std_future").check_attach("to_std_future");
    std::promise<T> out;
    std::future<T> result = out.get_future();
    promise.add_done_callback(detail::ToStdPromise<T>(std::move(out)));
    return result;
}

}  // namespace reactor

#endif
