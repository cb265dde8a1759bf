// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_CHAIN_LINK_HPP
#define REACTOR_DETAIL_CHAIN_LINK_HPP

#include <reactor/callback.hpp>
#include <reactor/detail/carried.hpp>
#include <reactor/detail/done_callback.hpp>
#include <reactor/promise.hpp>
#include <reactor/report.hpp>

#include <memory>
#include <utility>

namespace reactor {
namespace detail {

/// What the two ends of a chain know of each other. Who can complete the source keeps the
/// destination; back there is only this, so that the two do not keep each other for ever:
///
///     source ──owns──> ChainLink ──owns──> destination ──owns──> ChainWatch
///        ^                                                           │ on cancellation
///        └───────────── ChainEnds::source, not owned <───────────────┘
struct ChainEnds {
    ChainEnds(LoopCore& of_source, bool one_loop) : inbox(of_source.inbox), same_loop(one_loop) {}

    /// The destination was cancelled. On its loop's thread.
    static void cancel_source(const std::shared_ptr<ChainEnds>& self);

    const std::shared_ptr<Inbox> inbox;  // of the source's loop
    const bool same_loop;
    PromiseState* source = nullptr;  // on its loop's thread; null once its callback ran or is gone
};

/// False, and the callback stays where it is, once the loop is closed.
bool post_to(LoopCore& core, Callback&& callback);
/// The source was dropped while it was pending: the destination breaks.
void break_destination(AnyPromise destination, bool same_loop) noexcept;

/// An outcome that arrives in the destination's loop.
template <class T>
class ChainDelivery {
public:
    ChainDelivery(Promise<T> to, std::unique_ptr<Carried<T>> cargo) noexcept
        : to_(std::move(to)), cargo_(std::move(cargo)) {}

    void operator()() {
        ValueState<T>& to = typed_state(to_);
        if (!to.done()) {
            cargo_->unload(to);
        } else if (cargo_->unread()) {
            // The source counts as read: nobody else would hear of it.
            to.core->report(
                Report("Exception of a chained promise was never retrieved", cargo_->error));
        }
    }

private:
    Promise<T> to_;
    std::unique_ptr<Carried<T>> cargo_;
};

/// The callable of the source's callback.
template <class T>
class ChainLink {
public:
    ChainLink(Promise<T> to, std::shared_ptr<ChainEnds> ends) noexcept
        : to_(std::move(to)), ends_(std::move(ends)) {}
    ChainLink(const ChainLink&) = delete;
    ChainLink& operator=(const ChainLink&) = delete;
    ~ChainLink() {
        ends_->source = nullptr;
        if (to_) break_destination(std::move(to_), ends_->same_loop);
    }

    void operator()(const Promise<T>& done) {
        ends_->source = nullptr;
        ValueState<T>& from = typed_state(done);
        Promise<T> to = std::move(to_);
        if (!ends_->same_loop) {
            send(from, std::move(to));
            return;
        }
        ValueState<T>& here = typed_state(to);
        if (here.done()) return;
        try {
            detail::pass_outcome(from, here);
        } catch (...) {
            here.fail_by_current_exception();
        }
    }

private:
    static void send(ValueState<T>& from, Promise<T> to) {
        LoopCore& core = *PromiseAccess::state(to)->core;
        std::unique_ptr<Carried<T>> owner(new Carried<T>);
        Carried<T>& cargo = *owner;
        cargo.load(from);
        Callback delivery(ChainDelivery<T>(std::move(to), std::move(owner)));
        if (!post_to(core, std::move(delivery))) cargo.give_back(from);
    }

    Promise<T> to_;
    std::shared_ptr<ChainEnds> ends_;
};

/// Ties the link to the source; to be called on the source's thread. If that never happens the
/// destination breaks.
template <class T>
class TieSource {
public:
    TieSource(Promise<T> source, Promise<T> to, std::shared_ptr<ChainEnds> ends) noexcept
        : source_(std::move(source)), to_(std::move(to)), ends_(std::move(ends)) {}
    TieSource(TieSource&& other) noexcept = default;
    TieSource& operator=(TieSource&&) = delete;
    ~TieSource() {
        if (to_) break_destination(std::move(to_), false);
    }

    void operator()() {
        PromiseState& source = *PromiseAccess::state(source_);
        ends_->source = &source;
        attach_own<Promise<T>, ChainLink<T>>(source, std::move(to_), std::move(ends_));
        source_ = Promise<T>();
    }

private:
    Promise<T> source_;
    Promise<T> to_;
    std::shared_ptr<ChainEnds> ends_;
};

/// Ties the watch to the destination; to be called on its thread.
class TieDestination {
public:
    TieDestination(AnyPromise to, std::shared_ptr<ChainEnds> ends) noexcept
        : to_(std::move(to)), ends_(std::move(ends)) {}

    void operator()();

private:
    AnyPromise to_;
    std::shared_ptr<ChainEnds> ends_;
};

/// Throws as chain() does. Whether this is the thread of the source's loop, else it is that of the
/// destination's.
bool check_chain(const AnyPromise& source, const AnyPromise& destination);

}  // namespace detail
}  // namespace reactor

#endif
