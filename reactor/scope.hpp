// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_SCOPE_HPP
#define REACTOR_SCOPE_HPP

#include <reactor/detail/bound_front.hpp>
#include <reactor/detail/scoped.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <chrono>
#include <type_traits>
#include <utility>

namespace reactor {

/// A callable that Scope::bind() has made: does nothing once the scope is gone, so that foreign
/// code may keep it as long as it likes. Copies share one callable. Stays on the loop's thread: a
/// call elsewhere throws StateError, a last drop elsewhere says so and terminates.
template <class F>
class ScopedCallable {
public:
    ScopedCallable(const ScopedCallable& other) noexcept : block_(other.block_) { block_->keep(); }
    ScopedCallable& operator=(ScopedCallable other) noexcept {
        std::swap(block_, other.block_);
        return *this;
    }
    ~ScopedCallable() { block_->let_go(); }

    /// What the callable throws comes out.
    template <class... A>
    auto operator()(A&&... arguments) const ->
        typename std::enable_if<detail::IsInvocable<F&, A...>::value>::type {
        static_assert(std::is_void<detail::InvokeResult<F&, A...>>::value,
                      "Scope::bind: the callable returns void, since there is no value to return "
                      "once the scope is gone");
        if (!block_->may_run()) return;
        // The call may destroy this object.
        detail::BoundCallable<F>& block = *block_;
        const detail::BoundBlock::Call running(block);
        block.callable()(std::forward<A>(arguments)...);
    }

private:
    friend class Scope;
    explicit ScopedCallable(detail::BoundCallable<F>* adopted) noexcept : block_(adopted) {}

    detail::BoundCallable<F>* block_;
};

/// Ties callbacks to an object: none of them runs once the scope is gone, also if it is in the
/// batch that runs now, and what they captured is gone with it (of the one that runs, when it
/// returns). The last member of the object whose `this` they capture; neither copyable nor movable,
/// for the same reason.
///
///     class Meter {
///     public:
///         Meter(EventLoop& loop, Bus& bus) : scope_(loop) {
///             scope_.call_every(std::chrono::seconds(1), &Meter::tick, this);
///             bus.on_value(scope_.bind(&Meter::set, this));
///         }
///         …
///         Scope scope_;  // last: goes first
///     };
///
/// On the loop's thread; the destructor says so elsewhere, and terminates. May outlive the loop.
/// The calls do what those of EventLoop do; once the scope is closed they do nothing and return a
/// cancelled handle (an empty one if the loop is gone).
class Scope {
public:
    explicit Scope(EventLoop& loop) noexcept;
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    /// close().
    ~Scope();

    template <class F, class... A, class = detail::NotOptions<F>>
    Handle call_soon(F&& f, A&&... arguments) {
        return soon<F, A...>(nullptr, std::forward<F>(f), std::forward<A>(arguments)...);
    }
    template <class F, class... A>
    Handle call_soon(const Options& options, F&& f, A&&... arguments) {
        return soon<F, A...>(&options, std::forward<F>(f), std::forward<A>(arguments)...);
    }

    template <class Rep, class Period, class F, class... A>
    TimerHandle call_later(std::chrono::duration<Rep, Period> delay, F&& f, A&&... arguments) {
        if (!open("call_later")) return refused_timer();
        return at<F, A...>("call_later", nullptr, loop_ref("call_later").due("call_later", delay),
                           std::forward<F>(f), std::forward<A>(arguments)...);
    }
    template <class Rep, class Period, class F, class... A>
    TimerHandle call_later(const Options& options, std::chrono::duration<Rep, Period> delay, F&& f,
                           A&&... arguments) {
        if (!open("call_later")) return refused_timer();
        return at<F, A...>("call_later", &options, loop_ref("call_later").due("call_later", delay),
                           std::forward<F>(f), std::forward<A>(arguments)...);
    }

    template <class F, class... A>
    TimerHandle call_at(TimePoint when, F&& f, A&&... arguments) {
        return at<F, A...>("call_at", nullptr, when, std::forward<F>(f),
                           std::forward<A>(arguments)...);
    }
    template <class F, class... A>
    TimerHandle call_at(const Options& options, TimePoint when, F&& f, A&&... arguments) {
        return at<F, A...>("call_at", &options, when, std::forward<F>(f),
                           std::forward<A>(arguments)...);
    }

    template <class Rep, class Period, class F, class... A>
    TimerHandle call_every(std::chrono::duration<Rep, Period> period, F&& f, A&&... arguments) {
        return every<F, A...>(nullptr, saturated(period, "call_every"), std::forward<F>(f),
                              std::forward<A>(arguments)...);
    }
    template <class Rep, class Period, class F, class... A>
    TimerHandle call_every(const Options& options, std::chrono::duration<Rep, Period> period, F&& f,
                           A&&... arguments) {
        return every<F, A...>(&options, saturated(period, "call_every"), std::forward<F>(f),
                              std::forward<A>(arguments)...);
    }

    /// The descriptor must stay open as long as the watch is there, that is, as this scope.
    template <class F, class... A, class = detail::NotOptions<F>>
    Handle add_reader(int fd, F&& f, A&&... arguments) {
        return watch<F, A...>("add_reader", nullptr, detail::NodeKind::reader, fd,
                              std::forward<F>(f), std::forward<A>(arguments)...);
    }
    template <class F, class... A>
    Handle add_reader(const Options& options, int fd, F&& f, A&&... arguments) {
        return watch<F, A...>("add_reader", &options, detail::NodeKind::reader, fd,
                              std::forward<F>(f), std::forward<A>(arguments)...);
    }
    template <class F, class... A, class = detail::NotOptions<F>>
    Handle add_writer(int fd, F&& f, A&&... arguments) {
        return watch<F, A...>("add_writer", nullptr, detail::NodeKind::writer, fd,
                              std::forward<F>(f), std::forward<A>(arguments)...);
    }
    template <class F, class... A>
    Handle add_writer(const Options& options, int fd, F&& f, A&&... arguments) {
        return watch<F, A...>("add_writer", &options, detail::NodeKind::writer, fd,
                              std::forward<F>(f), std::forward<A>(arguments)...);
    }

    /// A copyable callable for foreign code, which calls f(bound arguments…, arguments…) and does
    /// nothing once the scope is gone or cleared. f returns void. Throws std::invalid_argument for
    /// a null callable.
    template <class F, class... B>
    ScopedCallable<detail::BindFront<F, B...>> bind(F&& f, B&&... bound) {
        using Callable = detail::BindFront<F, B...>;
        open("bind");
        detail::refuse_null(f, "bind");
        auto* const block = new detail::BoundCallable<Callable>(*core_, std::forward<F>(f),
                                                                std::forward<B>(bound)...);
        const ScopedCallable<Callable> made(block);
        adopt(*block);
        return made;
    }

    /// Cancels all there is now; new ones may come. Never throws.
    void clear() noexcept;
    /// The same for good; again: no effect.
    void close() noexcept;
    bool is_closed() const noexcept { return closed_; }

    /// Throws StateError if the loop is gone.
    EventLoop& loop() const { return loop_ref("loop"); }

private:
    template <class T>
    friend class Promise;

    template <class F, class... A>
    Handle soon(const Options* options, F&& f, A&&... arguments) {
        if (!open("call_soon")) return refused();
        return loop_ref("call_soon")
            .soon<detail::Scoped<detail::BindOnce<F, A...>>>(
                options, f, callbacks_, std::forward<F>(f), std::forward<A>(arguments)...);
    }
    template <class F, class... A>
    TimerHandle at(const char* call, const Options* options, TimePoint when, F&& f,
                   A&&... arguments) {
        if (!open(call)) return refused_timer();
        return loop_ref(call).at<detail::Scoped<detail::BindOnce<F, A...>>>(
            call, options, when, Duration::zero(), f, callbacks_, std::forward<F>(f),
            std::forward<A>(arguments)...);
    }
    template <class F, class... A>
    TimerHandle every(const Options* options, Duration period, F&& f, A&&... arguments) {
        if (!open("call_every")) return refused_timer();
        return loop_ref("call_every")
            .every<detail::Scoped<detail::BindMany<F, A...>>>(
                options, period, f, callbacks_, std::forward<F>(f), std::forward<A>(arguments)...);
    }
    template <class F, class... A>
    Handle watch(const char* call, const Options* options, detail::NodeKind kind, int fd, F&& f,
                 A&&... arguments) {
        if (!open(call)) return refused();
        return loop_ref(call).watch<detail::Scoped<detail::BindMany<F, A...>>>(
            call, options, kind, fd, f, callbacks_, std::forward<F>(f),
            std::forward<A>(arguments)...);
    }

    /// False on a closed scope: what a capture's destructor asks for while the scope goes must
    /// neither throw nor stay. Throws StateError on a wrong thread.
    bool open(const char* call) const {
        core_->check_thread(call);
        return !closed_;
    }
    EventLoop& loop_ref(const char* call) const {
        if (!core_->loop) refuse_gone(call);
        return *core_->loop;
    }
    [[noreturn]] static void refuse_gone(const char* call);
    Handle refused() const;
    TimerHandle refused_timer() const;
    void adopt(detail::BoundBlock& block) noexcept;

    detail::LoopCore* core_;  // counted
    bool closed_ = false;
    detail::Link callbacks_;  // in the storage of nodes
    detail::Link bound_;      // bound callables
};

template <class T>
template <class F, class... A>
DoneKey Promise<T>::add_done_callback(Scope& scope, F&& f, A&&... bound) const {
    detail::PromiseState& promise = state("add_done_callback");
    detail::refuse_null(f, "add_done_callback");
    DoneKey key;
    key.id = detail::new_done_key(*promise.core);
    if (!scope.open("add_done_callback")) return key;
    promise.check_attach("add_done_callback");
    // Two loops may run on two threads, which would both change the scope's list.
    if (scope.core_ != promise.core) {
        throw StateError(
            "add_done_callback: scope and promise belong to different event loops: use "
            "a scope of the promise's loop");
    }
    using Done = detail::OnDone<Promise<T>, detail::BindDone<Promise<T>, F, A...>>;
    detail::attach_done<detail::Scoped<Done>>(promise, key.id, nullptr, scope.callbacks_, &promise,
                                              std::forward<F>(f), std::forward<A>(bound)...);
    return key;
}

}  // namespace reactor

#endif
