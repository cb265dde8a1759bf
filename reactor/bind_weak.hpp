// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_BIND_WEAK_HPP
#define REACTOR_BIND_WEAK_HPP

#include <reactor/detail/invoke.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace reactor {

namespace detail {

/// What bind_weak() returns.
template <class T, class F>
class WeaklyBound {
public:
    template <class G>
    WeaklyBound(const std::shared_ptr<T>& object, G&& f)
        : object_(object), f_(std::forward<G>(f)) {}

    template <class... A>
    auto operator()(A&&... arguments) ->
        typename std::enable_if<IsInvocable<F&, T&, A...>::value ||
                                IsInvocable<F&, A...>::value>::type {
        using TakesObject = std::integral_constant<bool, IsInvocable<F&, T&, A...>::value>;
        if (const std::shared_ptr<T> alive = object_.lock()) {
            call(TakesObject(), *alive, std::forward<A>(arguments)...);
        }
    }

private:
    template <class... A>
    void call(std::true_type /*takes the object*/, T& object, A&&... arguments) {
        require_void<InvokeResult<F&, T&, A...>>();
        detail::invoke(f_, object, std::forward<A>(arguments)...);
    }
    template <class... A>
    void call(std::false_type, T&, A&&... arguments) {
        require_void<InvokeResult<F&, A...>>();
        detail::invoke(f_, std::forward<A>(arguments)...);
    }
    template <class R>
    static void require_void() noexcept {
        static_assert(
            std::is_void<R>::value,
            "bind_weak: the callable returns void, since there is no value to return once "
            "the object is gone");
    }

    std::weak_ptr<T> object_;
    F f_;
};

}  // namespace detail

/// A callable that does nothing once `object` is gone, and keeps it while it is called. A value,
/// owned by whoever is given it and copied as f is; for any thread that f is for.
///
/// It calls f(*object, arguments…), or f(arguments…) if f does not take the object: a member
/// function, a lambda with a T&, or a lambda that has captured `this`. f returns void; what it
/// throws comes out. Throws std::invalid_argument for a null callable.
///
///     loop.call_later(std::chrono::minutes(1), bind_weak(session, &Session::expire));
///
/// Scope is the other way round: an object that takes its callbacks with it.
template <class T, class F>
detail::WeaklyBound<T, typename std::decay<F>::type> bind_weak(const std::shared_ptr<T>& object,
                                                               F&& f) {
    detail::refuse_null(f, "bind_weak");
    return detail::WeaklyBound<T, typename std::decay<F>::type>(object, std::forward<F>(f));
}

}  // namespace reactor

#endif
