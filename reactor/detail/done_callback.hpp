// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_DONE_CALLBACK_HPP
#define REACTOR_DETAIL_DONE_CALLBACK_HPP

#include <reactor/detail/invoke.hpp>
#include <reactor/detail/value_state.hpp>
#include <reactor/handle.hpp>

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace reactor {

class Scope;
struct DoneKey;
template <class T>
class Promise;

namespace detail {

/// What may stand before the callable of add_done_callback().
template <class F, class D = typename std::decay<F>::type>
using NotSpecial =
    typename std::enable_if<!std::is_same<D, Options>::value && !std::is_same<D, DoneKey>::value &&
                            !std::is_same<D, Scope>::value>::type;

/// Between promises and their states, for the library's own parts.
struct PromiseAccess {
    template <class P>
    static PromiseState* state(const P& promise) noexcept {
        return promise.state_;
    }
    /// For the call of that name: throws StateError for an empty promise and on a wrong thread.
    template <class P>
    static PromiseState& require(const P& promise, const char* call) {
        return promise.state(call);
    }
    /// Takes over a reference.
    template <class P>
    static P adopt(PromiseState* state) noexcept {
        return P(state);
    }
    template <class P>
    static P share(PromiseState* state) noexcept {
        state->keep();
        return P(state);
    }
    template <class P>
    static PromiseState* release(P& promise) noexcept {
        PromiseState* const state = promise.state_;
        promise.state_ = nullptr;
        return state;
    }
};

template <class T>
ValueState<T>& typed_state(const Promise<T>& promise) noexcept {
    return static_cast<ValueState<T>&>(*PromiseAccess::state(promise));
}

/// The callable of a done callback's node: calls f with the promise, a `P`, which it refers to
/// without owning it while the promise is pending; settle() gives it the reference that it drops.
/// Once made it must be attached.
template <class P, class F>
class OnDone {
public:
    template <class... A>
    explicit OnDone(PromiseState* state, A&&... construct)
        : f_(std::forward<A>(construct)...), promise_(PromiseAccess::adopt<P>(state)) {}
    OnDone(const OnDone&) = delete;
    OnDone& operator=(const OnDone&) = delete;
    ~OnDone() {
        PromiseState* const state = PromiseAccess::state(promise_);
        if (state->done()) return;
        if (state->hollow != 0xffff) ++state->hollow;
        PromiseAccess::release(promise_);
    }

    void operator()() { f_(static_cast<const P&>(promise_)); }

private:
    F f_;  // first: should its construction throw, the promise is not touched
    P promise_;
};

/// What a user gave to add_done_callback(): f and the arguments before the promise. As in a
/// BoundOnce they are passed as rvalues if f takes them so.
template <class P, class F, class... A>
class BoundDone {
public:
    template <class G, class... B>
    explicit BoundDone(G&& f, B&&... arguments)
        : f_(std::forward<G>(f)), arguments_(std::forward<B>(arguments)...) {}

    static constexpr bool takes_rvalues =
        IsInvocable<F&, typename Unwrap<A>::Moved..., const P&>::value;
    static constexpr bool valid =
        takes_rvalues || IsInvocable<F&, typename Unwrap<A>::Kept..., const P&>::value;
    static_assert(valid,
                  "add_done_callback: the callable must take its bound arguments and then the "
                  "promise, as const Promise<T>& or Promise<T>");

    void operator()(const P& promise) {
        using How = std::integral_constant<int, !valid ? 2 : takes_rvalues ? 1 : 0>;
        call(How(), promise, IndicesFor<sizeof...(A)>());
    }

private:
    template <int N>
    using Case = std::integral_constant<int, N>;

    template <std::size_t... I>
    void call(Case<1>, const P& promise, Indices<I...>) {
        detail::invoke(f_, Unwrap<A>::move(std::get<I>(arguments_))..., promise);
    }
    template <std::size_t... I>
    void call(Case<0>, const P& promise, Indices<I...>) {
        detail::invoke(f_, Unwrap<A>::keep(std::get<I>(arguments_))..., promise);
    }
    template <std::size_t... I>
    void call(Case<2>, const P&, Indices<I...>) {}  // the assertion has said all there is to say

    F f_;
    std::tuple<A...> arguments_;
};

template <class P, class F, class... A>
using BindDone = BoundDone<P, typename std::decay<F>::type, typename std::decay<A>::type...>;

/// A key that no callback of the loop has had for four thousand million registrations. 0 is
/// nobody's.
inline std::uint32_t new_done_key(LoopCore& core) noexcept {
    if (core.next_key == 0) ++core.next_key;
    return core.next_key++;
}

/// Makes a done callback of class C (an OnDone, or what holds one) in a node and attaches it, in
/// the context of its options, else the current one. The node belongs to the promise or the queue;
/// who empties it (a Scope) does so after this has returned.
template <class C, class... A>
Node* attach_done(PromiseState& state, std::uint32_t key, const Options* options,
                  A&&... construct) {
    LoopCore& core = *state.core;
    Node* const node = core.make<C>(NodeKind::done, std::forward<A>(construct)...);
    node->key = key;
    core.set_context(node, options);
    state.attach(node);
    return node;
}

/// The same for the library's own callbacks: no key, no context.
template <class P, class F, class... A>
Node* attach_own(PromiseState& state, A&&... construct) {
    LoopCore& core = *state.core;
    Node* const node =
        core.make<OnDone<P, F>>(NodeKind::done, &state, std::forward<A>(construct)...);
    state.attach(node);
    return node;
}

}  // namespace detail
}  // namespace reactor

#endif
