// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_PROMISE_HPP
#define REACTOR_PROMISE_HPP

#include <reactor/any_promise.hpp>
#include <reactor/detail/then.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/here.hpp>

#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

namespace reactor {

class Scope;

/// A value that will be there, and who wants to be told. One side makes it by create_promise() and
/// completes it once; the other adds callbacks or continuations, which run in the loop, never
/// inside the call that completes it. Threads and emptiness: see AnyPromise. asyncio: Future.
///
///     Promise<Bytes> page = connect(host).then([=] { return read_page(); })
///         .except([](const std::system_error& error) { return Bytes(error.what()); });
///
/// Who keeps whom: a pending promise keeps its callbacks and what they captured, nothing points
/// back. So whoever can still complete a promise keeps everything that waits for it, and nobody
/// else has to. A promise that is dropped while pending breaks what follows it (BrokenPromise).
/// Let go of a promise that you have completed: its value is then moved on, not copied.
template <class T>
class Promise : public AnyPromise {
    static_assert(!std::is_reference<T>::value,
                  "a promise holds a value: use Promise<T*> or std::reference_wrapper<T>");
    static_assert(std::is_reference<T>::value || std::is_void<T>::value ||
                      (std::is_object<T>::value && !std::is_array<T>::value &&
                       std::is_same<T, typename std::remove_cv<T>::type>::value),
                  "a promise holds a value of an unqualified object type, or void");

public:
    using value_type = T;

    Promise() noexcept = default;

    /// The value, by reference: good as long as a promise of it is held. Throws its error,
    /// CancelledError if it was cancelled, InvalidStateError while pending or if it was taken.
    typename detail::ResultReference<T>::type result() const {
        return detail::read_value(values("result"));
    }

    /// Moves the value out, once: afterwards result() and take() throw InvalidStateError.
    template <class U = T>
    U take() const {
        return detail::take_value(values("take"), "take");
    }

    /// Makes it done with a value made from the arguments. Throws InvalidStateError if it is done
    /// already, StateError for a task's promise, and nothing else but what the value's constructor
    /// throws, which leaves it pending. On a closed loop the value is kept, the callbacks are not.
    template <class... A>
    void set_result(A&&... arguments) const {
        constexpr bool fits = detail::CanHold<T, A...>::value;
        static_assert(fits, "set_result: the promise's value cannot be made from these arguments");
        static_cast<detail::ValueState<T>&>(settable("set_result"))
            .set_if(std::integral_constant<bool, fits>(), std::forward<A>(arguments)...);
    }

    /// Calls f(bound arguments…, promise) from the loop once the promise is done, in the order of
    /// adding, in the context of now; in the next iteration if it is done already. f takes the
    /// promise as const Promise<T>& or Promise<T>. An error that the callback does not read counts
    /// as unread; what it throws is reported. Throws StateError on a closed loop.
    template <class F, class... A, class = detail::NotSpecial<F>>
    DoneKey add_done_callback(F&& f, A&&... bound) const {
        return add(DoneKey(), nullptr, std::forward<F>(f), std::forward<A>(bound)...);
    }
    template <class F, class... A>
    DoneKey add_done_callback(const Options& options, F&& f, A&&... bound) const {
        return add(DoneKey(), &options, std::forward<F>(f), std::forward<A>(bound)...);
    }
    /// Under a key that is there already, so that one removal takes out both.
    template <class F, class... A>
    DoneKey add_done_callback(DoneKey key, F&& f, A&&... bound) const {
        return add(key, nullptr, std::forward<F>(f), std::forward<A>(bound)...);
    }
    /// Only as long as `scope` lives. scope.hpp
    template <class F, class... A>
    DoneKey add_done_callback(Scope& scope, F&& f, A&&... bound) const;

    /// A promise of what f returns; if that is a promise itself, of its outcome. f takes the value
    /// (T or const T&) or nothing, and is passed over by failure and cancellation; or it takes the
    /// Promise<T> and sees every outcome. A CancelledError out of f cancels, any other error fails
    /// the new promise; LoopExit leaves the loop as well. Cancelling the new promise cancels this
    /// one, or the one that f returned. Throws StateError on a closed loop.
    template <class F>
    Promise<detail::ThenValue<typename std::decay<F>::type, T>> then(F&& f,
                                                                     Here here = Here()) const {
        return follow<typename std::decay<F>::type>(here, std::forward<F>(f));
    }
    /// The same with one bound argument, a member function's object: then(&Page::parse, this).
    template <class F, class O, class = detail::NotHere<O>>
    Promise<detail::ThenValue<detail::BindFirst<F, O>, T>> then(F&& f, O&& object,
                                                                Here here = Here()) const {
        using Bound = detail::BindFirst<F, O>;
        detail::refuse_null(f, "then");
        return follow<Bound>(here, Bound{std::forward<F>(f), std::forward<O>(object)});
    }

    /// A promise of this value or, if that failed, of what f makes of the error. f's parameter is
    /// the catch clause: `const SomeError&` handles errors of that type, `std::exception_ptr` all,
    /// cancellation included; `throw;` works inside. Other errors pass by.
    template <class F>
    Promise<T> except(F&& f, Here here = Here()) const {
        return recover<typename std::decay<F>::type>(here, std::forward<F>(f));
    }
    template <class F, class O, class = detail::NotHere<O>>
    Promise<T> except(F&& f, O&& object, Here here = Here()) const {
        using Bound = detail::BindFirst<F, O>;
        detail::refuse_null(f, "except");
        return recover<Bound>(here, Bound{std::forward<F>(f), std::forward<O>(object)});
    }

protected:
    friend struct detail::PromiseAccess;

    /// Takes over a reference of a ValueState<T>.
    explicit Promise(detail::PromiseState* adopted) noexcept : AnyPromise(adopted) {}

private:
    detail::ValueState<T>& values(const char* call) const {
        return static_cast<detail::ValueState<T>&>(state(call));
    }

    template <class F, class... A>
    DoneKey add(DoneKey key, const Options* options, F&& f, A&&... bound) const;
    template <class F, class G>
    Promise<detail::ThenValue<F, T>> follow(const Here& here, G&& f) const;
    template <class F, class G>
    Promise<T> recover(const Here& here, G&& f) const;
};

/// set_result(), but nothing happens if the promise was cancelled: for timers and whoever else
/// completes a promise that its receiver may have given up. Throws what set_result() throws.
template <class T, class... A>
void set_result_unless_cancelled(const Promise<T>& promise, A&&... arguments) {
    if (!promise.cancelled()) promise.set_result(std::forward<A>(arguments)...);
}

}  // namespace reactor

namespace std {

template <class T>
struct hash<reactor::Promise<T>> : hash<reactor::AnyPromise> {};

}  // namespace std

#include <reactor/detail/promise_members.hpp>
#include <reactor/detail/promise_values.hpp>

#endif
