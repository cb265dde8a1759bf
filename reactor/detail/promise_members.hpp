// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_PROMISE_MEMBERS_HPP
#define REACTOR_DETAIL_PROMISE_MEMBERS_HPP

#include <reactor/promise.hpp>

// The longer members of Promise, and those of EventLoop that need it.

namespace reactor {

template <class T>
template <class F, class... A>
DoneKey Promise<T>::add(DoneKey key, const Options* options, F&& f, A&&... bound) const {
    detail::PromiseState& promise = attachable("add_done_callback");
    detail::refuse_null(f, "add_done_callback");
    if (key == DoneKey()) key.id = detail::new_done_key(*promise.core);
    using Callable = detail::OnDone<Promise<T>, detail::BindDone<Promise<T>, F, A...>>;
    detail::attach_done<Callable>(promise, key.id, options, &promise, std::forward<F>(f),
                                  std::forward<A>(bound)...);
    return key;
}

template <class T>
template <class F, class G>
Promise<detail::ThenValue<F, T>> Promise<T>::follow(const Here& here, G&& f) const {
    static_assert(!std::is_same<detail::Takes<F, T>, detail::TakesWrong>::value,
                  "then: the continuation takes the promise's value (T or const T&), the "
                  "Promise<T> itself, or nothing");
    using U = detail::ThenValue<F, T>;
    detail::PromiseState& promise = attachable("then");
    detail::refuse_null(f, "then");
    detail::Follower<U>* const to = detail::make_state<detail::Follower<U>>(*promise.core, here);
    const Promise<U> result = detail::PromiseAccess::adopt<Promise<U>>(to);
    using Callable = detail::OnDone<Promise<T>, detail::Then<T, U, F>>;
    to->source = &promise;
    detail::attach_done<Callable>(promise, 0, nullptr, &promise, std::forward<G>(f), to);
    return result;
}

template <class T>
template <class F, class G>
Promise<T> Promise<T>::recover(const Here& here, G&& f) const {
    constexpr bool clause = detail::OnlyParameter<F>::known;
    static_assert(clause,
                  "except: the callable's one parameter is the catch clause, such as const "
                  "std::system_error& or std::exception_ptr; it must be a function or a class "
                  "with one operator() that is no template");
    constexpr bool fits = detail::Recovers<F, T, clause>::value;
    static_assert(!clause || fits,
                  "except: the callable must return what the promise holds, or a promise of it");
    detail::PromiseState& promise = attachable("except");
    detail::refuse_null(f, "except");
    detail::Follower<T>* const to = detail::make_state<detail::Follower<T>>(*promise.core, here);
    const Promise<T> result = detail::PromiseAccess::adopt<Promise<T>>(to);
    // After a failed assertion nothing more is said about this callable.
    using Handler =
        typename std::conditional<clause && fits, detail::Except<T, F>, detail::Unsaid>::type;
    to->source = &promise;
    detail::attach_done<detail::OnDone<Promise<T>, Handler>>(promise, 0, nullptr, &promise,
                                                             std::forward<G>(f), to);
    return result;
}

template <class T>
Promise<T> EventLoop::create_promise(Here here) {
    core_->check_thread("create_promise");
    return detail::PromiseAccess::adopt<Promise<T>>(
        detail::make_state<detail::PlainState<T>>(*core_, here));
}

namespace detail {

/// Runs `loop` until `state` is done, or throws StateError, naming `call`.
void run_until_done(EventLoop& loop, PromiseState& state, const char* call);

}  // namespace detail

template <class T>
T EventLoop::run_until_complete(Promise<T> promise) {
    core_->check("run_until_complete");
    detail::PromiseState& state = detail::PromiseAccess::require(promise, "run_until_complete");
    detail::run_until_done(*this, state, "run_until_complete");
    return detail::pass_value(static_cast<detail::ValueState<T>&>(state));
}

}  // namespace reactor

#endif
