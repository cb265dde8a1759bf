// SPDX-License-Identifier: BSL-1.0
#include <reactor/chain.hpp>
#include <reactor/detail/inbox.hpp>

namespace reactor {
namespace detail {

namespace {

/// The callable of the destination's callback.
class ChainWatch {
public:
    explicit ChainWatch(std::shared_ptr<ChainEnds> ends) noexcept : ends_(std::move(ends)) {}

    void operator()(const AnyPromise& done) {
        if (done.cancelled()) ChainEnds::cancel_source(ends_);
    }

private:
    std::shared_ptr<ChainEnds> ends_;
};

}  // namespace

bool post_to(LoopCore& core, Callback&& callback) { return core.inbox->post(callback); }

void ChainEnds::cancel_source(const std::shared_ptr<ChainEnds>& self) {
    const auto cancel = [self] {
        if (self->source) self->source->cancel(std::string());
    };
    if (self->same_loop) {
        cancel();
    } else {
        Callback callback(cancel);
        self->inbox->post(callback);
    }
}

void break_destination(AnyPromise destination, bool same_loop) noexcept {
    if (same_loop) {
        break_promise(*PromiseAccess::state(destination), 1);
        return;
    }
    LoopCore& core = *PromiseAccess::state(destination)->core;
    try {
        post_to(core,
                Callback([](const AnyPromise& to) { break_promise(*PromiseAccess::state(to), 1); },
                         std::move(destination)));
    } catch (...) {
        log_undelivered("The end of a chained promise's source");
    }
}

void TieDestination::operator()() {
    attach_own<AnyPromise, ChainWatch>(*PromiseAccess::state(to_), std::move(ends_));
    to_ = AnyPromise();
}

bool check_chain(const AnyPromise& source, const AnyPromise& destination) {
    PromiseState* const from = PromiseAccess::state(source);
    PromiseState* const to = PromiseAccess::state(destination);
    if (!from || !to) {
        throw StateError(std::string("chain: the ") + (from ? "destination" : "source") +
                         " is empty: get one from create_promise() or an operation");
    }
    if (from == to) throw StateError("chain: a promise cannot wait for itself");
    // Not by the flag, which lies beside others that the destination's thread writes.
    if (to->as_task()) {
        throw StateError(
            "chain: the destination is a task's promise, whose outcome it sets itself: give one "
            "from create_promise()");
    }
    const bool at_source = from->core->on_thread() || !to->core->on_thread();
    (at_source ? from : to)->core->check("chain");
    return at_source;
}

}  // namespace detail
}  // namespace reactor
