// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_OBSERVER_HPP
#define REACTOR_DETAIL_OBSERVER_HPP

#include <reactor/clock.hpp>
#include <reactor/report.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace reactor {
namespace detail {

struct Node;

/// Is told what a loop does: statistics, the watchdog and the trace are observers. While a loop has
/// one, each of its callbacks goes the slow way through LoopState::run(); without any, all that is
/// left of them is one flag that the loop looks at anyway.
///
///     polls ─> polled ─> collected ─> (passes | begins ─> ends)* ─> polls ...
///
/// Owned by whoever added it; called on the loop's thread. May be added and removed inside a
/// callback, and so see an end without its beginning, at the end of the batch at the latest, where
/// ends() may come once more; a wait that an exception ends is followed by the next polls().
class Observer {
public:
    /// The wait begins, for at most `timeout`; what is queued now was queued outside of callbacks.
    virtual void polls(Duration /*timeout*/) noexcept {}
    virtual void polled() noexcept {}
    /// The batch is complete: posts, callbacks of descriptors, due timers are queued.
    virtual void collected() noexcept {}

    /// The node was taken from the queue and is not to run: cancelled, or a timer that was moved.
    virtual void passes() noexcept {}
    /// The node was taken from the queue and runs now.
    virtual void begins(const Node& /*node*/) noexcept {}
    /// It has run, and a callable that ran for the last time is destroyed.
    virtual void ends() noexcept {}

    /// A callback of a descriptor was registered.
    virtual void registered(const Node& /*watch*/) noexcept {}
    /// What runs now was scheduled by the callback with this number, on the way through another
    /// thread.
    virtual void caused_by(std::uint64_t /*id*/) noexcept {}

    /// Adds to a report, and says of a node, what is known of who scheduled it. May throw
    /// std::bad_alloc.
    virtual void explain(Report& /*report*/) const {}
    virtual void ancestors(const Node& /*node*/, std::vector<std::string>& /*names*/) const {}

    /// The loop is being closed; the observer is off its list already and hears no more.
    virtual void closes() noexcept {}

protected:
    ~Observer() = default;
};

/// The observers of one loop. A slot that was emptied while they are being told something is used
/// again, but never closed up: nobody is told twice, or left out.
class Observers {
public:
    void add(Observer& observer);
    void remove(const Observer& observer) noexcept;
    bool empty() const noexcept { return count_ == 0; }

    template <class... P, class... A>
    void tell(void (Observer::*what)(P...), const A&... arguments) {
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            if (Observer* const observer = slots_[i]) (observer->*what)(arguments...);
        }
    }
    template <class... P, class... A>
    void ask(void (Observer::*what)(P...) const, A&... arguments) const {
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            if (const Observer* const observer = slots_[i]) (observer->*what)(arguments...);
        }
    }
    /// Tells all that the loop is being closed; none is left.
    void close() noexcept;

private:
    std::vector<Observer*> slots_;
    std::size_t count_ = 0;
};

}  // namespace detail
}  // namespace reactor

#endif
