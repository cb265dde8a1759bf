// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_GATHER_HPP
#define REACTOR_DETAIL_GATHER_HPP

#include <reactor/promise.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace reactor {

/// Stands for the value of a Promise<void> where a value must stand.
struct Unit {
    friend bool operator==(Unit, Unit) noexcept { return true; }
    friend bool operator!=(Unit, Unit) noexcept { return false; }
};

namespace detail {

/// What a gather waits for, whatever its value is. Children that are pending are not owned: their
/// callbacks own the gather's promise. Those that are done are kept until all are.
class Gathering {
public:
    /// Puts the children's values together; `running`: the child whose callback does it, or null.
    using Collect = void (*)(Gathering& gathering, PromiseState& outer,
                             const PromiseState* running);

    Gathering(Collect collect, bool settled) noexcept : collect_(collect), settled_(settled) {}

    void start(PromiseState& outer, std::vector<AnyPromise> children);
    /// The next child that can be cancelled.
    PromiseState* pending_child(std::size_t& at) const noexcept;
    /// A child took the request that outer was given.
    void cancel_taken(const PromiseState& outer, const std::string& message);
    void clear() noexcept;
    void explain(WhyPending& why) const;
    std::string describe() const;

    std::size_t size() const noexcept { return children_.size(); }
    /// Gives the kept child up: each of them once.
    AnyPromise take(std::size_t index) noexcept { return std::move(children_[index].kept); }

private:
    static constexpr std::uint32_t none = 0xffffffff;

    struct Child {
        AnyPromise kept;                // once it is done
        PromiseState* state = nullptr;  // null: gone
        std::uint32_t next_same = none;
        bool first = true;  // among those that are the same promise
    };

    class Link;

    static std::size_t pending(const void* gathering) noexcept;
    void child_done(PromiseState& outer, std::uint32_t index, PromiseState& child,
                    const PromiseState* running);
    void child_lost(PromiseState& outer, std::uint32_t index) noexcept;
    void overrule_kept() noexcept;

    Collect collect_;
    bool settled_;
    std::vector<Child> children_;
    std::size_t left_ = 0;
    std::int32_t links_ = 0;  // callbacks that wait: each owns a reference of the outer promise
    std::exception_ptr cancel_asked_;  // what it will end with once all have ended
};

template <class V>
struct GatherState final : Pooled<GatherState<V>, ValueState<V>> {
    GatherState(LoopCore& c, const Here& here, Gathering::Collect collect, bool settled) noexcept
        : Pooled<GatherState<V>, ValueState<V>>(c, here), gathering(collect, settled) {}

    PromiseState* cancel_step(const std::string&, bool& took) override {
        took = false;
        return this->done() ? nullptr : this;
    }
    PromiseState* cancel_next(std::size_t& at) noexcept override {
        return gathering.pending_child(at);
    }
    void cancel_taken(const std::string& message) override {
        gathering.cancel_taken(*this, message);
    }
    void before_dispose() noexcept override { gathering.clear(); }
    void explain(WhyPending& why) const override { gathering.explain(why); }
    std::string describe() const override { return gathering.describe(); }

    Gathering gathering;
};

template <class T>
using Gathered = typename std::conditional<std::is_void<T>::value, Unit, T>::type;

template <class T>
T collected(const AnyPromise& child, const PromiseState* running, Is<T>) {
    PromiseState* const state = PromiseAccess::state(child);
    // Beside the caller's, the callback that runs holds one.
    return detail::pass_value(static_cast<ValueState<T>&>(*state), state == running ? 2 : 1);
}
inline Unit collected(const AnyPromise&, const PromiseState*, Is<void>) { return Unit(); }

template <class V, class... T, std::size_t... I>
void collect_each(Gathering& gathering, PromiseState& outer, const PromiseState* running,
                  Indices<I...>) {
    static_cast<void>(gathering);
    static_cast<void>(running);
    static_cast<ValueState<V>&>(outer).set(
        V{detail::collected(gathering.take(I), running, Is<T>())...});
}
template <class V, class... T>
void collect_tuple(Gathering& gathering, PromiseState& outer, const PromiseState* running) {
    detail::collect_each<V, T...>(gathering, outer, running, IndicesFor<sizeof...(T)>());
}
template <class T>
void collect_vector(Gathering& gathering, PromiseState& outer, const PromiseState* running) {
    using Values = std::vector<Gathered<T>>;
    Values values;
    values.reserve(gathering.size());
    for (std::size_t i = 0; i < gathering.size(); ++i) {
        values.push_back(detail::collected(gathering.take(i), running, Is<T>()));
    }
    static_cast<ValueState<Values>&>(outer).set(std::move(values));
}

template <class T>
Promise<T> settled(AnyPromise child) {
    return PromiseAccess::adopt<Promise<T>>(PromiseAccess::release(child));
}
template <class... T, std::size_t... I>
void settle_each(Gathering& gathering, PromiseState& outer, Indices<I...>) {
    static_cast<void>(gathering);
    using Values = std::tuple<Promise<T>...>;
    static_cast<ValueState<Values>&>(outer).set(Values{detail::settled<T>(gathering.take(I))...});
}
template <class... T>
void settled_tuple(Gathering& gathering, PromiseState& outer, const PromiseState*) {
    detail::settle_each<T...>(gathering, outer, IndicesFor<sizeof...(T)>());
}
template <class T>
void settled_vector(Gathering& gathering, PromiseState& outer, const PromiseState*) {
    using Values = std::vector<Promise<T>>;
    Values values;
    values.reserve(gathering.size());
    for (std::size_t i = 0; i < gathering.size(); ++i) {
        values.push_back(detail::settled<T>(gathering.take(i)));
    }
    static_cast<ValueState<Values>&>(outer).set(std::move(values));
}

template <class... P>
std::vector<AnyPromise> as_list(P&&... promises) {
    std::vector<AnyPromise> list;
    list.reserve(sizeof...(promises));
    const int in_order[] = {0, (list.push_back(std::move(promises)), 0)...};
    static_cast<void>(in_order);
    return list;
}
template <class P>
std::vector<AnyPromise> as_list(std::vector<P>& promises) {
    std::vector<AnyPromise> list;
    list.reserve(promises.size());
    for (P& promise : promises) list.push_back(std::move(promise));
    return list;
}

/// The loop of all of them, else get_event_loop()'s. Throws as gather() does.
LoopCore& loop_of(const std::vector<AnyPromise>& promises, const char* call);
/// Leaves each promise in its first place only.
void drop_repeats(std::vector<AnyPromise>& promises);

template <class V>
Promise<V> gather_all(std::vector<AnyPromise> promises, Gathering::Collect collect, bool settled) {
    const char* const call = settled ? "gather_settled" : "gather";
    LoopCore& core = detail::loop_of(promises, call);
    GatherState<V>* const state =
        make_state<GatherState<V>>(core, Here(call, "", 0), collect, settled);
    const Promise<V> result = PromiseAccess::adopt<Promise<V>>(state);
    state->gathering.start(*state, std::move(promises));
    return result;
}

}  // namespace detail
}  // namespace reactor

#endif
