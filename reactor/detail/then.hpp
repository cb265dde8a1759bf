// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_THEN_HPP
#define REACTOR_DETAIL_THEN_HPP

#include <reactor/detail/done_callback.hpp>
#include <reactor/detail/invoke.hpp>
#include <reactor/detail/signature.hpp>
#include <reactor/detail/value_passing.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace reactor {
namespace detail {

// ---- what a continuation takes and gives ----

struct TakesValue {};
struct TakesOutcome {};
struct TakesNothing {};
struct TakesWrong {};

template <class C, class Then, class Else>
using If = typename std::conditional<C::value, Then, Else>::type;

template <class F, class... A>
struct Accepts : std::integral_constant<bool, IsInvocable<F&, A...>::value> {};

template <class F, class T>
struct AcceptsValue : Accepts<F, T&&> {};
template <class F>
struct AcceptsValue<F, void> : std::false_type {};

template <class F>
struct ElseNothing {
    using type = If<Accepts<F>, TakesNothing, TakesWrong>;
};
template <class F, class T>
struct ElseOutcome {
    using type = typename If<Accepts<F, const Promise<T>&>, Is<TakesOutcome>, ElseNothing<F>>::type;
};

/// How F is called with the outcome of a Promise<T>: with the value, the promise, nothing. Only
/// asked as far as needed: a generic lambda's body might not compile for the next guess.
template <class F, class T>
using Takes = typename If<AcceptsValue<F, T>, Is<TakesValue>, ElseOutcome<F, T>>::type;

template <class How, class F, class T>
struct Continued {
    using type = void;
};
template <class F, class T>
struct Continued<TakesValue, F, T> {
    using type = InvokeResult<F&, T&&>;
};
template <class F, class T>
struct Continued<TakesOutcome, F, T> {
    using type = InvokeResult<F&, const Promise<T>&>;
};
template <class F, class T>
struct Continued<TakesNothing, F, T> {
    using type = InvokeResult<F&>;
};

template <class T>
Is<T> value_type_of(const Promise<T>*);
Is<void> value_type_of(const void*);

/// T of a Promise<T> and of what derives from it.
template <class P>
using ValueOf = typename decltype(detail::value_type_of(
    static_cast<typename std::decay<P>::type*>(nullptr)))::type;
template <class P>
struct IsPromise
    : std::is_convertible<typename std::decay<P>::type*, const volatile Promise<ValueOf<P>>*> {};

/// What a Promise gives that is made of a function returning R: a returned promise is flattened.
template <class R, bool nested = IsPromise<R>::value>
struct Flattened {
    using type = typename std::decay<R>::type;
};
template <class R>
struct Flattened<R, true> {
    using type = ValueOf<R>;
};
template <bool nested>
struct Flattened<void, nested> {
    using type = void;
};

template <class F, class T>
using ThenValue = typename Flattened<typename Continued<Takes<F, T>, F, T>::type>::type;

// ---- the calls ----

/// Whether f can be called with the value in place. Of a move-only one this is not tried, since a
/// vector of such claims to be copyable; a parameter that is a reference tells.
template <class F, class T, bool copyable = IsCopyable<T>::value>
struct AcceptsConst : Accepts<F, const T&> {};
template <class F, class T>
struct AcceptsConst<F, T, false> : std::is_lvalue_reference<typename OnlyParameter<F>::type> {};

template <class F, class T>
auto call_shared(F& f, ValueState<T>& state, std::true_type /*const*/) -> InvokeResult<F&, T&&> {
    return detail::invoke(f, detail::read_value(state));
}
template <class F, class T>
auto call_shared(F& f, ValueState<T>& state, std::false_type) -> InvokeResult<F&, T&&> {
    return detail::invoke(f, detail::pass_value(state));
}

/// Calls f with the value: f(const T&) sees it in place, f(T) is given it by pass_value().
template <class F, class T>
typename Continued<TakesValue, F, T>::type call_with(TakesValue, F& f, const Promise<T>&,
                                                     ValueState<T>& state) {
    if (state.unique()) return detail::invoke(f, detail::take_value(state, "then"));
    return detail::call_shared(f, state, AcceptsConst<F, T>());
}
template <class F, class T>
typename Continued<TakesOutcome, F, T>::type call_with(TakesOutcome, F& f, const Promise<T>& done,
                                                       ValueState<T>&) {
    return detail::invoke(f, done);
}
template <class F, class T>
typename Continued<TakesNothing, F, T>::type call_with(TakesNothing, F& f, const Promise<T>&,
                                                       ValueState<T>&) {
    return detail::invoke(f);
}
template <class F, class T>
void call_with(TakesWrong, F&, const Promise<T>&, ValueState<T>&) {}

/// f with its object or first argument before what a continuation is called with.
template <class F, class O>
struct BoundFirst {
    template <class... A>
    auto operator()(A&&... a)
        -> decltype(detail::invoke(std::declval<F&>(), std::declval<typename Unwrap<O>::Kept>(),
                                   std::forward<A>(a)...)) {
        return detail::invoke(f, Unwrap<O>::keep(object), std::forward<A>(a)...);
    }

    F f;
    O object;
};
template <class F, class O>
struct Signature<BoundFirst<F, O>, void> : SignatureAfterFirst<F> {};

template <class F, class O>
using BindFirst = BoundFirst<typename std::decay<F>::type, typename std::decay<O>::type>;

/// Whether except() can make a Promise<T> of what F returns.
template <class T, class R, bool nested = IsPromise<R>::value>
struct Fits : std::is_constructible<T, R> {};
template <class T, class R>
struct Fits<T, R, true> : std::is_same<T, ValueOf<R>> {};
template <class R>
struct Fits<void, R, false> : std::is_void<R> {};

template <class F, class T, bool clause>
struct Recovers : std::false_type {};
template <class F, class T>
struct Recovers<F, T, true>
    : Fits<T, InvokeResult<
                  F&, typename std::add_lvalue_reference<typename OnlyParameter<F>::type>::type>> {
};

/// A clause that takes the error by value is given a copy of it, not a slice caught by value.
template <class Clause>
using Caught =
    typename std::conditional<std::is_class<Clause>::value,
                              typename std::add_lvalue_reference<Clause>::type, Clause>::type;

template <class O>
using NotHere =
    typename std::enable_if<!std::is_same<typename std::decay<O>::type, Here>::value>::type;

/// Takes a callable's place after an assertion about it has failed.
struct Unsaid {
    template <class... A>
    explicit Unsaid(A&&...) {}
    template <class P>
    void operator()(const P&) {}
};

// ---- the promise that follows ----

/// The state of what then() and except() return: cancels what it follows.
template <class U>
struct Follower final : Pooled<Follower<U>, ValueState<U>> {
    using Pooled<Follower<U>, ValueState<U>>::Pooled;

    PromiseState* cancel_step(const std::string& message, bool& took) override {
        // Passed on: the cancellation comes back as the source's outcome.
        if (source && !source->done()) return source;
        // One that has failed just now is not waited for any more: read, as by its own cancel().
        if (source) source->overrule();
        took = this->cancel_now(message);
        return nullptr;
    }

    void source_lost() noexcept { source = nullptr; }
    void explain(WhyPending& why) const override {
        why.what = "then";
        if (source) why.waits_for = source;
    }

    PromiseState* source = nullptr;  // not owned; null once its callback has run or is gone
};

/// Owns a promise that waits in another one's callback (its `source`), and breaks it if that
/// callback goes without having run: whoever holds it must not wait for ever.
template <class S>
class FollowerLink {
public:
    explicit FollowerLink(S* state) noexcept : state_(state) { state->keep(); }
    FollowerLink(const FollowerLink&) = delete;
    FollowerLink& operator=(const FollowerLink&) = delete;
    ~FollowerLink() {
        if (!state_) return;
        state_->source_lost();
        detail::break_promise(*state_, 1);
        drop(state_);
    }

    /// The callback runs: the reference is the caller's now.
    StateOwner<S> take() noexcept {
        StateOwner<S> state(state_);
        state_ = nullptr;
        state->source = nullptr;
        return state;
    }

private:
    S* state_;
};

template <class U>
class Follow {
public:
    explicit Follow(Follower<U>* to) noexcept : link_(to) {}

    void operator()(const Promise<U>& done) {
        const StateOwner<Follower<U>> to = link_.take();
        if (to->done()) return;
        try {
            detail::pass_outcome(typed_state(done), *to);
        } catch (...) {
            to->fail_by_current_exception();
        }
    }

private:
    FollowerLink<Follower<U>> link_;
};

/// Completes `to` with what `call` returns.
template <class U, class Call>
void complete_by(Follower<U>& to, Call&& call, Is<U>) {
    auto&& result = call();
    if (!to.done()) to.set(std::forward<decltype(result)>(result));
}
template <class Call>
void complete_by(Follower<void>& to, Call&& call, Is<void>) {
    call();
    if (!to.done()) to.set();
}
/// Lets `to` follow the promise that `call` returns.
template <class U, class Call>
void complete_by(Follower<U>& to, Call&& call, Is<Promise<U>>) {
    const Promise<U> inner = call();
    PromiseState* const source = PromiseAccess::state(inner);
    if (to.done()) {  // cancelled by the continuation: what it began is not wanted any more
        if (source) source->cancel(std::string());
        return;
    }
    detail::check_can_follow(source, to);
    to.source = source;
    detail::attach_own<Promise<U>, Follow<U>>(*source, &to);
}

/// Which of the three complete_by() is for a function that returns R.
template <class U, class R>
using CompletedBy = typename std::conditional<IsPromise<R>::value && !std::is_void<R>::value,
                                              Is<Promise<U>>, Is<U>>::type;

template <class T, class U, class F>
class Then {
public:
    template <class G>
    Then(G&& f, Follower<U>* to) : f_(std::forward<G>(f)), link_(to) {}

    void operator()(const Promise<T>& done) {
        using How = Takes<F, T>;
        using R = typename Continued<How, F, T>::type;
        const StateOwner<Follower<U>> to = link_.take();
        ValueState<T>& from = typed_state(done);
        if (to->done()) return;
        if (!std::is_same<How, TakesOutcome>::value && from.status != PromiseStatus::value) {
            to->fail_like(from);
            return;
        }
        try {
            detail::complete_by(
                *to, [&]() -> R { return detail::call_with(How(), f_, done, from); },
                CompletedBy<U, R>());
        } catch (...) {
            to->fail_by_current_exception();
        }
    }

private:
    F f_;  // first: should its construction throw, the result is not broken
    FollowerLink<Follower<U>> link_;
};

template <class T, class F>
class Except {
public:
    template <class G>
    Except(G&& f, Follower<T>* to) : f_(std::forward<G>(f)), link_(to) {}

    void operator()(const Promise<T>& done) {
        const StateOwner<Follower<T>> to = link_.take();
        ValueState<T>& from = typed_state(done);
        if (to->done()) return;
        try {
            if (from.status == PromiseStatus::value) {
                detail::pass_outcome(from, *to);
            } else {
                handle(from, *to, Is<typename OnlyParameter<F>::type>());
            }
        } catch (...) {
            to->fail_by_current_exception();
        }
    }

private:
    template <class Clause>
    void handle(ValueState<T>& from, Follower<T>& to, Is<Clause>) {
        try {
            std::rethrow_exception(from.failure("except"));
        } catch (Caught<Clause> error) {
            complete(to, error);
        } catch (...) {
            to.fail_like(from);
        }
    }
    void handle(ValueState<T>& from, Follower<T>& to, Is<std::exception_ptr>) {
        complete(to, from.failure("except"));
    }
    void handle(ValueState<T>& from, Follower<T>& to, Is<const std::exception_ptr&>) {
        complete(to, from.failure("except"));
    }

    template <class E>
    void complete(Follower<T>& to, E& error) {
        using R = InvokeResult<F&, E&>;
        detail::complete_by(
            to, [&]() -> R { return detail::invoke(f_, error); }, CompletedBy<T, R>());
    }
    void complete(Follower<T>& to, const std::exception_ptr& error) {
        using R = InvokeResult<F&, const std::exception_ptr&>;
        detail::complete_by(
            to, [&]() -> R { return detail::invoke(f_, error); }, CompletedBy<T, R>());
    }

    F f_;
    FollowerLink<Follower<T>> link_;
};

}  // namespace detail
}  // namespace reactor

#endif
